#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks chains of short_calls.c, which lives for 40 ms and is executed anew all the time. Each
chain that reaches _start must be a path through its source. The share of its samples that have
names, and of its chains that are complete, has a lower limit; chains count from the first complete
one on, because it depends on the machine how long the program's files take to be read.

usage: check_short.py FOLDER: with what perfvisor script printed of the recording
"""
import collections
import re
import sys

from script_text import blocks_of_guests, comm_of, frames_of
from verdict import check, exit_status

# The share of chains that have to be complete. The static program's C library reads a link into an
# array of 4096 bytes, of which some pages are not there yet: a copy of the stack ends before them.
# It also has code without unwind data (frame_dummy).
PROGRAMS = {"short_dynamic": 0.95, "short_static": 0.85}
LEAST = 300 # samples of each program that count
LEAST_KNOWN = 40 # complete chains of each program from its innermost function
MOST_LEFT_OUT = 1 / 2
NAMED = 0.95
# short_calls.c: who calls whom. The C library's functions may call others of its own.
CALLS = {
    "main": {"short_left", "short_right", "qsort", "now_ms", "library"},
    "short_left": {"short_inner"}, "short_right": {"short_inner"},
    "short_inner": {"short_leaf"}, "short_compare": {"short_leaf"}, "short_leaf": set(),
    "now_ms": {"library"}, "library": {"library", "short_compare"},
    "qsort": {"library", "short_compare"},
}
START = re.compile(r"_start|__libc_start_(main|call_main).*")


def kind_of(name):
    return name if name in CALLS else "library"


def is_right(chain):
    """CHAIN has the names of user code, the outermost first, and begins with _start."""
    rest = chain[:]
    while rest and START.fullmatch(rest[0]):
        rest.pop(0)
    if "main" not in rest:
        return True # before and after main()
    if rest[0] != "main":
        return False
    kinds = [kind_of(name) for name in rest]
    return all(called in CALLS[caller] for caller, called in zip(kinds, kinds[1:]))


folder = sys.argv[1]
MOST_LATE = 3 / 4
SAID = re.compile(r"the mappings of (\d+) address spaces .* for (\d+) their files were not read in "
                  "time")
copied, late = map(int, SAID.search(open(f"{folder}/said").read()).groups())
check(late <= MOST_LATE * copied,
      f"of {copied} processes, {late} had files that were not read in time: at most {MOST_LATE}")
if late:
    print(f"skipped: how many chains are complete, because on this machine {late} processes' files "
          "could not be read while their samples waited")
everything, count, named, whole, known, wrong = (collections.Counter() for _ in range(6))
# Before these, a program is not entered yet: the dynamic linker's code has no unwind data there.
OUTERMOST = "_start", "_dl_start_user"
for block in blocks_of_guests(f"{folder}/script"):
    comm = comm_of(block)
    user = [name for address, name in frames_of(block) if not address >> 63]
    if comm not in PROGRAMS or not user:
        continue
    everything[comm] += 1
    named[comm] += user[0] not in ("", "[unknown]")
    if user[-1] not in OUTERMOST:
        count[comm] += whole[comm] > 0
        continue
    count[comm] += 1
    whole[comm] += 1
    known[comm] += "short_leaf" in user
    if not is_right(user[::-1]):
        wrong[comm] += 1
        print("     wrong:", " ".join(user))
for comm, share in PROGRAMS.items():
    total, every = count[comm], everything[comm]
    check(named[comm] >= NAMED * every,
          f"{comm}: {named[comm]} of {every} named by function, at least {NAMED}")
    check(not wrong[comm], f"{comm}: {wrong[comm]} of {whole[comm]} complete chains are wrong")
    if late:
        continue
    check(total >= LEAST and every - total <= MOST_LEFT_OUT * every,
          f"{comm}: {total} chains, at least {LEAST}; {every - total} left out, from before its "
          f"files were read, at most {MOST_LEFT_OUT}")
    check(whole[comm] >= share * total,
          f"{comm}: {whole[comm]} of {total} chains complete, at least {share}")
    check(known[comm] >= LEAST_KNOWN,
          f"{comm}: {known[comm]} of these are from short_leaf, at least {LEAST_KNOWN}")
sys.exit(exit_status())
