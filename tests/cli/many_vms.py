#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a recording of many VMs that come and go, as it comes through a pipe.

    many_vms.py COUNT >FILE            an hour, in which there are COUNT VMs, 300 at a time
    many_vms.py COUNT SECONDS          prints what top shows of them every so many seconds with -z:
                                       the number of the screen, VM, mode, samples

Each VM is a process with a name of its own, and has samples of its kernel and its programs; some
VMs have more than others. A process of the host, 7, has samples, too.

Layouts: include/uapi/linux/perf_event.h, tools/perf/Documentation/perf.data-file-format.txt.
"""
import collections
import struct
import sys

COMM, SAMPLE, HEADER_ATTR, FINISHED_ROUND = 3, 9, 64, 68
USER, KERNEL, GUEST_KERNEL, GUEST_USER = 2, 1, 4, 5
HOST_PID = 7
MODES = {KERNEL: "host kernel", GUEST_KERNEL: "guest kernel", GUEST_USER: "guest user"}
IP, TID, TIME, PERIOD = 1, 2, 4, 0x100
SAMPLE_ID_ALL, COMM_FLAG = 1 << 18, 1 << 9
START_NS, HOUR_NS = 10**12, 3600 * 10**9
AT_A_TIME, ROUND, SAMPLES = 300, 500, 200000


def samples(count):
    """VM's number, mode and time of each; without meaning for a sample of the host."""
    number = 1
    for i in range(SAMPLES):
        time = START_NS + i * HOUR_NS // SAMPLES
        oldest = i * max(count - AT_A_TIME, 0) // SAMPLES
        number = number * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        # The first tenth has half of the samples.
        among = AT_A_TIME // 10 if number >> 40 & 1 else AT_A_TIME
        vm = oldest + (number >> 41) % among
        yield vm, (GUEST_KERNEL, GUEST_USER, GUEST_USER, KERNEL)[number >> 20 & 3], time


def write(count):
    out = sys.stdout.buffer
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000000, IP | TID | TIME | PERIOD, 0,
                       SAMPLE_ID_ALL | COMM_FLAG).ljust(128, b"\0")
    out.write(struct.pack("<QQ", 0x32454c4946524550, 16))
    out.write(struct.pack("<IHH", HEADER_ATTR, 0, 8 + len(attr)) + attr)
    comm, sample = struct.Struct("<IHHII16sIIQ"), struct.Struct("<IHHQIIQQ")
    end_of_round = struct.pack("<IHH", FINISHED_ROUND, 0, 8)
    come, part = set(), []
    for i, (vm, mode, time) in enumerate(samples(count)):
        pid = HOST_PID if mode == KERNEL else 1000 + vm
        if pid not in come:
            come.add(pid)
            part.append(comm.pack(COMM, USER, comm.size, pid, pid, b"vm%d" % vm, pid, pid, time))
        ip = 0xffffffff00000100 if mode != GUEST_USER else 0x400000 + i % 4096
        part.append(sample.pack(SAMPLE, mode, sample.size, ip, pid, pid, time, 1000))
        if i % ROUND == ROUND - 1:
            out.write(b"".join(part) + end_of_round)
            part = []


def show(count, seconds):
    """A screen begins with its first sample, and ends before the first that is SECONDS later."""
    screen, begin, counts = 0, None, collections.Counter()
    for vm, mode, time in samples(count):
        if begin is None or time >= begin + seconds * 10**9:
            screen, begin = screen + 1, time
        name = "[host]" if mode == KERNEL else f"vm{vm}-{1000 + vm}"
        counts[f"{screen} {name} {MODES[mode]}"] += 1
    for line, samples_of in counts.items():
        print(line, samples_of)


if sys.argv[2:]:
    show(int(sys.argv[1]), int(sys.argv[2]))
else:
    write(int(sys.argv[1]))
