#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what `perf kvm stat report` and `perfvisor stat report` printed.

    compare_exits.py PERF OURS WHAT

Each line of perf's table is to be the beginning of one of ours, as is its title, and the lines
about the totals are to be the same. Equal counts or times may be in another order. perf's shortest
time of a single vCPU is not compared: it is 0 where it counted another vCPU before (perf 6.1,
kvm_event_expand() clears what init_stats() should set).
"""
import re
import sys

ROW = re.compile(r"^ *\S.*% +\S+% .*us \( \+- *\S+% \)")
SHORTEST = re.compile(r"(% +\S+%) +\S+us")
TITLE = re.compile(r"^ +\S.* Samples +Samples% .*Avg time")


def read(path, what):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    rows = [match[0] for match in map(ROW.match, lines) if match]
    if "--vcpu" in what:
        rows = [SHORTEST.sub(r"\1 -", row) for row in rows]
    titles = [match[0] for match in map(TITLE.match, lines) if match]
    totals = [line for line in lines if line.startswith("Total Samples:")]
    return rows, titles, totals


def sorted_by(rows):
    """What the rows are sorted by, in order: counts, and averages."""
    return ([int(re.search(r" (\d+) +\S+% +\S+% ", row)[1]) for row in rows],
            [float(re.search(r"([\d.]+)us \(", row)[1]) for row in rows])


def main(perf_path, our_path, what):
    perf, ours = read(perf_path, what), read(our_path, what)
    failures = []
    if not perf[0] or len(perf[1]) != 1:
        failures.append("perf has no table")
    if sorted(perf[0]) != sorted(ours[0]):
        failures += [f"only perf: {row}" for row in sorted(set(perf[0]) - set(ours[0]))[:4]]
        failures += [f"only ours: {row}" for row in sorted(set(ours[0]) - set(perf[0]))[:4]]
        failures.append(f"{len(perf[0])} lines of perf, {len(ours[0])} of ours")
    order = 1 if "-k time" in what else 0
    if sorted_by(perf[0])[order] != sorted_by(ours[0])[order]:
        failures.append("another order")
    if perf[1:] != ours[1:]:
        failures.append(f"perf: {perf[1:]}, ours: {ours[1:]}")
    for failure in failures:
        print(f"{what}: {failure}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main(*sys.argv[1:])
