#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes recordings of one event as the parts of one stream, as perf writes it to a pipe.

    stream_recording.py FILE… >PIPE

Each line of stdin lets the next part go, which is followed by PADDING bytes that say nothing new:
when all of a part has gone, the other side of a FIFO has read what it begins with. A line is
printed on stderr then.

Layouts: tools/perf/Documentation/perf.data-file-format.txt; the files are build_recording.py's.
"""
import struct
import sys

HEADER_ATTR, FINISHED_ROUND = 64, 68
PADDING = 1 << 20


def main():
    out = sys.stdout.buffer
    end_of_round = struct.pack("<IHH", FINISHED_ROUND, 0, 8)
    for number, path in enumerate(sys.argv[1:]):
        with open(path, "rb") as file:
            content = file.read()
        attr_bytes, attrs, _, data, data_bytes = struct.unpack_from("<5Q", content, 16)
        sys.stdin.readline()
        if not number:
            attr = content[attrs:attrs + attr_bytes - 16]
            out.write(struct.pack("<QQ", 0x32454c4946524550, 16))
            out.write(struct.pack("<IHH", HEADER_ATTR, 0, 8 + len(attr)) + attr)
        # What came before the end of the last round but one is complete.
        out.write(content[data:data + data_bytes] + 2 * end_of_round)
        out.write(end_of_round * (PADDING // len(end_of_round)))
        out.flush()
        print("part", number + 1, file=sys.stderr, flush=True)
    sys.stdin.readline()


main()
