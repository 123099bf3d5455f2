#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks what `perfvisor stat report --json` printed.

    check_exits.py golden TEXT         the files EVENT.json have exactly what TEXT expects
    check_exits.py rows JSON KEYS=N…   a row with these keys, separated by /, counts N exits
    check_exits.py names SOURCE        x86's names in SOURCE are those in this kernel's tracefs
"""
import json
import re
import sys

FORMAT = "/sys/kernel/tracing/events/kvm/kvm_exit/format"
failures = []


def check(condition, *what):
    if not condition:
        failures.append(" ".join(map(str, what)))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_golden(text):
    expected = {}
    with open(text, encoding="utf-8") as file:
        lines = [line.split()[1:] for line in file if line.startswith("expect ")]
    for words in lines:
        if words[0] == "unpaired":
            found = load(words[1] + ".json")["unpaired"]
            check(found == int(words[2]), text, "unpaired:", found, "not", words[2])
        elif words[0] == "lost":
            found = load("vmexit.json")["lost"]
            check(found == int(words[1]), text, "lost:", found, "not", words[1])
        else:
            expected.setdefault(words[0], {})[words[1]] = [int(word) for word in words[2:]]
    check(len(expected) >= 2, text, "expects too little")
    for event, rows in expected.items():
        report = load(event + ".json")
        found = {row["reason"].replace(" ", "_"): [
            row[key] for key in ("samples", "total_ns", "min_ns", "median_ns", "p99_ns", "max_ns")]
            for row in report["rows"]}
        check(found == rows, text, event, found, "not", rows)
        for row in report["rows"]:
            buckets = row["histogram"]
            check(sum(count for _, count in buckets) == row["timed"], text, event, buckets)
            check(buckets[0][0] <= row["min_ns"] < 2 * max(buckets[0][0], 1) and
                  buckets[-1][0] <= row["max_ns"] < 2 * max(buckets[-1][0], 1),
                  text, event, row["reason"], buckets)
        check(report["samples"] == sum(row[0] for row in rows.values()), text, event, "samples")
        check(report["total_ns"] == sum(row[1] for row in rows.values()), text, event, "total_ns")


def check_rows(path, *expected):
    rows = {"/".join(str(row[key]) for key in ("reason", "gsym", "vm", "vcpu") if key in row):
            row["samples"] for row in load(path)["rows"]}
    for words in expected:
        keys, _, count = words.rpartition("=")
        check(rows.get(keys) == int(count), path, words, "but", rows)


def check_names(source):
    try:
        with open(FORMAT, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        print(f"skipped: x86's names of exits, because {FORMAT} cannot be read: {error.strerror}")
        return
    with open(source, encoding="utf-8") as file:
        known = set(re.findall(r'\{ (\w+), "([^"]+)" \}', file.read()))
    known = {(int(code, 0), name) for code, name in known}
    names = re.findall(r'\{ ([-+ 0-9a-fx]+), "([^"]+)" \}', text)
    check(len(names) > 100, FORMAT, "has only", len(names), "names")
    for code, name in names:
        number = sum(int(part, 0) for part in code.split(" + ")) & 0xffffffff
        check((number, name) in known or name == "FAILED_VMENTRY", source, "has no", code, name)


{"golden": check_golden, "rows": check_rows, "names": check_names}[sys.argv[1]](*sys.argv[2:])
print("\n".join(failures), end="\n" if failures else "")
sys.exit(bool(failures))
