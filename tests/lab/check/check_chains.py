#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares every kernel frame of every chain with the guest's own code. A return address must
follow a call instruction, and this call must lead to the function of the inner frame, or to one
that can have jumped there. Otherwise the inner frame must be an entry point of interrupts or
exceptions, and the outer one was interrupted. A kernel chain ends where user code entered the
kernel, or where a kernel thread begins.

For three programs the callers are known up to the start: user7525, which has no frame pointers; the
32-bit user32; and deep_frames, which has more stack than is copied.

The same must hold for a recording without stack pointers, as on Intel hosts, where chains of
known_frames, which keeps frame pointers, must be complete. When stack pointers are searched for
although they are known, no chain may differ from the true one, and the true stack
pointer must never be ruled out.

With guesses, the certain callers must be right, and the true callers must be among the guesses.
"""
import collections
import glob
import os
import re
import subprocess
import sys

from functions import Functions
from left_out import from_first_whole
from script_text import blocks_of_guests, comm_of, frames_of, place_of, read_blocks
from verdict import check, exit_status

folder = sys.argv[1]
MAX_JUMPS = 7 # __slab_free reaches free_one_page through six

# Where the processor enters the kernel (arch/x86/entry); they may have interrupted anything.
INTERRUPTS = re.compile(r"asm_(sysvec|exc|common_interrupt|spurious)|error_entry|error_return|"
                        r"common_interrupt_return|restore_|native_i?ret|native_irq_return|"
                        r"paranoid_|"
                        r"irq_entries_start|swapgs_restore|__irqentry_text|spurious_entries")
# Where chains end: entry code of user mode, and the first code of threads and of CPUs.
ENDS = re.compile(r"entry_SYSCALL|entry_SYSENTER|entry_INT80|asm_|ret_from_fork|secondary_startup|"
                  r"syscall_return_via|swapgs_restore|error_|common_interrupt_return|native_i|"
                  r"int80_emulation|"
                  r"__irqentry_text|xen_|x86_64_start|paranoid_|restore_")
# Pairs without a call: the two words of a far return (arch/x86/kernel/head_64.S); what
# copy_thread() wrote (__switch_to_asm is on the new stack before it jumps to __switch_to); and the
# callers of the first CPU's idle task, whose code has been freed.
STARTS = re.compile(r"(start_secondary|x86_64_start_kernel|start_kernel) secondary_startup_64|"
                    r"__switch_to(_asm)? ret_from_fork|"
                    r"(rest_init|arch_call_rest_init) (arch_call_rest_init|start_kernel)|"
                    r"start_kernel x86_64_start_|x86_64_start_reservations x86_64_start_kernel")
# Calls through these may lead anywhere.
THUNKS = re.compile(r"__x86_indirect|__SCT__|__SCK__|__fentry__|call_on_|ftrace_")
PREFIXES = ("bnd", "notrack", "cs", "ds", "data16", "rep", "repz")
STOPS = ("ret", "jmp", "int3", "ud2", "hlt", "iretq", "sysretq", "sysretl", "(bad)")


functions = Functions(f"{folder}/kallsyms")
function, end_of, name = functions.at, functions.end_of, functions.name
code = []
for path in glob.glob(f"{folder}/code.*"):
    code.append((int(os.path.basename(path)[5:], 16), open(path, "rb").read()))


def bytes_of(start, end):
    for base, data in code:
        if base <= start and end <= base + len(data):
            return data[start - base:end - base]
    return b""


def target(address, data):
    return (address + int.from_bytes(data, "little", signed=True)) & (2**64 - 1)


def listing(base):
    """Yields the instructions of the code at BASE: address, mnemonic, operands."""
    run = subprocess.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64",
                          "--no-show-raw-insn", f"--adjust-vma={base:#x}",
                          f"{folder}/code.{base:x}"],
                         check=True, capture_output=True, text=True)
    for line in run.stdout.splitlines():
        at, is_code, text = line.partition(":\t")
        words = text.split(None, 1) if is_code else []
        while words and words[0] in PREFIXES:
            words = words[1].split(None, 1) if len(words) > 1 else []
        if words:
            yield int(at, 16), words[0], words[1] if len(words) > 1 else ""


def read_ways():
    """Where each function continues without a call; None: anywhere, by an indirect jump."""
    found = collections.defaultdict(set)
    for base, _ in code:
        start, end, stopped = 0, 0, True
        for at, mnemonic, operands in listing(base):
            if at >= end: # code may fall through into the next function
                if not stopped:
                    found[start].add(function(at))
                start = function(at)
                end = end_of(start)
            if mnemonic[0] == "j":
                found[start].add(function(int(operands, 16)) if operands[0] == "0" else None)
            if not mnemonic.startswith("nop") and mnemonic != "xchg":
                stopped = mnemonic in STOPS
    return found


ways = read_ways()


def leads_to(start, callee):
    seen, level = {start}, {start}
    for _ in range(MAX_JUMPS):
        if callee in seen or None in seen or any(THUNKS.match(name(at)) for at in seen):
            return True
        level = {at for start in level if start for at in ways[start]} - seen
        seen |= level
    return callee in seen or None in seen or any(at and THUNKS.match(name(at)) for at in seen)


def is_indirect_call(before):
    for size in (2, 3, 4, 6, 7, 8): # ff /2, with or without prefixes
        rest = before[8 - size:].lstrip(b"\x2e\x3e\x40\x41\x42\x43\x48\x49\x65")
        if len(rest) > 1 and rest[0] == 0xff and rest[1] >> 3 & 7 == 2:
            return True
    return False


def is_right(callee, caller, known={}):
    """True if the code at CALLER can have called the function that contains CALLEE."""
    if (callee, caller) not in known:
        before = bytes_of(caller - 8, caller)
        known[callee, caller] = bool(before) and (
            before[3] == 0xe8
            and leads_to(function(target(caller, before[4:])), function(callee)) or
            is_indirect_call(before)) or bool(INTERRUPTS.match(name(callee)) or
                                              STARTS.match(f"{name(callee)} {name(caller)}"))
    return known[callee, caller]


counts, wrong, ends, depth = collections.Counter(), collections.Counter(), collections.Counter(), 0
kinds, pairs = collections.Counter(), set()
blocks = blocks_of_guests(f"{folder}/script")
# There are no processes and no chains until the guest's kernel is known. Mostly it is known
# before the first sample; otherwise that takes a tenth of a second, of seven (record_known.sh).
# It must not get lost later.
known = [block for block in blocks if comm_of(block) != ":-1"]
early = next((i for i, block in enumerate(blocks) if comm_of(block) != ":-1"), len(blocks))
check(early <= 0.1 * len(blocks) and len(known) == len(blocks) - early,
      f"{early} of {len(blocks)} samples left out, from before the guest's kernel was "
      f"known: at most 0.1; {len(blocks) - early - len(known)} later ones without it")
for block in known:
    chain = [address for address, _ in frames_of(block)]
    kernel = [address for address in chain if address >> 63]
    if not kernel:
        counts["user"] += bool(chain)
        continue
    counts["kernel"] += 1
    depth = max(depth, len(kernel))
    last = name(kernel[-1])
    counts["complete"] += bool(ENDS.match(last))
    if not ENDS.match(last):
        ends[last, hex(kernel[-1])] += 1
    for callee, caller in zip(kernel, kernel[1:]):
        counts["frames"] += 1
        pairs.add((callee, caller))
        if not is_right(callee, caller):
            wrong[name(callee), name(caller), hex(caller)] += 1
    called = " ".join(name(address) for address in kernel)
    kinds["interrupted"] += any(INTERRUPTS.match(name(address)) for address in kernel[:-1])
    kinds["random"] += bool(re.search("chacha_block_generic .*get_random_bytes_user|urandom_read.* "
                                      ".*vfs_read ksys_read .*do_syscall_64 entry_SYSCALL", called))
    kinds["fault"] += "asm_exc_page_fault" in called
def share_of_false():
    """The share of pairs which no chain has but which would pass: a measure of
    how weak the check is."""
    callees = sorted({callee for callee, _ in pairs if not INTERRUPTS.match(name(callee))})
    callers = sorted({caller for _, caller in pairs})
    false = [(callee, caller) for i, callee in enumerate(callees) for caller in callers[i % 7::7]
             if (callee, caller) not in pairs]
    return sum(is_right(*pair) for pair in false) / len(false)


def chains_of(program, some_blocks):
    """Yields (place, user frames' names, number of kernel frames) of its samples
    that have user frames."""
    for block in some_blocks:
        if comm_of(block) != program:
            continue
        frames = frames_of(block)
        user = [name for address, name in frames if not address >> 63]
        if user:
            yield place_of(block), user, len(frames) - len(user)


def user_chains(program, is_in, is_whole, some_blocks=None):
    """The chains that IS_IN selects, from the first complete one on."""
    chains = [chain for chain in chains_of(program, blocks if some_blocks is None else some_blocks)
              if is_in(*chain[1:])]
    return from_first_whole(program, chains, lambda chain: chain[1],
                            lambda chain: is_whole(chain[1]), lambda chain: chain[0])


def in_user_code(*functions_of_program):
    return lambda user, of_kernel: not of_kernel and user[0] in functions_of_program


start = ["main", "__libc_start_call_main", "__libc_start_main_impl", "_start"]
programs = [user for _, user, _ in user_chains("user7525", in_user_code("hot_a", "hot_b", "main"),
                                               lambda user: user[-1] == "_start")]
odd = [chain for chain in programs if chain not in (start, ["hot_a"] + start, ["hot_b"] + start)]
check(len(programs) >= 100 and not odd,
      f"user7525: {len(programs) - len(odd)} of {len(programs)} user chains are those of its "
      f"source {odd[:1]}")
check(counts["kernel"] >= 1000 and counts["frames"] >= 4000,
      f"{counts['kernel']} chains with {counts['frames']} callers, {depth} deep at most")
check(not wrong, f"each caller can have called its callee: {wrong.most_common(8)}")
seen = share_of_false()
check(seen <= 0.15, f"{seen:.3f} of wrong pairs would pass")
check(counts["complete"] >= 0.99 * counts["kernel"],
      f"{counts['complete']} of {counts['kernel']} are complete; others end at "
      f"{ends.most_common(8)}")
kernel_only = [[address >> 63 for address, _ in frames_of(block)]
               for block in read_blocks(f"{folder}/kernel_only.script")]
check(max(map(len, kernel_only)) > 3 and all(all(modes) or modes == [0] for modes in kernel_only),
      "--kernel-only: chains have kernel frames only, or the sampled user address")


def check_without_sp():
    starts = {"user7525": ([], ["hot_a"], ["hot_b"]),
              "known_frames": ([], ["frame_1"], ["frame_2", "frame_1"],
                               ["frame_3", "frame_2", "frame_1"])}
    whole = {program: [begin + start for begin in begins] for program, begins in starts.items()}
    kernels, callers, bad = 0, 0, []
    without_sp = blocks_of_guests(f"{folder}/without_sp.script")
    for block in without_sp:
        frames, program = frames_of(block), comm_of(block)
        kernel = [address for address, _ in frames if address >> 63]
        user = [symbol for _, symbol in frames[len(kernel):]]
        kernels += bool(kernel)
        callers += len(kernel) > 1
        if len(kernel) > 1 and not (ENDS.match(name(kernel[-1])) and
                                    all(is_right(*pair) for pair in zip(kernel, kernel[1:]))):
            bad.append([name(address) for address in kernel])
        if user and len(kernel) == 1 and not ENDS.match(name(kernel[0])):
            bad.append([name(kernel[0])] + user)
        if program in whole and len(user) > 1 and user not in whole[program]:
            bad.append(user)
    check(callers >= 0.3 * kernels >= 100 and not bad,
          f"without SP: {callers} of {kernels} kernel chains have callers; wrong chains: {bad[:4]}")
    chains = user_chains("known_frames", in_user_code("frame_3"),
                         lambda user: user in whole["known_frames"], without_sp)
    right = sum(user in whole["known_frames"] for _, user, _ in chains)
    check(len(chains) >= 100 and right >= 0.99 * len(chains),
          f"without SP: {right} of {len(chains)} chains in frame_3, by frame pointers, are "
          "complete: at least 0.99")


def check_compared():
    said = re.search(r"(\d+) kernel samples had no stack pointer: (\d+) did not need it, "
                     r"for (\d+) it was found; for (\d+) there was none, .*\n"
                     r".* (\d+) of these chains were wrong", open(f"{folder}/compared").read())
    samples, unneeded, found, none, wrong = map(int, said.groups()) if said else (0, 0, 0, 0, 0)
    check(samples >= 500 and found >= 0.3 * samples and not none and not wrong,
          f"search for known stack pointers: {found} of {samples} were found, {unneeded} "
          f"were not needed; {wrong} wrong, {none} ruled out")


def check_user32():
    whole = ["hot32", "middle32", "_start"]
    chains = [user for _, user, _ in user_chains("user32", in_user_code(*whole),
                                                 lambda user: len(user) == 3)]
    odd = [chain for chain in chains if chain not in (whole, whole[1:], whole[2:])]
    check(len(chains) >= 100 and not odd,
          f"user32: {len(chains) - len(odd)} of {len(chains)} chains of the 32-bit program are "
          f"those of its source {odd[:1]}")


def check_deep():
    """deep_frames: 250 calls deep, with some 36 KiB of stack; sampled in its
    leaf and in the kernel."""
    whole = ["deep_leaf"] + 250 * ["deep_level"] + start
    chains = user_chains("deep_frames", lambda user, _: user[0] == "deep_leaf",
                         lambda user: user == whole)
    wrong_ones = [user for _, user, _ in chains if user != whole[:len(user)]]
    check(not wrong_ones,
          f"deep_frames: {len(wrong_ones)} of {len(chains)} chains have a wrong caller")
    for mode in "user", "kernel":
        right = [user == whole
                 for _, user, of_kernel in chains if bool(of_kernel) == (mode == "kernel")]
        check(len(right) >= 100 and sum(right) >= 0.99 * len(right),
              f"deep_frames: {sum(right)} of {len(right)} chains of 255 user frames, sampled in "
              f"{mode} mode, are complete: at least 0.99")


def is_part(wanted, sequence):
    rest = iter(sequence)
    return all(symbol in rest for symbol in wanted)


def check_scanned():
    """In untold_frames no caller is certain; the true ones must be among the guesses, in their
    order. Only incomplete chains have guesses."""
    callers = ["frame_2", "frame_1", "main", "__libc_start_call_main", "_start"]
    chains, bad, guesses, with_guesses = [], [], 0, 0
    complete, told = map(int, re.search(r"^# Guest call chains: (\d+) of (\d+) complete",
                                        open(f"{folder}/scanned.report").read(), re.M).groups())
    for block in blocks_of_guests(f"{folder}/scanned.script"):
        frames = frames_of(block)
        certain = [address for address, symbol in frames if address >> 63 and symbol[:2] != "? "]
        guessed = [symbol[2:] for _, symbol in frames if symbol[:2] == "? "]
        guesses += len(guessed)
        with_guesses += bool(guessed)
        bad += [pair for pair in zip(certain, certain[1:]) if not is_right(*pair)]
        if comm_of(block) == "untold_frames" and frames and frames[0][1] == "frame_3":
            chains.append((place_of(block), [symbol for _, symbol in frames],
                           len(frames) == 1 + len(guessed) and is_part(callers, guessed)))
    chains = from_first_whole("untold_frames", chains, lambda chain: chain[1],
                              lambda chain: chain[2], lambda chain: chain[0])
    right = sum(good for _, _, good in chains)
    check(len(chains) >= 100 and right >= 0.99 * len(chains) and not bad,
          f"--unwind scan: in {right} of {len(chains)} chains without unwind data, all "
          f"callers are among the guesses: at least 0.99; wrong certain callers: {bad[:4]}")
    check(with_guesses <= told - complete,
          f"{with_guesses} chains have guesses, {guesses / max(with_guesses, 1):.1f} each; "
          f"{complete} of {told} are complete")


def guests_samples(path, *form):
    with open(f"{folder}/{path}", "rb") as file:
        return subprocess.run(["python3", "tests/cli/guest_samples.py", *form], stdin=file,
                              capture_output=True, check=True).stdout.splitlines()


if "native" in sys.argv[2:]:
    ours = guests_samples("as_guest", "guest", open(f"{folder}/pid").read().strip())
    perfs = guests_samples("as_native", "native")
    differ = [pair for pair in zip(ours, perfs) if pair[0] != pair[1]]
    check(len(ours) == len(perfs) >= 5000 and not differ,
          f"convert --native: {len(differ)} of {len(ours)} lines differ in stock perf, which has "
          f"{len(perfs) - len(ours)} more: {differ[:4]}")
if "user32" in sys.argv[2:]:
    check_user32()
if "deep" in sys.argv[2:]:
    check_deep()
if "without_sp" in sys.argv[2:]:
    check_without_sp()
    check_compared()
if "scanned" in sys.argv[2:]:
    check_scanned()
for kind, least in (("random", 100), ("interrupted", 50), ("fault", 20)):
    check(kinds[kind] >= least, f"{kinds[kind]} chains: {kind}")
sys.exit(exit_status())
