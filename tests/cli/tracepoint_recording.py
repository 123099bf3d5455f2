#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a recording of tracepoints from their formats, with made-up samples.

    tracepoint_recording.py OUT FORMAT…

FORMAT is a file such as /sys/kernel/tracing/events/sched/sched_switch/format; the name of the
folder two above it is that of the system. There are SAMPLES samples of each. Their raw data is
pseudo-random, the same in each run, but as a kernel would write it: strings are printable and
terminated, and dynamic fields are in the data. Where the print format has a length, this is
the length of the array before it.

The layout of HEADER_TRACING_DATA is from tools/perf/util/trace-event-info.c, that of the file from
tools/perf/Documentation/perf.data-file-format.txt.
"""
import os
import platform
import random
import re
import struct
import sys

SAMPLES = 12
TRACING_DATA, OSRELEASE, ARCH = 1, 4, 6
SAMPLE_TYPE = 1 << 16 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10  # IDENTIFIER TID TIME CPU RAW
FIELD = re.compile(r"\s*field:(.*?)\s*;\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d);)?")
ELEMENTS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s8": 1, "s16": 2, "s32": 4, "s64": 8,
            "char": 1, "int": 4, "unsigned": 4, "long": 8}


def read_format(path):
    with open(path, encoding="latin-1") as file:
        text = file.read()
    fields = [(match[1], int(match[2]), int(match[3])) for match in
              map(FIELD.match, text.splitlines()) if match]
    number = int(re.search(r"^ID: (\d+)$", text, re.M)[1])
    return os.path.basename(os.path.dirname(os.path.dirname(path))), number, fields, text


def make_number(random, sample, size):
    """Zero, small ones, single bits, few bits, all bits, anything."""
    bits = 8 * size
    value = [0, random.randrange(4), random.randrange(32), 1 << random.randrange(bits),
             1 << random.randrange(min(bits, 12)) | 1 << random.randrange(bits),
             random.getrandbits(bits), (1 << bits) - 1][min(sample, 6) if sample < 6 else
                                                        random.randrange(7)]
    return value.to_bytes(size, sys.byteorder)


def make_text(random, room):
    length = random.randrange(room)
    text = "".join(random.choice("abcXYZ019_-/. ") for _ in range(length))
    return text.encode().ljust(room, b"\0")


def make_dynamic(random, declaration):
    if re.search(r"\bchar\b", declaration):
        return make_text(random, random.randrange(1, 24))
    if "cpumask" in declaration or "bitmask" in declaration:
        return random.randbytes(8)
    element = ELEMENTS.get(declaration.split("[")[0].split()[-1], 8)
    return random.randbytes(element * random.randrange(5))


def make_payload(random, number, fields, lengths, sample):
    """Raw data as perf_trace_EVENT() writes it. LENGTHS are the fields that count others."""
    fixed = max([offset + size for _, offset, size in fields] or [8])
    data, dynamic, last = bytearray(fixed), b"", 0
    for declaration, offset, size in fields:
        name = re.search(r"(\w+)\s*(\[[^\]]*\])?$", declaration)[1]
        if declaration.startswith(("__data_loc", "__rel_loc")):
            value = make_dynamic(random, declaration)
            where = fixed + len(dynamic)
            if declaration.startswith("__rel_loc"):
                where -= offset + size
            last = len(value)
            dynamic += value + bytes(-len(value) % 4)
            value = struct.pack("=I", last << 16 | where)
        elif name == "common_type":
            value = struct.pack("=H", number)
        elif name in lengths:
            value = (last if size > 1 else min(last, 255)).to_bytes(size, sys.byteorder)
        elif "[" in declaration and re.search(r"\bchar\b", declaration):
            value = make_text(random, size) if size else b""
        elif "[" in declaration:
            value = random.randbytes(size)
            last = size
        elif size in (1, 2, 4, 8):
            value = make_number(random, sample, size)
        else:
            value = random.randbytes(size)
        data[offset:offset + size] = value
    return bytes(data) + dynamic


def length_fields(text):
    """Names of fields that are lengths in the print format."""
    print_format = text.partition("print fmt:")[2]
    lengths = set(re.findall(r"__print_(?:hex|hex_str|array)\([^,]*,\s*REC->(\w+)", print_format))
    return lengths | ({"len", "size"} if re.search(r"%[-0-9.]*\*", print_format) else set())


def make_samples(formats):
    out, time = b"", 0
    for system, number, fields, text in formats:
        source = random.Random(f"{system} {number} {text[:40]}")
        lengths = length_fields(text)
        for sample in range(SAMPLES):
            raw = make_payload(source, number, fields, lengths, sample)
            raw += bytes(-(len(raw) + 4) % 8)
            time += 1000
            body = (struct.pack("=QIIQII", number, 1, 1, time, 0, 0) +
                    struct.pack("=I", len(raw)) + raw)
            out += struct.pack("=IHH", 9, 1, 8 + len(body)) + body
    return out


def make_tracing_data(formats):
    page, event = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n", b"\n"
    out = b"\x17\x08\x44tracing0.6\0" + bytes([sys.byteorder == "big", 8])
    out += struct.pack("=I", 4096)
    out += b"header_page\0" + struct.pack("=Q", len(page)) + page
    out += b"header_event\0" + struct.pack("=Q", len(event)) + event
    out += struct.pack("=I", 0)
    systems = {}
    for system, _, _, text in formats:
        systems.setdefault(system, []).append(text.encode("latin-1"))
    out += struct.pack("=I", len(systems))
    for system, texts in systems.items():
        out += system.encode() + b"\0" + struct.pack("=I", len(texts))
        out += b"".join(struct.pack("=Q", len(text)) + text for text in texts)
    return out + struct.pack("=IIQ", 0, 0, 0)


def make_attr(number):
    flags = 1 << 18  # sample_id_all
    return struct.pack("=IIQQQQQIIQQQQIiQIHHIIQ", 2, 128, number, 1, SAMPLE_TYPE, 0, flags, 0, 0,
                       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def string(text):
    data = text.encode().ljust((len(text) + 1 + 63) // 64 * 64, b"\0")
    return struct.pack("=I", len(data)) + data


def write_recording(target, formats, features, samples):
    """FORMATS: (system, number, …) of each tracepoint; FEATURES: the bytes of each section."""
    attrs_at = 104 + 8 * len(formats)
    data_at = attrs_at + 144 * len(formats)
    out = struct.pack("=13Q", 0x32454c4946524550, 104, 144, attrs_at, 144 * len(formats), data_at,
                      len(samples), 0, 0, sum(1 << bit for bit in features), 0, 0, 0)
    out += b"".join(struct.pack("=Q", number) for _, number, _, _ in formats)
    out += b"".join(make_attr(number) + struct.pack("=QQ", 104 + 8 * i, 8)
                    for i, (_, number, _, _) in enumerate(formats))
    out += samples
    at = len(out) + 16 * len(features)
    for bit in sorted(features):
        out += struct.pack("=QQ", at, len(features[bit]))
        at += len(features[bit])
    out += b"".join(features[bit] for bit in sorted(features))
    with open(target, "wb") as file:
        file.write(out)


def main(target, *paths):
    formats = [read_format(path) for path in paths]
    features = {TRACING_DATA: make_tracing_data(formats), OSRELEASE: string(os.uname().release),
                ARCH: string(platform.machine())}
    samples = make_samples(formats)
    write_recording(target, formats, features, samples)


if __name__ == "__main__":
    main(*sys.argv[1:])
