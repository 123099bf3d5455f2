#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks `perfvisor annotate` of functions of a guest's kernel and of a module: the code that the
recording has of the guest's memory is what was there (code.START, read by guest_bytes), as objdump
disassembles it; samples are at instructions, and an instruction's number is that of the samples
that `perfvisor script` prints with its address.

usage: check_code.py FOLDER
"""
import collections
import glob
import os
import re
import subprocess
import sys

from functions import Functions
from verdict import check, exit_status

folder = sys.argv[1]
functions = Functions(f"{folder}/kallsyms")
perfvisor = os.environ["PERFVISOR"]
LEAST_FUNCTIONS, LEAST_MODULE = 10, 2


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def sample_counts():
    """Address -> how many kernel samples of the guest were taken there."""
    text = output(perfvisor, "script", "-i", f"{folder}/chains", "--mode", "guest,kernel",
                  "-F", "event,ip,sym", "--max-stack", "1")
    return collections.Counter(int(address, 16) for address in
                               re.findall(r"^\s+([0-9a-f]{16}) ", text, re.MULTILINE))


def annotations():
    """(function's name, [(count, address, instruction)])"""
    text = output(perfvisor, "annotate", "-i", f"{folder}/chains", "-n", "--mode",
                  "guest,kernel")
    for part in text.split(" Samples |")[1:]:
        name = re.search(r"^ +: +([0-9a-f]{16}) <(.*)>:$", part, re.MULTILINE)
        rows = re.findall(r"^ +([0-9]+) : +([0-9a-f]+): +(.*)$", part, re.MULTILINE)
        from_guest = "code of the guest's memory" in part
        yield name[2], int(name[1], 16), from_guest, [(int(count), int(address, 16), word)
                                                      for count, address, word in rows]


def memory(start, size):
    """What guest_bytes found there; None: it was not asked."""
    for path in glob.glob(f"{folder}/code.*"):
        begin = int(path.rsplit(".", 1)[1], 16)
        if begin <= start and start + size <= begin + os.path.getsize(path):
            with open(path, "rb") as code:
                code.seek(start - begin)
                return code.read(size)
    return None


def disassemble(start, data):
    """address -> mnemonic, by objdump."""
    with open(f"{folder}/function", "wb") as file:
        file.write(data)
    text = output("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", f"--adjust-vma={start:#x}",
                  "--no-show-raw-insn", f"{folder}/function")
    return {int(address, 16): word for address, word in
            re.findall(r"^\s*([0-9a-f]+):\t(.*)$", text, re.MULTILINE)}


counts = sample_counts()
seen = module = instructions = shown = unknown = 0
wrong = []
for name, start, from_guest, rows in annotations():
    end = functions.end_of(start)
    data = memory(start, end - start)
    if data is None or not from_guest:
        wrong.append(f"{name}: from the guest {from_guest}, bytes {data is not None}")
        continue
    expected = disassemble(start, data)
    if "(bad)" in " ".join(expected.values()):  # newer than objdump, such as lkgs of Linux 7.2
        unknown += 1
        continue
    addresses = [address for _, address, _ in rows]
    if addresses != sorted(expected):
        wrong.append(f"{name}: other instructions than objdump's: "
                     f"{sorted(set(addresses) ^ set(expected))[:4]}")
    for count, address, word in rows:
        if count != counts.get(address, 0):
            wrong.append(f"{name}: {count} at {address:#x}, not {counts.get(address, 0)}")
    inside = sum(count for address, count in counts.items() if start <= address < end)
    if inside != sum(count for count, _, _ in rows):
        wrong.append(f"{name}: {inside} samples, not {sum(count for count, _, _ in rows)}")
    seen += 1
    module += functions.module(start) == "known_chains"
    instructions += len(rows)
    shown += inside

print("\n".join(wrong[:8]))
check(seen >= LEAST_FUNCTIONS and module >= LEAST_MODULE and not wrong
      and unknown <= seen / 50,
      f"{instructions} instructions of {seen} functions ({module} of the module) are the guest's; "
      f"left out, because objdump does not know an instruction: {unknown} functions, at most 2 %")
# The recorder keeps the functions that have 95 % of a guest's samples, but at most 256, which it
# chooses while it records.
hottest = collections.Counter()
for address, count in counts.items():
    hottest[functions.at(address)] += count
most = sum(count for _, count in hottest.most_common(seen + unknown))
check(shown >= min(0.95 * sum(counts.values()), most) * 0.95,
      f"{shown} of {sum(counts.values())} kernel samples are in code that was recorded, at least "
      f"0.95 of what was promised; the hottest functions, as many as were recorded, have {most}")
sys.exit(exit_status())
