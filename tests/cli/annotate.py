#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the text of `perfvisor annotate` with other tools'.

    annotate.py perf PERFS OURS             shares by address with those of perf annotate --stdio
    annotate.py objdump OURS SYMBOL FILE [OBJDUMP [""]]
                                            addresses, mnemonics, targets with objdump's, which
                                            with "" knows other names than we do
    annotate.py samples SYMBOLS FILE OBJDUMP
                                            prints lines for build_recording.py: samples at the
                                            instructions of SYMBOLS, separated by commas
    annotate.py shares OURS SYMBOL FILE OBJDUMP
                                            the shares are those of these samples
"""
import re
import subprocess
import sys

LINE = re.compile(r"\s+([0-9]+(?:\.[0-9]+)?) :\s+([0-9a-f]+):\s+(\S.*)")
HEAD = re.compile(r"\s+:\s+(?:\d+\s+)?([0-9a-f]{16}) <(.+)>:$")
# What capstone calls otherwise than the assemblers of GNU and LLVM.
SAME = {("orr", "mov"), ("nop", "xchg"), ("subf", "sub"), ("beq", "bt"),
        ("bne", "bf")}


def fail(text):
    print(text)
    raise SystemExit(1)


def read_annotations(path):
    """Function's name -> its lines: (address, number in the column, instruction)."""
    functions, lines, seen = {}, [], set()
    for line in open(path, encoding="utf-8", errors="replace"):
        head, row = HEAD.match(line), LINE.match(line)
        if line.startswith((" Percent |", " Samples |")):
            lines = []
        elif head and head[1] not in seen:
            seen.add(head[1])
            functions[head[2]] = lines
        elif row:
            lines.append((int(row[2], 16), float(row[1]), row[3].strip()))
    return functions


def read_objdump(symbol, path, tool):
    """The function's (address, mnemonic, operands), without what fills the space after it."""
    start, end = extent_of(symbol, path)
    text = subprocess.run([tool, "-d", "--no-show-raw-insn", f"--start-address={start:#x}",
                           f"--stop-address={end:#x}", path],
                          capture_output=True, text=True, check=True).stdout
    rows = []
    for line in text.splitlines():
        row = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if row and row[2] != "..." and int(row[1], 16) < end:
            rows.append((int(row[1], 16), row[2], row[3]))
    return rows or fail(f"{tool} has no {symbol}")


def extent_of(symbol, path):
    """Where the function begins and ends, as nm has it."""
    for options in (), ("-D",):
        text = subprocess.run(["nm", "-S", *options, path], capture_output=True, text=True,
                              check=False).stdout
        row = re.search(rf"^([0-9a-f]+) ([0-9a-f]+) [TtWwi] {re.escape(symbol)}(@.*)?$", text,
                        re.MULTILINE)
        if row:
            return int(row[1], 16), int(row[1], 16) + int(row[2], 16)
    return fail(f"nm has no {symbol} in {path}")


def word(text):
    """The mnemonic without what the tools write differently: suffixes of sizes, prefixes."""
    parts = text.split()
    while len(parts) > 1 and parts[0] in ("lock", "rep", "repz", "repnz", "notrack", "bnd", "cs",
                                          "data16", "addr32"):
        parts = parts[1:]
    return parts[0]


def same_word(left, right):
    if left == right or (left, right) in SAME:
        return True
    short, long = sorted((left, right), key=len)
    return len(long) == len(short) + 1 and long.startswith(short) and long[-1] in "bwlq"


def compare_perf(perfs, ours):
    perfs, ours = read_annotations(perfs), read_annotations(ours)
    compared = 0
    for name, lines in perfs.items():
        mine = {address: share for address, share, _ in ours.get(name, [])}
        if name not in ours:
            fail(f"no annotation of {name}: there are {sorted(ours)}")
        for address, share, text in lines:
            if address not in mine or abs(mine[address] - share) > 0.011:
                fail(f"{name}: {address:x} {text}: perf has {share}, not {mine.get(address)}")
        if len(lines) != len(mine):
            fail(f"{name}: {len(lines)} instructions in perf, {len(mine)} here")
        compared += len(lines)
    print(f"{compared} instructions of {len(perfs)} functions")
    return compared


def compare_objdump(ours, symbol, path, tool="objdump", names="names"):
    lines = read_annotations(ours).get(symbol) or fail(f"no annotation of {symbol}")
    expected = read_objdump(symbol, path, tool)
    if tool != "objdump": # which prints data at the end of a function as "..."
        lines = [line for line in lines if not line[2].startswith(".byte")]
    if [line[0] for line in lines] != [row[0] for row in expected]:
        differing = sorted({line[0] for line in lines} ^ {row[0] for row in expected})
        fail(f"{symbol}: addresses differ: {[hex(address) for address in differing[:5]]}, "
             f"{len(lines)} and {len(expected)} instructions")
    for (address, _, text), (_, mnemonic, operands) in zip(lines, expected):
        if not same_word(word(text), word(f"{mnemonic} {operands}")):
            fail(f"{symbol}: {address:x} is '{text}', {tool}: {mnemonic} {operands}")
        target = re.search(r"\b(?:0x)?([0-9a-f]+) (<[^>]+>)", operands)
        if (target and re.match("j|call|b|cb|tb", mnemonic) and
                f"{target[1]} {target[2]}"[:None if names else len(target[1])] not in text):
            fail(f"{symbol}: {address:x} is '{text}', {tool}: {mnemonic} {operands}")
    print(f"{len(lines)} instructions of {symbol}")


def periods(rows):
    """Every second instruction has samples, each a period of its own."""
    return {row[0]: 3 + index for index, row in enumerate(rows) if index % 2}


def print_samples(symbols, path, tool):
    """FILE is mapped where it was linked."""
    print("event type=1 config=0 sample=IP,TID,TIME,PERIOD\ncomm 77 workload")
    for line in subprocess.run(["readelf", "-lW", path], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        part = line.split()
        if part[:1] == ["LOAD"] and "E" in part[6:-1]:
            offset, address, size = (int(part[i], 16) for i in (1, 2, 5))
            start = address & ~0xfff
            print(f"mmap 77 {start:#x} {(size + 0x1fff) & ~0xfff:#x} "
                  f"{offset & ~0xfff:#x} {path}")
    time = 1000
    for symbol in symbols.split(","):
        for address, period in periods(read_objdump(symbol, path, tool)).items():
            time += 1
            print(f"sample pid=77 time={time} ip={address:#x} period={period}")


def check_shares(ours, symbol, path, tool):
    lines = read_annotations(ours).get(symbol) or fail(f"no annotation of {symbol}")
    expected = periods(read_objdump(symbol, path, tool))
    total = sum(expected.values())
    for address, share, text in lines:
        want = 100 * expected.get(address, 0) / total
        if abs(share - want) > 0.0051:
            fail(f"{symbol}: {address:x} {text} has {share} %, not {want:.2f} %")
    if abs(sum(line[1] for line in lines) - 100) > 0.006 * len(lines):
        fail(f"{symbol}: the shares are not 100 % together")


def main():
    mode, *rest = sys.argv[1:]
    if mode == "perf":
        if compare_perf(*rest) < 10:
            fail("too few instructions to compare")
    elif mode == "objdump":
        compare_objdump(*rest)
    elif mode == "samples":
        print_samples(*rest)
    elif mode == "shares":
        check_shares(*rest)
    else:
        fail(__doc__)


main()
