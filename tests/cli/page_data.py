# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the data of a report's page, as src/output/flamegraph.c and page_times.c describe them, and
checks that all of it adds up.

    page_data.py PAGE [PROCESS]        PROCESS: the only one
"""
import base64
import collections
import json
import re
import sys

PROCESS = 3  # the kind of its frames


def read(path):
    page = open(path, encoding="utf-8").read()
    found = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    if len(found) != 1 or "<" in found[0] or page.count("<script") != 2:
        sys.exit(f"{path}: a name has broken out of the data")
    if re.search(r'(src|href)\s*=\s*["\']?(https?:)?//|url\(|@import|fetch\(|XMLHttp',
                 page.replace(found[0], "")):
        sys.exit(f"{path}: loads something")
    return json.loads(found[0])


def numbers(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def entries(times):
    """Yields (bucket, slot, samples, period in units)."""
    each = numbers(base64.b64decode(times["list"], validate=True))
    for bucket in range(times["buckets"]):
        slot = 0
        for _ in range(next(each)):
            word = next(each)
            slot += word >> 2
            samples = next(each) if word & 1 else 1
            period = next(each) if word & 2 else samples * times["usual"]
            yield bucket, slot, samples, period * times["rounding"]
    if next(each, None) is not None:
        sys.exit("the list is longer than its buckets")


def main():
    data = read(sys.argv[1])
    if "times" not in data:
        sys.exit(bool(data["samples"]))
    times, samples, taken = data["times"], iter(data["samples"]), collections.Counter()
    nodes, node = [], 0
    for delta in times["slots"][::2]:
        node += delta
        nodes.append(node)
    period, per_node = collections.Counter(), collections.Counter(nodes)
    for _, slot, count, weight in entries(times):
        taken[nodes[slot]] += count
        period[nodes[slot]] += weight
    own = data["tree"][1::3]
    counts = [next(samples) if each else 0 for each in own]
    processes = {data["names"][name] for name, _, kind in zip(*[iter(data["frames"])] * 3)
                 if kind == PROCESS}
    results = {
        "samples": [taken[i] for i in range(len(own))] == counts,
        # Of each slot, and some nodes have several.
        "periods": all(abs(period[node] - own[node]) <= times["rounding"] // 2 * per_node[node]
                       for node in per_node) if times["rounding"] > 1
                   else [period[i] for i in range(len(own))] == own,
        "processes": len(sys.argv) < 3 or processes == {sys.argv[2]},
        "no sample is left out": sum(counts) > 0,
    }
    for what, good in results.items():
        if not good:
            print(f"{sys.argv[1]}: FAILED: {what}")
    sys.exit(not all(results.values()))


main()
