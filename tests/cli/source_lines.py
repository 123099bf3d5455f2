#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares call chains with source lines and inlined functions.

    source_lines.py perf PERF.TXT OURS.TXT LEAST
        both are outputs of script with ip, sym, dso and srcline: frames of the test's own files
        must be equal in at least LEAST samples
    source_lines.py addr2line OURS.TXT FOLDER LEAST
        each address in a file below FOLDER has the functions and lines that addr2line prints, and
        there are at least LEAST
"""
import re
import subprocess
import sys

# "  12ab name (/path/file)", or " (inlined)" for a file
NOT_PIE = 0x400000  # where programs that are not position-independent are linked
# The C library's start-up code, which has lines in some distributions, and has line 0 in others
START_UP = {"_start", "_init", "_fini", "__do_global_dtors_aux", "frame_dummy",
            "register_tm_clones", "deregister_tm_clones"}
MOST_LEFT_OUT = 10
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*?)( \((/.*|\[.*\])\))?$")


def samples(path):
    """Yields the chain of each sample: (address, function, file, line), inlined ones without
    file."""
    chain = []
    for text in open(path, encoding="utf-8", errors="replace").read().split("\n"):
        frame = FRAME.match(text)
        if not text:
            if chain:
                yield chain
            chain = []
        elif frame and not text.startswith("  ") or text.startswith("\t"):
            frame = FRAME.match(text)
            name = frame[2].replace(" (inlined)", "")
            chain.append([frame[1], name, frame[4], ""])
        elif text.startswith("  ") and chain:
            line = text.strip().replace(" (inlined)", "")
            # where no line is known, perf has "??:0", nothing, or the file and the address
            chain[-1][3] = line if ":" in line and line != "??:0" else ""


def own(chain, folder):
    """The frames of files in FOLDER, with those inlined into them."""
    found, inlined = [], []
    for frame in chain:
        inlined.append(frame)
        if frame[2] is None and frame[1] != "[unknown]":
            continue
        if frame[2] and frame[2].startswith(folder):
            # others are symbols that perf takes for inlined, since they have two names
            found += [one for one in inlined if one[0] == frame[0]]
        inlined = []
    return found


def compare(perf, ours, least):
    """Compares two outputs of script."""
    folder = "/tmp/"
    left, right = list(samples(perf)), list(samples(ours))
    compared = inlined = left_out = 0
    if len(left) != len(right):
        sys.exit(f"{len(left)} and {len(right)} samples")
    for one, other in zip(left, right):
        one, other = own(one, folder), own(other, folder)
        if other and other[0][1] in START_UP:
            left_out += 1
            continue
        if one != other:
            sys.exit(f"perf: {one}\nours: {other}")
        compared += bool(one)
        inlined += any(frame[2] is None for frame in one)
    print(f"{compared} chains are equal, {inlined} with inlined functions; {left_out} left out")
    if left_out > MOST_LEFT_OUT or compared < least or inlined < least // 4:
        sys.exit("too few")


def addr2line(path, address):
    """What addr2line prints: (function, line), the innermost first."""
    text = subprocess.run(["addr2line", "-i", "-f", "-s", "-e", path, address],
                          capture_output=True, text=True, check=True).stdout.split("\n")
    lines = [line.split(" ")[0] for line in text[1::2]]
    return list(zip(text[::2], ["" if line.startswith("??") else line for line in lines]))


def check(ours, folder, least):
    """Compares with addr2line."""
    found = {}
    for chain in samples(ours):
        frames = []
        for frame in chain:
            frames.append((frame[1], frame[3]))
            if frame[2] and frame[2].startswith(folder) and frame[1] not in START_UP:
                found[(frame[2], frame[0])] = frames
            if frame[2] or frame[1] == "[unknown]":
                frames = []
    for (path, address), frames in found.items():
        # the last one is the symbol, which has a name of its own
        wanted = addr2line(path, address)
        if wanted == [("??", "")]:
            wanted = addr2line(path, hex(int(address, 16) + NOT_PIE))
        if frames != wanted:
            sys.exit(f"{path} {address}: {frames}, but addr2line: {wanted}")
    print(f"{len(found)} addresses are as addr2line has them")
    if len(found) < least:
        sys.exit("too few")


if sys.argv[1] == "perf":
    compare(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    check(sys.argv[2], sys.argv[3], int(sys.argv[4]))
