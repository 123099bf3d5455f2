# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts the output of two tools for a guest into one form, to be compared line by line.

    perfvisor script -i FILE -F …,machine_pid,vcpu | guest_samples.py guest PID
    perf script -i DIR -F …,cpu | guest_samples.py native

A sample is its first line, "[CPU] …" without leading blanks, and its chain. A guest sample's CPU is
the number of the vCPU. Kernel and modules have one name, because perf attributes the functions of
modules to the kernel.
"""
import re
import sys

KERNEL = re.compile(rb"\(\[(?!unknown|vdso|vsyscall|stack|heap)[^\]]+\]\)$")


def samples(lines):
    sample = []
    for line in lines:
        line = line.rstrip(b"\n")
        if sample and not line.startswith(b"\t") and line:
            yield sample
            sample = []
        if line:
            sample.append(KERNEL.sub(b"(KERNEL)", line))
    if sample:
        yield sample


def from_guest(head, pid):
    found = re.match(rb" *VM: *(\d+) VCPU:(\d+) +(.*)", head)
    return found and int(found[1]) == pid and b"[%s] %s" % (found[2], found[3])


def from_native(head):
    found = re.match(rb" *(.*) \[(\d+)\] +(.*)", head)
    return b"[%s] %s %s" % (found[2], found[1], found[3])


for sample in samples(sys.stdin.buffer):
    head = (from_native(sample[0]) if sys.argv[1] == "native"
            else from_guest(sample[0], int(sys.argv[2])))
    if head:
        sys.stdout.buffer.write(b"\n".join([re.sub(rb" +", b" ", head), *sample[1:]]) + b"\n")
