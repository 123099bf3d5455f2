#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a recording of many processes, each of which runs once, as it comes through a pipe.

    many_processes.py COUNT [chains|lost] >FILE

An hour in which COUNT processes come, one after another: each with a name, a mapped file and an
address of its own, and one sample there. Every hundredth sample is one of a process "always",
which was there from the beginning. chains: each sample has a call chain with addresses of its own.
lost: after every hundredth sample, three are lost.

Layouts: include/uapi/linux/perf_event.h, tools/perf/Documentation/perf.data-file-format.txt.
"""
import struct
import sys

MMAP2, COMM, LOST, SAMPLE, HEADER_ATTR, FINISHED_ROUND = 10, 3, 2, 9, 64, 68
USER = 2
IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 0x20, 0x100
SAMPLE_ID_ALL, COMM_FLAG, MMAP_FLAG = 1 << 18, 1 << 9, 1 << 8
START_NS, HOUR_NS = 10**12, 3600 * 10**9
ROUND = 500

# COMM: pid, tid, 16 bytes, trailer (pid, tid, time); MMAP2: pid, tid, address, length, offset,
# major, minor, inode, generation, prot, flags, 24 bytes, trailer
COMM_FORMAT = "IHHII16sIIQ"
MMAP_FORMAT = "IHHIIQQQIIQQII24sIIQ"
COMM_BYTES, MMAP_BYTES = (struct.calcsize("<" + f) for f in (COMM_FORMAT, MMAP_FORMAT))


def main():
    count, chains, lost = int(sys.argv[1]), "chains" in sys.argv, "lost" in sys.argv
    sample_format = "IHHQIIQQ" + ("QQQQQ" if chains else "")
    sample_bytes = struct.calcsize("<" + sample_format)
    sample_type = IP | TID | TIME | PERIOD | (CALLCHAIN if chains else 0)
    out = sys.stdout.buffer
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000000, sample_type, 0,
                       SAMPLE_ID_ALL | COMM_FLAG | MMAP_FLAG).ljust(128, b"\0")
    out.write(struct.pack("<QQ", 0x32454c4946524550, 16))
    out.write(struct.pack("<IHH", HEADER_ATTR, 0, 8 + len(attr)) + attr)
    comm, mmap = struct.Struct("<" + COMM_FORMAT), struct.Struct("<" + MMAP_FORMAT)
    sample = struct.Struct("<" + sample_format)
    end_of_round = struct.pack("<IHH", FINISHED_ROUND, 0, 8)

    def process(pid, name, path, time):
        return (comm.pack(COMM, USER, COMM_BYTES, pid, pid, name, pid, pid, time) +
                mmap.pack(MMAP2, USER, MMAP_BYTES, pid, pid, 0x400000, 0x100000, 0, 0, 0, 0, 0, 5,
                          2, path, pid, pid, time))

    def one_sample(pid, ip, time):
        chain = (4, (1 << 64) - 512, ip, ip + 1, ip + 2) if chains else ()
        return sample.pack(SAMPLE, USER, sample_bytes, ip, pid, pid, time, 1000, *chain)

    def three_lost(time):
        return struct.pack("<IHHQQIIQ", LOST, 0, 40, 0, 3, 7, 7, time)

    out.write(process(7, b"always", b"/nowhere/always", START_NS))
    for first in range(0, count, ROUND):
        part = []
        for i in range(first, min(first + ROUND, count)):
            time = START_NS + i * HOUR_NS // count
            pid = 100 + i
            part.append(process(pid, b"p%d" % i, b"/nowhere/%d" % i, time))
            part.append(one_sample(pid, 0x400000 + i % 0xffff0, time + 1))
            if i % 100 == 99:
                part.append(one_sample(7, 0x400123, time + 2))
                part.append(three_lost(time + 3) if lost else b"")
        out.write(b"".join(part) + end_of_round)


main()
