#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the chains through the module known_chains with its source, with what the guest's own
unwinder recorded at its innermost functions (known_traces, address by address), and with the source
of the program that calls it. Every sample is compared that was taken in the module's code, in
functions that it called, or in what interrupted it. In this last case, the kernel may be switching
tasks, and then the program's chain is missing.

usage: check_known.py FOLDER TALLY: appends the numbers of samples in the module's code,
and of right ones, to TALLY.
"""
import collections
import sys

from functions import Functions
from left_out import from_first_whole
from script_text import blocks_of_guests, comm_of, frames_of, place_of
from verdict import check, exit_status

folder, tally = sys.argv[1:]
functions = Functions(f"{folder}/kallsyms")
# The same as in known_chains.c.
CALLS = ("process", "masked", "deep", "copy", "touch", "timer")
TRACES, TRACE_WORDS = 16, 125

# The functions of each call in known_chains.c, the innermost first.
FAULT = ["known_fault_leaf", "known_fault_1", "known_fault"]
SOURCE = {
    "process": ["known_process_leaf", "known_process_3", "known_process_2",
                "known_process_1", "known_write"],
    "masked": ["known_masked_leaf", "known_masked_1", "known_write"],
    "deep": (["known_deep_leaf"] + [f"known_deep_{i:02}" for i in range(99, -1, -1)]
             + ["known_write"]),
    "copy": FAULT + ["known_copy_2", "known_copy_1", "known_write"],
    "touch": FAULT,
    "timer": ["known_timer_leaf", "known_timer_1", "known_timer"],
}
START = ["main", "__libc_start_call_main", "__libc_start_main_impl", "_start"]
# The functions in known_calls.c.
USER = {call: ([] if call == "touch" else ["user_write"]) + [f"user_{call}", "user_round"] + START
        for call in CALLS if call != "timer"}


def is_known(address):
    return functions.module(address) == "known_chains"


def read_traces():
    """Returns: call -> the guest's own chains at its innermost function, without known_note()."""
    address = next(int(line.split()[0], 16) for line in open(f"{folder}/kallsyms")
                   if line.split()[2] == "known_traces")
    data = open(f"{folder}/known_traces", "rb").read()[address & 0xfff:]
    words = [int.from_bytes(data[i:i + 8], "little")
             for i in range(0, 8 * len(CALLS) * TRACES * TRACE_WORDS, 8)]
    traces = {}
    for index, call in enumerate(CALLS):
        for at in range(index * TRACES * TRACE_WORDS,
                        (index + 1) * TRACES * TRACE_WORDS, TRACE_WORDS):
            if words[at]:
                traces.setdefault(call, []).append(words[at + 2:at + 1 + words[at]])
    return traces


def named(chain):
    return [functions.name(address) for address in chain if is_known(address)]


def read_chains():
    """Yields (kernel addresses, user functions, place, comm) of each sample."""
    for block in blocks_of_guests(f"{folder}/script"):
        frames = frames_of(block)
        kernel = [address for address, _ in frames if address >> 63]
        yield kernel, [name for _, name in frames[len(kernel):]], place_of(block), comm_of(block)


traces = read_traces()
for call in CALLS:
    found = [named(trace) for trace in traces.get(call, [])]
    check(found and all(names == SOURCE[call] for names in found),
          f"{call}: {len(found)} chains by the guest's own unwinder, all must be as in the source")

# For each function of the module: the possible callers, and their call.
behind = collections.defaultdict(set)
for call, of_call in traces.items():
    for trace in of_call:
        for i, address in enumerate(trace):
            if is_known(address):
                behind[functions.at(address)].add((tuple(trace[i + 1:]), call))


def judge(kernel, user):
    """
    Returns whether the chain is right from its innermost frame in the module on, and its call. With
    USER None, the program's part of the chain is not compared.
    """
    first = next(i for i, address in enumerate(kernel) if is_known(address))
    rest = tuple(kernel[first + 1:])
    name = functions.name(kernel[first])
    if name in ("known_note", "is_entry"): # called by all of them
        return judge(kernel[first + 1:], user)
    for expected, call in behind[functions.at(kernel[first])]:
        if call == "timer" and rest[:len(expected)] == expected:
            interrupted = rest[len(expected):]
            right = not any(map(is_known, interrupted)) or judge(interrupted, user)[0]
            return right, call
        if rest == expected and user in (None, USER[call]):
            return True, call
    return False, name


def is_switched(kernel, user):
    """True if an interrupt made the kernel switch tasks; for a moment the current
    task has no user chain."""
    called = [functions.name(address)
              for address in kernel[:next(i for i, at in enumerate(kernel) if is_known(at))]]
    return not user and "__schedule" in called


samples = list(read_chains())
through = [sample for sample in samples if any(map(is_known, sample[0]))]
its_own = [sample for sample in through if sample[1] and sample[3] == "known_calls"]
whole = {id(sample) for sample in
         from_first_whole("known_calls", its_own, lambda sample: sample[1],
                          lambda sample: sample[1][-1] == "_start", lambda sample: sample[2])}
counts, right, wrong, switched = collections.Counter(), collections.Counter(), [], 0
for sample in through:
    kernel, user, _, _ = sample
    # If the user part is left out, the kernel's part still has to be right.
    left_out = user and id(sample) not in whole
    good, call = judge(kernel, None if left_out else user)
    if not good and is_switched(kernel, user) and judge(kernel, None)[0]:
        switched += 1
        continue
    # Other programs can only be there because of the module's timer.
    good = good and (call == "timer" or sample[3] == "known_calls")
    counts[call] += 1
    for place in ("through", "in") if is_known(kernel[0]) else ("through",):
        counts[place] += 1
        right[place] += good
    if not good:
        wrong.append([functions.name(address) for address in kernel] + user)
print(f"     {len(samples)} samples; deepest {max(len(kernel) for kernel, _, _, _ in through)}")
for chain in wrong[:5]:
    print("     wrong:", " ".join(chain))
check(right["in"] == counts["in"],
      f"{right['in']} of {counts['in']} chains in the module's code are complete and exact")
check(right["through"] == counts["through"],
      f"{right['through']} of {counts['through']} chains through it are")
check(switched <= 0.01 * len(through),
      f"{switched} of {len(through)} left out, in which tasks were switched and the user chain is "
      "missing: at most 0.01")
for call in CALLS:
    check(counts[call] >= 20, f"{counts[call]} chains: {call}")
with open(tally, "a") as file:
    print(counts["in"], right["in"], file=file)
sys.exit(exit_status())
