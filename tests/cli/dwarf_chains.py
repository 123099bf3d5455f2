#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares call chains, sample by sample: dwarf_chains.py PERF.TXT OURS.TXT LEAST

Both are what `script -F comm,tid,time,ip,sym,dso` prints. LEAST: how many samples there must be.
Prints how many chains are equal, shorter (the beginning of perf's), longer and different, and the
first of those that are not equal. Fails if more than one of a hundred is not equal, or if one
begins differently.

Where a copy of the stack ends, perf reads 0 and has a frame at ffffffffffffffff, which is left out
here; and it takes the last word of the copy to be outside (access_mem() in
tools/perf/util/unwind-libunwind-local.c), so that it may miss one more frame. With libunwind, perf
takes what a signal's handler returns to for a return address, and looks up the byte before it;
with libdw (Linux 7.2) it does not. Frames that only differ in this are equal here.
"""
import re
import sys

SHOWN = 10
RESTORER = re.compile(r"__restore_rt|__kernel_(rt_)?sigreturn|\[unknown\]")
NOWHERE = "ffffffffffffffff [unknown] ([unknown])"


def to_restorer(theirs, own):
    """perf's frame, or OWN if it is the code after a signal's handler, of which perf has the byte
    before."""
    address, _, name = own.partition(" ")
    return own if (RESTORER.match(name) and
                   theirs.split()[0] == format(int(address, 16) - 1, "x")) else theirs


def read(path):
    """(what stands before the frames, the frames) of each sample."""
    with open(path, errors="replace") as file:
        for block in file.read().split("\n\n"):
            lines = block.strip("\n").split("\n")
            if lines[0]:
                yield lines[0].strip(), [line.strip() for line in lines[1:]]


theirs, ours = list(read(sys.argv[1])), list(read(sys.argv[2]))
counts = {"equal": 0, "shorter": 0, "longer": 0, "different": 0, "cut off": 0,
          "without a frame": 0, "beginning differently": 0}
shown = 0
if [head for head, frames in theirs] != [head for head, frames in ours]:
    sys.exit(f"{len(theirs)} samples of perf are not the same {len(ours)}")
if len(ours) < int(sys.argv[3]):
    sys.exit(f"only {len(ours)} samples")
for (head, perf), (_, own) in zip(theirs, ours):
    if perf[-1:] == [NOWHERE]:
        perf = perf[:-1]
        counts["cut off"] += 1
        if own[:-1] == perf:
            perf = own
    perf = [to_restorer(*pair) for pair in zip(perf, own)] + perf[len(own):]
    common = min(len(perf), len(own))
    kind = ("equal" if perf == own else "different" if perf[:common] != own[:common] else
            "shorter" if len(own) < len(perf) else "longer")
    counts[kind] += 1
    counts["without a frame"] += not own and bool(perf)
    counts["beginning differently"] += perf[:1] != own[:1]
    if kind != "equal" and shown < SHOWN:
        shown += 1
        print(f"{kind}: {head}",
              *(f"  {'=' if i < common and perf[i] == own[i] else '!'} "
                f"perf {perf[i:i + 1]} ours {own[i:i + 1]}"
                for i in range(max(len(perf), len(own)))), sep="\n")
print(len(ours), "samples:", counts)
sys.exit(counts["equal"] < 0.99 * len(ours) or counts["without a frame"] > 0
         or counts["beginning differently"] > 0)
