#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a screen of perfvisor report's browser with what stock perf prints.

    browser_rows.py PERF-REPORT SCREEN
    browser_rows.py --callers PERF-SCRIPT SCREEN    of the first row, which is unfolded: of its
                                                    command and function

Rows of equal shares may be in another order, and the last ones on the screen others of the same
share. Addresses without a symbol are left out: perf gives them a mode by chance."""
import collections
import re
import sys

LEAST_ROWS = 20


def read_rows(path):
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.match(r" *((?:\d+\.\d+% +)+)(?:[-+] )?(\S.*)", line)
            if found and not re.search(r"\] (0x)?[0-9a-f]{16}", line):
                shares = [float(share) for share in re.findall(r"[\d.]+", found[1])]
                rows.append((*shares, " ".join(found[2].split())))
    return rows


def compare_rows(perf, ours):
    perf = perf[:max(len(ours), LEAST_ROWS)]
    least = max(perf[-1][0], ours[-1][0]) if perf and ours else 0
    expected, got = (sorted(row for row in rows if row[0] > least) for rows in (perf, ours))
    for row in expected:
        if row not in got:
            print("perf:", row)
    for row in got:
        if row not in expected:
            print("screen:", row)
    shares = [row[0] for row in ours]
    if len(expected) < LEAST_ROWS or expected != got or shares != sorted(shares, reverse=True):
        sys.exit(f"perf has {len(perf)} rows, {len(expected)} of them are compared; the screen has "
                 f"the shares {shares}")


def compare_callers(samples, lines):
    blocks = [[line for line in sample.splitlines() if line.strip()]
              for sample in samples.split("\n\n") if sample.strip()]
    samples = [(block[0].strip(), *(line.split(maxsplit=1)[1].strip() for line in block[1:]))
               for block in blocks]
    rows = [number for number, line in enumerate(lines) if re.match(r" *\d+\.\d+% - ", line)]
    command = re.match(r" *\d+\.\d+% - (\S+)", lines[rows[0]])[1]
    function = lines[rows[0]].split()[-1]
    callers = collections.Counter(sample[2] for sample in samples
                                  if len(sample) > 2 and sample[:2] == (command, function))
    shown = {}
    for line in lines[rows[0] + 1:]:
        found = re.match(r" {10,}[-+ ] +(\d+\.\d+)% (\S+)$", line)
        if re.match(r" *\d+\.\d+% \+ ", line):
            break
        if found and (not shown or line.index(found[1]) == column):
            column = line.index(found[1])
            shown[found[2]] = found[1]
    expected = {name: f"{100 * count / len(samples):.2f}" for name, count in callers.items()}
    if not shown or shown != expected:
        sys.exit(f"{function}: perf has the callers {expected}, the screen {shown}")


if sys.argv[1] == "--callers":
    with open(sys.argv[2], encoding="utf-8") as script, open(sys.argv[3], encoding="utf-8") as text:
        compare_callers(script.read(), text.read().splitlines())
else:
    compare_rows(read_rows(sys.argv[1]), read_rows(sys.argv[2]))
