#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what perf and perfvisor print of a recording that tracepoint_recording.py made.

    check_tracepoints.py PERF OURS MOST_DIFFERENT FORMAT…

PERF and OURS are the outputs of `script -F time,trace`. Prints how many of the FORMATs are
printed alike in all samples, and those that are not; fails if these are more than MOST_DIFFERENT.
Where perf could not parse a format, and printed its fields, it counts apart. perf prints newlines
and other control characters as they are, perfvisor as \\xNN.
"""
import re
import sys

from tracepoint_recording import SAMPLES, read_format

STAMP = re.compile(r"^ *(\d+)\.(\d{6}):", re.M)
ESCAPE = re.compile(r"\\x([0-9a-f]{2})")
UNPARSED = "[FAILED TO PARSE]"


def read_samples(path):
    """Returns: number of the sample -> text."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        parts = STAMP.split(file.read())
    texts = (ESCAPE.sub(lambda match: chr(int(match[1], 16)), text).rstrip("\n").strip(" ")
             for text in parts[3::3])
    return {int(seconds) * 10**6 + int(microseconds) - 1: text
            for seconds, microseconds, text in zip(parts[1::3], parts[2::3], texts)}


def main(perf_path, our_path, most, *formats):
    perf, ours = read_samples(perf_path), read_samples(our_path)
    if len(perf) != len(formats) * SAMPLES or len(ours) != len(perf):
        sys.exit(f"{len(formats)} formats: perf printed {len(perf)} samples, we {len(ours)}")
    equal, unparsed, different = 0, 0, []
    for number, path in enumerate(formats):
        samples = range(number * SAMPLES, (number + 1) * SAMPLES)
        wrong = [sample for sample in samples if perf[sample] != ours[sample]]
        if not wrong:
            equal += 1
        elif all(perf[sample].startswith(UNPARSED) for sample in samples):
            unparsed += 1
        else:
            different.append(path)
            print(f"{'/'.join(path.split('/')[-3:-1])}: {len(wrong)} of {SAMPLES} differ:")
            for sample in wrong[:2]:
                print(f"  perf: {perf[sample]!r}\n  ours: {ours[sample]!r}")
    print(f"{equal} of {len(formats)} formats are printed like perf does, {unparsed} only perf "
          f"cannot parse, {len(different)} differ")
    sys.exit(len(different) > int(most))


if __name__ == "__main__":
    main(*sys.argv[1:])
