#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rewrites a little-endian perf.data file into another one with equal content.

    rewrite.py swap IN OUT          as a big-endian machine would have written it
    rewrite.py attr SIZE IN OUT     with perf_event_attrs of SIZE bytes

Written from include/uapi/linux/perf_event.h and perf.data-file-format.txt, independently of the
reader that is tested with its output; make-fixtures.sh lets stock perf read the output, too.
"""
import struct
import sys

COMM, EXIT, FORK, MMAP, SAMPLE, MMAP2 = 3, 4, 7, 1, 9, 10
ID_INDEX, CPU_MAP, THREAD_MAP, EVENT_UPDATE = 69, 74, 73, 78
IDENTIFIER, TID, CPU, RAW, CALLCHAIN = 1 << 16, 1 << 1, 1 << 7, 1 << 10, 1 << 5
# The fields of perf_event_attr after the flags, up to sig_data.
ATTR = "IIQQQQ 8s IIQQ QQ Ii Q IHH II Q".replace(" ", "")
# Layouts of bodies before the trailer; the rest of a body is text.
LAYOUTS = {COMM: "II", FORK: "IIIIQ", EXIT: "IIIIQ", MMAP: "IIQQQ", MMAP2: "IIQQQIIQQII"}
FEATURES = {21: "QQ", 7: "II", 10: "Q"}  # SAMPLE_TIME, NRCPUS, TOTAL_MEM
STRINGS = {3, 4, 5, 6, 8, 9}


def flip(layout, data):
    """DATA with each field of LAYOUT in the other byte order, and the rest unchanged."""
    size = struct.calcsize("<" + layout)
    return struct.pack(">" + layout, *struct.unpack("<" + layout, data[:size])) + data[size:]


def flip_words(data):
    return flip("Q" * (len(data) // 8), data)


def reverse_bits(data):
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in data)


def flip_attr(data):
    fields = list(struct.unpack("<" + ATTR, data[:128]))
    fields[6] = reverse_bits(fields[6])
    return struct.pack(">" + ATTR, *fields)


def flip_mixed(words, layout_of):
    """64-bit words, some of which are two 32-bit fields."""
    return b"".join(flip(layout_of(i), words[8 * i:8 * i + 8]) for i in range(len(words) // 8))


def sample_pairs(sample_type):
    """The indexes of the words of a sample that are two 32-bit fields."""
    order = [IDENTIFIER, 1, TID, 4, 8, 64, 512, CPU]
    present = [bit for bit in order if sample_type & bit]
    return {i for i, bit in enumerate(present) if bit in (TID, CPU)}


def trailer_pairs(sample_type):
    present = [bit for bit in (TID, 4, 64, 512, CPU, IDENTIFIER) if sample_type & bit]
    return {i for i, bit in enumerate(present) if bit in (TID, CPU)}, 8 * len(present)


def flip_body(kind, body, sample_type):
    assert not sample_type & RAW
    if kind == SAMPLE:
        pairs = sample_pairs(sample_type)
        return flip_mixed(body, lambda i: "II" if i in pairs else "Q")
    if kind in (ID_INDEX, THREAD_MAP):
        return flip_words(body) if kind == ID_INDEX else flip("QQ", body)
    if kind == EVENT_UPDATE:
        return flip("QQ", body)
    if kind == CPU_MAP:
        return flip("HH" + "H" * (len(body) // 2 - 2), body)
    if kind >= 64:
        return body
    pairs, size = trailer_pairs(sample_type)
    head, trailer = body[:len(body) - size], body[len(body) - size:]
    return (flip(LAYOUTS.get(kind, ""), head) +
            flip_mixed(trailer, lambda i: "II" if i in pairs else "Q"))


def flip_records(data, sample_type):
    out, at = b"", 0
    while at < len(data):
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        out += struct.pack(">IHH", kind, misc, size)
        out += flip_body(kind, data[at + 8:at + size], sample_type)
        at += size
    return out


def flip_build_ids(data):
    out, at = b"", 0
    while at < len(data):
        kind, misc, size, pid = struct.unpack_from("<IHHi", data, at)
        out += struct.pack(">IHHi", kind, misc, size, pid) + data[at + 12:at + size]
        at += size
    return out


def flip_string(data):
    length, = struct.unpack_from("<I", data)
    return struct.pack(">I", length) + data[4:4 + length], data[4 + length:]


def flip_feature(bit, data):
    if bit in FEATURES:
        return flip(FEATURES[bit], data)
    if bit in STRINGS:
        return flip_string(data)[0]
    if bit == 2:
        return flip_build_ids(data)
    if bit == 11:
        out, data = flip("I", data[:4]), data[4:]
        while data:
            word, data = flip_string(data)
            out += word
        return out
    if bit == 12:
        count, size = struct.unpack_from("<II", data)
        out, data = struct.pack(">II", count, size), data[8:]
        for _ in range(count):
            ids, = struct.unpack_from("<I", data, size)
            out += flip_attr(data[:size]) + struct.pack(">I", ids)
            name, data = flip_string(data[size + 4:])
            out += name + flip_words(data[:8 * ids])
            data = data[8 * ids:]
        return out
    return None


class Recording:
    def __init__(self, data):
        head = struct.unpack_from("<13Q", data)
        attr_size, attrs, attrs_size, self.data_offset, size = head[2:7]
        assert attr_size == 144
        self.entries = []  # (attr, ids)
        for at in range(attrs, attrs + attrs_size, attr_size):
            offset, ids_size = struct.unpack_from("<QQ", data, at + 128)
            self.entries.append((data[at:at + 128], data[offset:offset + ids_size]))
        self.records = data[self.data_offset:self.data_offset + size]
        self.features = {}
        bits = [bit for bit in range(256) if head[9 + bit // 64] >> bit % 64 & 1]
        for i, bit in enumerate(bits):
            offset, size = struct.unpack_from("<QQ", data, self.data_offset + head[6] + 16 * i)
            self.features[bit] = data[offset:offset + size]

    def write(self, path, order, attr_size):
        ids_at = 104
        attrs_at = ids_at + sum(len(ids) for _, ids in self.entries)
        data_at = attrs_at + len(self.entries) * (attr_size + 16)
        words = [0] * 4
        for bit in self.features:
            words[bit // 64] |= 1 << bit % 64
        out = struct.pack(order + "13Q", 0x32454c4946524550, 104, attr_size + 16, attrs_at,
                          data_at - attrs_at, data_at, len(self.records), 0, 0, *words)
        out += b"".join(ids for _, ids in self.entries)
        for attr, ids in self.entries:
            out += attr + struct.pack(order + "QQ", ids_at, len(ids))
            ids_at += len(ids)
        out += self.records
        offset = len(out) + 16 * len(self.features)
        for bit in sorted(self.features):
            out += struct.pack(order + "QQ", offset, len(self.features[bit]))
            offset += len(self.features[bit])
        out += b"".join(self.features[bit] for bit in sorted(self.features))
        with open(path, "wb") as file:
            file.write(out)


def main(arguments):
    with open(arguments[-2], "rb") as file:
        recording = Recording(file.read())
    if arguments[0] == "swap":
        sample_type, = struct.unpack_from("<Q", recording.entries[0][0], 24)
        recording.entries = [(flip_attr(attr), flip_words(ids)) for attr, ids in recording.entries]
        recording.records = flip_records(recording.records, sample_type)
        flipped = {bit: flip_feature(bit, data) for bit, data in recording.features.items()}
        recording.features = {bit: data for bit, data in flipped.items() if data is not None}
        recording.write(arguments[-1], ">", 128)
    else:
        size = int(arguments[1])
        recording.entries = [
            (attr[:4] + struct.pack("<I", size) + attr[8:size] + b"\xee" * (size - 128), ids)
            for attr, ids in recording.entries]
        recording.features.pop(12, None)  # EVENT_DESC repeats the attrs
        recording.write(arguments[-1], "<", size)


if __name__ == "__main__":
    main(sys.argv[1:])
