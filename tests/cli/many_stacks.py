# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording whose flame graph has far more frames than can be seen.

    many_stacks.py                 prints the text for build_recording.py
    many_stacks.py PAGE [report]   checks the page: which frames are kept, and that sums are exact;
                                   report: the page of a report keeps fewer, to have room for times

Functions are files without symbols, which the page names "[fN]".
"""
import collections
import json
import os
import random
import re
import sys

FILES, DEPTH, SAMPLES = 150, 40, 12000
START, BYTES = 0x400000, 0x10000
KEPT_IN_REPORT = 60000
KEPT, MOST_BYTES, SMALL = 120000, 4 << 20, 9 # frames, bytes of a page, kind of what is merged


def stacks():
    """Yields lists of file numbers: alike at first, and all different further in."""
    source = random.Random(7)
    for _ in range(SAMPLES):
        yield [source.randrange(3 if depth < 6 else FILES) for depth in range(DEPTH)]


def write():
    print("event type=1 config=0 sample=IP,TID,TIME,PERIOD,CALLCHAIN")
    print("comm 7 many")
    for number in range(FILES):
        print(f"mmap 7 {START + number * BYTES:#x} {BYTES:#x} 0 /nowhere/f{number}")
    for time, files in enumerate(stacks()):
        chain = [hex(START + number * BYTES + 0x100) for number in reversed(files)]
        print(f"sample pid=7 time={time} ip={chain[0]} period=1 chain=USER,{','.join(chain)}")


def read_page(path):
    """Yields (path of names, kind, samples of its own) of each frame."""
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>',
                                open(path, encoding="utf-8").read(), re.S)[1])
    samples, above = iter(data["samples"]), []
    for i in range(len(data["tree"]) // 3):
        frame, own, up = data["tree"][3 * i:3 * i + 3]
        del above[len(above) - up:]
        above.append(data["names"][data["frames"][3 * frame]])
        yield tuple(above[1:]), data["frames"][3 * frame + 2], next(samples) if own else 0
    yield None, None, data["merged"]


def check_sums(kept, small, own, truth):
    """Each frame that is kept has its samples, and the others below it are in one."""
    failures = sum(path[:-1] not in kept for path in kept if path)
    total, children = collections.Counter(own), collections.Counter()
    for path in sorted([*kept, *small], key=len, reverse=True):
        if path:
            total[path[:-1]] += total[path]
    for path in kept:
        if path:
            children[path[:-1]] += truth[path]
        failures += total[path] != truth[path]
    for path in small:
        above = path[:-1]
        failures += own[path] != truth[above] - children[above] - own[above]
    return failures


def check(path, most):
    truth = collections.Counter()
    for files in stacks():
        names = ("many", *(f"[f{number}]" for number in files))
        truth.update(names[:i] for i in range(len(names) + 1))
    *frames, (_, _, merged) = read_page(path)
    own = {name: count for name, _, count in frames}
    kept = {name for name, kind, _ in frames if kind != SMALL}
    small = [name for name, kind, _ in frames if kind == SMALL]
    least = min(truth[name] for name in kept)
    lost = [name for name in truth if truth[name] > least and name not in own]
    results = {
        "a page under 4 MB": os.path.getsize(path) < MOST_BYTES,
        "frames enough to be merged": len(truth) > 3 * most and small,
        "as many as can be": len(kept) == most,
        "the largest are kept": not lost,
        "all that is merged is counted": merged == len(truth) - len(kept),
        "sums": check_sums(kept, small, own, truth) == 0,
        "all samples": sum(own.values()) == SAMPLES,
    }
    print(len(truth), "frames,", len(kept), "kept,", os.path.getsize(path), "bytes")
    print("\n".join("FAILED: " + what for what, good in results.items() if not good))
    sys.exit(not all(results.values()))


if sys.argv[1:]:
    check(sys.argv[1], KEPT_IN_REPORT if sys.argv[2:] == ["report"] else KEPT)
else:
    write()
