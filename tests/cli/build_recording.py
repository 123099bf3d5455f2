#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a recording in the file form, of this machine's byte order, from text on stdin.

    build_recording.py OUT <TEXT

    event type=0 config=0 sample=IP,TID,TIME,PERIOD branch=USER,ANY iregs=MASK uregs=MASK
    comm PID NAME
    mmap PID START BYTES OFFSET PATH        executable, of a program
    kernel START BYTES                      [kernel.kallsyms]_text
    record TYPE MISC HEX…                   any other record: the bytes of its body; the fields that
                                            end all records are added
    sample KEY=VALUE…                       of the event before it: pid, time, ip, period, misc,
                                            chain=A,B,C branches=FROM>TO:FLAGS,… and the others of
                                            FIELDS; numbers as in C
    auxtrace BYTES                          a record of so many bytes of AUX data, Intel PT

Layouts: include/uapi/linux/perf_event.h (perf_event_attr, PERF_RECORD_SAMPLE, perf_branch_entry)
and tools/perf/Documentation/perf.data-file-format.txt.
"""
import os
import platform
import struct
import sys

BITS = {name: 1 << i for i, name in enumerate(
    "IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER STACK_USER "
    "WEIGHT DATA_SRC IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP DATA_PAGE_SIZE "
    "CODE_PAGE_SIZE WEIGHT_STRUCT".split())}
BRANCH = {"USER": 1, "KERNEL": 2, "ANY": 8, "CALL_STACK": 1 << 11, "HW_INDEX": 1 << 17}
COMM, MMAP, SAMPLE, MMAP2, AUXTRACE_INFO, AUXTRACE = 3, 1, 9, 10, 70, 71
KERNEL, USER = 1, 2
CONTEXTS = {"USER": -512, "KERNEL": -128}
OSRELEASE, ARCH, BRANCH_STACK = 4, 6, 15
ID = 7


def number(text):
    return CONTEXTS[text] if text in CONTEXTS else int(text, 0)


def word(value):
    return struct.pack("<Q", value & (1 << 64) - 1)


def words(text):
    return b"".join(word(number(part)) for part in text.split(",") if part)


def branch_entries(text):
    entries = [part for part in text.split(",") if part]
    out = word(len(entries))
    for entry in entries:
        where, _, flags = entry.partition(":")
        source, target = where.split(">")
        out += word(number(source)) + word(number(target)) + word(number(flags or "0"))
    return out


class Event:
    def __init__(self, options):
        self.sample = sum(BITS[name] for name in options["sample"].split(","))
        branch = options.get("branch", "")
        self.branch = sum(BRANCH[name] for name in branch.split(",") if name)
        self.iregs, self.uregs = (number(options.get(key, "0")) for key in ("iregs", "uregs"))
        flags = 1 << 18 | 1 << 8 | 1 << 9 | 1 << 20  # sample_id_all, mmap, comm, exclude_guest
        self.attr = struct.pack(
            "<IIQQQQQIIQQQQIiQIHHIIQ", number(options.get("type", "0")), 128,
            number(options.get("config", "0")), 1, self.sample, 0, flags, 0, 0, 0, 0, self.branch,
            self.uregs, 0, 0, self.iregs, 0, 0, 0, 0, 0, 0)

    def trailer(self, pid, time):
        out = b""
        if self.sample & BITS["TID"]:
            out += struct.pack("<II", pid, pid)
        if self.sample & BITS["TIME"]:
            out += word(time)
        if self.sample & BITS["CPU"]:
            out += word(0)
        return out

    def body(self, values):
        """The fields in the order of perf_output_sample()."""
        pid = number(values["pid"])
        get = lambda key: number(values.get(key, "0"))
        out = b""
        for name, make in (
                ("IP", lambda: word(get("ip"))),
                ("TID", lambda: struct.pack("<II", pid, pid)),
                ("TIME", lambda: word(get("time"))),
                ("ADDR", lambda: word(get("addr"))),
                ("CPU", lambda: word(get("cpu"))),
                ("PERIOD", lambda: word(get("period") or 1)),
                ("CALLCHAIN", lambda: (word(len(values["chain"].split(","))) +
                                       words(values["chain"]))),
                ("BRANCH_STACK", lambda: self.branches(values)),
                ("REGS_USER", lambda: word(2) + words(values["uregs"])),
                ("WEIGHT", lambda: word(get("weight"))),
                ("WEIGHT_STRUCT", lambda: struct.pack("<IHH", get("weight"), get("ins_lat"), 0)),
                ("DATA_SRC", lambda: word(get("data_src"))),
                ("TRANSACTION", lambda: word(0)),
                ("REGS_INTR", lambda: word(2) + words(values["iregs"])),
                ("PHYS_ADDR", lambda: word(get("phys_addr"))),
                ("CGROUP", lambda: word(get("cgroup"))),
                ("DATA_PAGE_SIZE", lambda: word(get("data_page_size"))),
                ("CODE_PAGE_SIZE", lambda: word(get("code_page_size")))):
            if self.sample & BITS[name]:
                out += make()
        return out

    def branches(self, values):
        out = branch_entries(values.get("branches", ""))
        return out[:8] + word(-1) + out[8:] if self.branch & BRANCH["HW_INDEX"] else out


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text_field(text):
    return text.encode().ljust(len(text) // 8 * 8 + 8, b"\0")


def make_records(lines):
    events, out, time = [], b"", 0
    for line in lines:
        kind, *rest = line.split()
        if kind == "event":
            events.append(Event(dict(part.split("=", 1) for part in rest)))
            continue
        event = events[-1]
        if kind == "comm":
            pid = int(rest[0])
            out += record(COMM, USER, struct.pack("<II", pid, pid) + text_field(rest[1]) +
                          event.trailer(pid, time))
        elif kind == "mmap":
            pid, start, size, offset = (number(part) for part in rest[:4])
            out += record(MMAP2, USER, struct.pack("<IIQQQIIQQII", pid, pid, start, size, offset,
                                                   0, 0, 0, 0, 5, 2) + text_field(rest[4]) +
                          event.trailer(pid, time))
        elif kind == "kernel":
            start, size = (number(part) for part in rest)
            out += record(MMAP, KERNEL, struct.pack("<IIQQQ", 0xffffffff, 0, start, size, start) +
                          text_field("[kernel.kallsyms]_text") + event.trailer(0, 0))
        elif kind == "record":
            body = bytes.fromhex("".join(rest[2:]))
            out += record(number(rest[0]), number(rest[1]), body + event.trailer(1, time))
        elif kind == "auxtrace":
            size = number(rest[0])
            out += record(AUXTRACE_INFO, 0, struct.pack("<II", 1, 0) + bytes(8 * 17))
            out += record(AUXTRACE, 0, struct.pack("<QQQIIII", size, 0, 0, 0, 0, 0, 0))
            out += bytes(size)
        elif kind == "sample":
            values = dict(part.split("=", 1) for part in rest)
            time = number(values["time"])
            out += record(SAMPLE, number(values.get("misc", "2")), event.body(values))
    return events, out


def string(text):
    data = text.encode().ljust((len(text) + 1 + 63) // 64 * 64, b"\0")
    return struct.pack("<I", len(data)) + data


def main(target):
    lines = [line for line in sys.stdin.read().splitlines() if line and not line.startswith("#")]
    events, records = make_records(lines)
    features = {OSRELEASE: string(os.uname().release), ARCH: string(platform.machine())}
    if any(event.branch and not event.branch & BRANCH["CALL_STACK"] for event in events):
        features[BRANCH_STACK] = b""
    data_at = 104 + len(events) * 144
    bits = sum(1 << bit for bit in features)
    out = struct.pack("<13Q", 0x32454c4946524550, 104, 144, 104, data_at - 104, data_at,
                      len(records), 0, 0, bits, 0, 0, 0)
    for event in events:
        out += event.attr + struct.pack("<QQ", 0, 0)
    out += records
    at = len(out) + 16 * len(features)
    for bit in sorted(features):
        out += struct.pack("<QQ", at, len(features[bit]))
        at += len(features[bit])
    out += b"".join(features[bit] for bit in sorted(features))
    with open(target, "wb") as file:
        file.write(out)


main(*sys.argv[1:])
