#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the chains through the module known_chains against its source, against what the guest's own
unwinder said at its innermost functions (known_traces, address by address), and against the source of
the program that calls it. Every sample is held against them that was taken in the module's code, in what it
called, or in what interrupted it; these last ones may be where the kernel switches tasks, and the program's
chain is not told.

usage: check_known.py FOLDER TALLY: adds to the numbers in TALLY, of samples in the module's code and right ones.
"""
import collections
import sys

from functions import Functions
from script_text import blocks_of_guests, frames_of
from verdict import check, exit_status

folder, tally = sys.argv[1:]
functions = Functions(f"{folder}/kallsyms")
# As in known_chains.c.
CALLS = ("process", "masked", "deep", "copy", "touch", "timer")
TRACES, TRACE_WORDS = 16, 125

# What is inside of what in known_chains.c: of each call, innermost first.
FAULT = ["known_fault_leaf", "known_fault_1", "known_fault"]
SOURCE = {
    "process": ["known_process_leaf", "known_process_3", "known_process_2", "known_process_1", "known_write"],
    "masked": ["known_masked_leaf", "known_masked_1", "known_write"],
    "deep": ["known_deep_leaf"] + [f"known_deep_{i:02}" for i in range(99, -1, -1)] + ["known_write"],
    "copy": FAULT + ["known_copy_2", "known_copy_1", "known_write"],
    "touch": FAULT,
    "timer": ["known_timer_leaf", "known_timer_1", "known_timer"],
}
START = ["main", "__libc_start_call_main", "__libc_start_main_impl", "_start"]
# And in known_calls.c.
USER = {call: ([] if call == "touch" else ["user_write"]) + [f"user_{call}", "user_round"] + START
        for call in CALLS if call != "timer"}


def is_known(address):
    return functions.module(address) == "known_chains"


def read_traces():
    """Of each call the guest's own chains at its innermost function, known_note() left out."""
    address = next(int(line.split()[0], 16) for line in open(f"{folder}/kallsyms")
                   if line.split()[2] == "known_traces")
    data = open(f"{folder}/known_traces", "rb").read()[address & 0xfff:]
    words = [int.from_bytes(data[i:i + 8], "little") for i in range(0, 8 * len(CALLS) * TRACES * TRACE_WORDS, 8)]
    traces = {}
    for index, call in enumerate(CALLS):
        for at in range(index * TRACES * TRACE_WORDS, (index + 1) * TRACES * TRACE_WORDS, TRACE_WORDS):
            if words[at]:
                traces.setdefault(call, []).append(words[at + 2:at + 1 + words[at]])
    return traces


def named(chain):
    return [functions.name(address) for address in chain if is_known(address)]


def read_chains():
    """Of each sample the kernel's addresses and the user's names."""
    for block in blocks_of_guests(f"{folder}/script"):
        frames = frames_of(block)
        kernel = [address for address, _ in frames if address >> 63]
        yield kernel, [name for _, name in frames[len(kernel):]]


traces = read_traces()
for call in CALLS:
    found = [named(trace) for trace in traces.get(call, [])]
    check(found and all(names == SOURCE[call] for names in found),
          f"{call}: {len(found)} chains by the guest's own unwinder, all as in the source")

# Behind each function of the module: what may come, and of which call it is.
behind = collections.defaultdict(set)
for call, of_call in traces.items():
    for trace in of_call:
        for i, address in enumerate(trace):
            if is_known(address):
                behind[functions.at(address)].add((tuple(trace[i + 1:]), call))


def judge(kernel, user):
    """
    Whether the chain is right from its innermost frame in the module on, and of which call that is. USER is
    None where the program's chain is not asked for.
    """
    first = next(i for i, address in enumerate(kernel) if is_known(address))
    rest = tuple(kernel[first + 1:])
    name = functions.name(kernel[first])
    if name in ("known_note", "is_entry"): # called by all
        return judge(kernel[first + 1:], user)
    for expected, call in behind[functions.at(kernel[first])]:
        if call == "timer" and rest[:len(expected)] == expected:
            interrupted = rest[len(expected):]
            right = not any(map(is_known, interrupted)) or judge(interrupted, user)[0]
            return right, call
        if rest == expected and user in (None, USER[call]):
            return True, call
    return False, name


samples = list(read_chains())
through = [(kernel, user) for kernel, user in samples if any(map(is_known, kernel))]
# The program's unwind data are read once it was seen; until then chains end with its innermost frame. Samples
# of several CPUs are then on their way through one ring each, and take their turns: BEHIND of them at most.
BEHIND = 300
since = next((i for i, (_, user) in enumerate(through) if user and user[-1] == "_start"), len(through))
counts, right, wrong = collections.Counter(), collections.Counter(), []
for i, (kernel, user) in enumerate(through):
    good, call = judge(kernel, None if i < since + BEHIND and len(user) <= 1 else user)
    counts[call] += 1
    for place in ("through", "in") if is_known(kernel[0]) else ("through",):
        counts[place] += 1
        right[place] += good
    if not good:
        wrong.append([f"{i - since}:"] + [functions.name(address) for address in kernel] + user)
print(f"     {len(samples)} samples, {since} through the module before the program's unwind data were read; "
      f"deepest {max(len(kernel) for kernel, _ in through)}")
for chain in wrong[:5]:
    print("     wrong:", " ".join(chain))
check(right["in"] >= 0.995 * counts["in"], f"{right['in']} of {counts['in']} chains in the module's code are "
      f"complete and exact: at least 0.995 (0.999 of all recordings together)")
check(right["through"] >= 0.99 * counts["through"],
      f"{right['through']} of {counts['through']} through it are: at least 0.99")
for call in CALLS:
    check(counts[call] >= 20, f"{counts[call]} chains: {call}")
with open(tally, "a") as file:
    print(counts["in"], right["in"], file=file)
sys.exit(exit_status())
