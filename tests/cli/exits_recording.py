#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns the text of a trace of exits into a recording, as `perf kvm stat record` would write it.

    exits_recording.py OUT TEXT [SEED]

TEXT (tests/golden/exits/*.txt) has lines of these kinds; a # begins a comment:

    arch x86_64                what uname -m and the CPU's id were there
    cpuid GenuineIntel,6,85,7
    event kvm:kvm_exit 103     a tracepoint and its number, followed by its fields as in tracefs
    expect …                   what is to be reported: for the test
    TIME_NS PID TID CPU NAME FIELD=VALUE…   a hit of the tracepoint NAME
    TIME_NS PID TID CPU EXIT                the thread ended
    TIME_NS PID TID CPU LOST COUNT          so many records were lost

With a SEED, hits are made up instead: several VMs whose vCPUs wander between the CPUs, with all
events of x86 in TEXT, in any order that may occur, and in some that may only if records were lost.
"""
import random
import re
import struct
import sys

from tracepoint_recording import (ARCH, OSRELEASE, TRACING_DATA, make_tracing_data, string,
                                  write_recording)

CPUID = 9
RECORD_LOST, RECORD_EXIT, RECORD_SAMPLE = 2, 4, 9
FIELD = re.compile(r"\s*field:.*?(\w+);\s*offset:(\d+);\s*size:(\d+);\s*signed:\d;$")
COMMON = """	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

"""


class Trace:
    def __init__(self, path):
        self.facts, self.events, self.hits = {}, {}, []
        with open(path, encoding="utf-8") as file:
            for line in file:
                self.take(line.split("#")[0].rstrip())

    def take(self, line):
        words = line.split()
        if FIELD.match(line):
            event = self.events[self.last]
            name, offset, size = FIELD.match(line).groups()
            event["fields"][name] = int(offset), int(size)
            event["text"] += "\tfield:" + line.split("field:", 1)[1].strip() + "\n"
        elif words and words[0] == "event":
            system, name = words[1].split(":")
            self.last = name
            self.events[name] = {"system": system, "id": int(words[2]), "fields": {}, "text": ""}
        elif words and words[0] in ("arch", "cpuid"):
            self.facts[words[0]] = words[1]
        elif words and words[0] != "expect":
            self.hits.append(([int(word) for word in words[:4]], words[4], words[5:]))

    def formats(self):
        for name, event in self.events.items():
            yield (event["system"], event["id"], [],
                   f"name: {name}\nID: {event['id']}\nformat:\n{COMMON}{event['text']}\n"
                   'print fmt: ""\n')

    def payload(self, name, values):
        event = self.events[name]
        data = bytearray(max(sum(field) for field in event["fields"].values()))
        data[:2] = struct.pack("=H", event["id"])
        for value in values:
            field, number = value.split("=")
            offset, size = event["fields"][field]
            data[offset:offset + size] = (int(number, 0) % (1 << 8 * size)).to_bytes(
                size, sys.byteorder)
        return event["id"], bytes(data)


def record(kind, body):
    return struct.pack("=IHH", kind, 1, 8 + len(body)) + body


def make_record(trace, place, name, words):
    time, pid, tid, cpu = place
    first = next(iter(trace.events.values()))["id"]
    trailer = struct.pack("=IIQIIQ", pid, tid, time, cpu, 0, first)
    if name == "EXIT":
        return record(RECORD_EXIT, struct.pack("=IIIIQ", pid, 1, tid, 1, time) + trailer)
    if name == "LOST":
        return record(RECORD_LOST, struct.pack("=QQ", first, int(words[0])) + trailer)
    number, raw = trace.payload(name, words)
    raw += bytes(-(len(raw) + 4) % 8)
    return record(RECORD_SAMPLE, struct.pack("=QIIQII", number, pid, tid, time, cpu, 0) +
                  struct.pack("=I", len(raw)) + raw)


def make_up_accesses(source):
    """What happens while a vCPU is out: the reason of its exit, and what else is traced."""
    kind = source.randrange(8)
    place = source.randrange(5)
    if kind == 0:
        return 30, [("kvm_pio", [f"rw={source.randrange(2)}", f"port={0x3f8 + place}"])]
    if kind == 1:
        return 32, [("kvm_msr", [f"write={source.randrange(2)}", f"ecx={0x830 + place}"])]
    if kind == 2:
        return 48, [("kvm_mmio", ["type=2", f"gpa={0xfee00000 + 16 * place}"])]
    if kind == 3:
        return 48, [("kvm_mmio", ["type=0", f"gpa={0xfec00000 + 16 * place}"]),
                    ("kvm_mmio", ["type=1", f"gpa={0xfec00000 + 16 * place}"])]
    if kind == 4:
        return 18, [("kvm_hypercall", [f"nr={place}"])]
    return source.choice((1, 12, 40, 52)), []


def make_up_hits(source):
    hits = []
    for vm in range(3):
        for vcpu in range(3):
            pid = 1000 + 100 * vm
            time, cpu = source.randrange(1000), source.randrange(4)

            def add(name, values):
                nonlocal time
                time += 1 + int(source.lognormvariate(8, 2))
                if source.random() < 0.97:  # or it was lost
                    hits.append(([time, pid, pid + 1 + vcpu, cpu], name, values))
            for _ in range(source.randrange(200)):
                if source.random() < 0.1:
                    cpu = source.randrange(4)
                reason, accesses = make_up_accesses(source)
                ip = 0xffffffff81000000 + 64 * source.randrange(4)
                add("kvm_exit", [f"exit_reason={reason}", f"guest_rip={ip}", "isa=1",
                                 f"vcpu_id={vcpu}"])
                for access in accesses:
                    add(*access)
                add("kvm_entry", [f"vcpu_id={vcpu}"])
    return hits


def main(target, path, seed=None):
    trace = Trace(path)
    if seed:
        trace.hits = make_up_hits(random.Random(seed))
    formats = list(trace.formats())
    features = {TRACING_DATA: make_tracing_data(formats), OSRELEASE: string("6.18.0"),
                ARCH: string(trace.facts["arch"]), CPUID: string(trace.facts["cpuid"])}
    samples = b"".join(make_record(trace, *hit) for hit in trace.hits)
    write_recording(target, formats, features, samples)


if __name__ == "__main__":
    main(*sys.argv[1:])
