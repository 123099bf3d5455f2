#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the reports of test_stat.sh: check_stat.py OUT GUESTABI

Each of tinyvm's functions has the number of exits that GUESTABI, a header, says, of its reason; and
most exits of the Linux guest are in functions of its kernel.
"""
import json
import re
import sys

from verdict import check, exit_status

OUT, GUESTABI = sys.argv[1:]
MOST_MAPPED = 8
# function: its number in the header, the reason of its exits (SVM's words), its event, which has …
FUNCTIONS = {
    "write_ports": ("EXITS_PORT_WRITES", "io", "ioport", "0xe8:POUT"),
    "write_msrs": ("EXITS_MSR_WRITES", "msr", "msr", "0xc0000080:W"),
    "call_hypervisor": ("EXITS_HYPERCALLS", "hypercall", "hypercall", "0x1"),
    "write_device": ("EXITS_DEVICE_WRITES", "npf", "mmio", "0xe0000000:W"),
    "read_device": ("EXITS_DEVICE_READS", "npf", "mmio", "0xe0000004:R"),
}


def load(name):
    with open(f"{OUT}/{name}.json", encoding="utf-8") as file:
        return json.load(file)


def counts(name):
    return {(row["reason"], row["gsym"]): row["samples"] for row in load(name)["rows"]}


with open(GUESTABI, encoding="utf-8") as file:
    numbers = {name: int(value) for name, value in
               re.findall(r"#define (EXITS_\w+) (\d+)", file.read())}
for recorder in "perfvisor", "perf":
    check(load(f"{recorder}.vmexit")["lost"] == 0, f"{recorder}: nothing is lost")
    exits = counts(f"{recorder}.vmexit")
    for function, (number, reason, event, what) in FUNCTIONS.items():
        want = numbers[number]
        if function == "write_msrs":
            want += 1  # it has read it before
        got = exits.get((reason, function), 0)
        # The first accesses of a page exit, too, so that KVM maps it.
        good = want <= got <= want + MOST_MAPPED if reason == "npf" else got == want
        check(good, f"{recorder}: {got} exits for {reason} in {function}, {want} expected")
        if recorder == "perf" and event in ("hypercall", "msr"):
            continue  # stock perf does not record these
        got = counts(f"{recorder}.{event}").get((what, function), 0)
        check(got == numbers[number],
              f"{recorder}: {got} of {what} in {function}, {numbers[number]} expected")
rows = load("guest1")["rows"]
named = sum(row["samples"] for row in rows if not row["gsym"].startswith("0x"))
total = sum(row["samples"] for row in rows)
check(total > 100 and named > total / 2, f"guest1: {named} of {total} exits in named functions")
sys.exit(exit_status())
