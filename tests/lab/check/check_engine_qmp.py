#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what --engine qmp recorded of test_engine_qmp.sh's guest with the
guest's workload and kernel."""
import re
import sys

from functions import Functions
from left_out import from_first_whole
from script_text import comm_of, frames_of, place_of, read_blocks
from told_share import told_share
from verdict import check, exit_status

folder, vcpus = sys.argv[1], int(sys.argv[2])
START = ["main", "__libc_start_call_main", "__libc_start_main_impl", "_start"]


def read(name):
    return open(f"{folder}/{name}", errors="replace").read()


def check_share(chains):
    """hot_a has three of four calls; its share of the time comes from the guest's
    own clock (user7525.c)."""
    in_a, in_b = (sum(chain[0] == name for chain in chains) for name in ("hot_a", "hot_b"))
    expected = told_share(read("console.before"), read("console.after")) or 0
    count = in_a + in_b
    share = in_a / max(count, 1)
    # Five standard deviations of a binomial share, plus the shift because QEMU stops
    # only between code blocks.
    bound = 5 * (expected * (1 - expected) / max(count, 1)) ** 0.5 + 0.01
    check(count >= 150 and 0.6 <= expected <= 0.9 and abs(share - expected) <= bound,
          f"hot_a has {share:.3f} of {count} samples; by the guest's clock it is {expected:.3f}; "
          f"bound {bound:.3f}")


def names_of(block):
    return [name.split("+")[0] for _, name in frames_of(block)]


def whole_ones(what, blocks):
    """From the first complete chain on. Little is left out, because the guest is
    stopped while it is read."""
    return [names_of(block) for block in from_first_whole(
        what, blocks,
        lambda block: [name for address, name in frames_of(block) if not address >> 63],
        lambda block: names_of(block)[-1] == "_start", place_of, 0.1)]


def check_user(blocks):
    blocks = [block for block in blocks if not frames_of(block)[0][0] >> 63]
    check_share([names_of(block) for block in blocks])
    in_program = [block for block in blocks if names_of(block)[0] in ("hot_a", "hot_b", "main")]
    others = [names_of(block) for block in blocks if block not in in_program]
    check(len(in_program) >= 0.98 * len(blocks),
          f"{len(in_program)} of {len(blocks)} user samples are in user7525's own functions: at "
          f"least 0.98; others: {others[:4]}")
    whole = whole_ones("user7525", in_program)
    right = sum(chain in (START, ["hot_a"] + START, ["hot_b"] + START) for chain in whole)
    check(len(whole) >= 150 and right == len(whole),
          f"{right} of {len(whole)} chains are those of its source, up to _start")


def check_kernel(blocks):
    functions = Functions(f"{folder}/kallsyms")
    frames = [frame for block in blocks for frame in frames_of(block) if frame[0] >> 63]
    wrong = [(hex(address), name) for address, name in frames
             if name.split("+")[0] not in functions.name(address).split("/")
             and name.split("+")[0] not in functions.name(address - 1).split("/")]
    check(len(frames) >= 300 and not wrong,
          f"{len(frames)} frames of the kernel are named as in its own kallsyms; "
          f"wrong: {wrong[:4]}")
    reads = whole_ones("reader", [block for block in blocks if comm_of(block) == "reader"])
    deep = sum(chain[-1] == "_start" for chain in reads)
    check(len(reads) >= 150 and deep >= 0.98 * len(reads),
          f"{deep} of {len(reads)} chains of reader lead to _start")


def check_counts(blocks):
    said = read("err")
    asked = re.search(r"asked for 200 Hz, QEMU answered [\d.]+ times a second \((\d+) of (\d+)\).* "
                      r"(\d+) samples hit a halted vCPU", said)
    written = re.search(r"(\d+) samples \(guest kernel (\d+), guest user (\d+), host 0\), 0 lost",
                        said)
    check(asked and written, "it prints a summary")
    if not asked or not written:
        return
    looks, due, halted = map(int, asked.groups())
    check(len(blocks) == int(written[1]) and int(written[1]) + halted == vcpus * looks,
          f"{written[1]} samples and {halted} halted vCPUs in {looks} queries of {vcpus} "
          f"vCPUs; {due} were due")
    check(halted >= looks / 2, "a vCPU is idle")
    told = re.search(r"Event count \(approx\.\): (\d+)", read("report"))
    seconds, of_all = (int(told[1]) / 1e9 * looks / int(written[1]) if told else 0,
                       int(read("seconds")))
    check(0.75 * of_all <= seconds <= of_all + 0.5,
          f"the samples stand for {seconds:.2f} of {of_all} seconds of each vCPU")


def check_pauses():
    after = read("killed.status").splitlines()
    check(after == ["VM status: running"] * 4, f"after the recorder was killed: {after}")
    check("paused" in read("paused.status"),
          f"a guest paused by someone else: {read('paused.status')}")
    check("the guest is paused" in read("paused.err"), f"a message says so: {read('paused.err')}")


def check_names(name):
    """A kernel's functions, processes and the VM have names."""
    report = read(f"{name}.report")
    check(re.search(r"^ .* tcg +user7525 +\[u\] (hot_[ab]|main)\b", report, re.M) and
          re.search(r"^ .* tcg +reader +\[g\] [a-z_]", report, re.M),
          f"{name}: it has names: {report[:2000]}")


def check_cut_off(name):
    check_names(name)
    report = read(f"{name}.report")
    check(re.search(rf"recording '\S*/{name}' was cut off at \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d, "
                    r"[\d.]+ s after it began", report),
          f"{name}: it is said to be cut off, and when: {report[:300]}")


def check_endings():
    check_cut_off("killed")
    check_cut_off("limited")
    check(read("limited.status").strip() == "1" and "could not write" in read("limited.err") and
          "can be read" in read("limited.err"),
          f"limited: it ends with a message: {read('limited.err')}")
    check_names("piped")
    check("cut off" not in read("piped.report") and "from the command" in read("piped.err"),
          "piped: nothing else is in the pipe")


samples = read_blocks(f"{folder}/script")
check_user([block for block in samples if comm_of(block) == "user7525"])
check_kernel(samples)
check_counts(samples)
check_pauses()
check_endings()
sys.exit(exit_status())
