# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what `perfvisor export` wrote, with times, with what perf prints of the recording.

    timed_profiles.py firefox FILE SCRIPT FUNCTIONS
    timed_profiles.py chrome READ SCRIPT FUNCTIONS       READ: what read_chrome.mjs prints

SCRIPT: `perf script --ns -F machine_pid,vcpu,comm,pid,tid,time,event,ip,sym,dso`. FUNCTIONS: where
to find those of the samples: "script"; or the report of tests/unit/output/write_chains.c, for
guests' functions, which perf does not name; or "none".
"""
import collections
import json
import re
import sys

from collapse import LINE, tidy

failures = []


def check(good, what):
    if not good and len(failures) < 20:
        failures.append(what)


def function_of(line):
    _, function, file = LINE.match(line).groups()
    function = re.sub(r"\+0x[0-9a-f]+$", "", function)
    if function == "[unknown]" != file:
        function = "[" + file.split("/")[-1].removesuffix(" (deleted)") + "]"
    return tidy(function)


HEAD = re.compile(r"(?:VM:\s*(\d+) VCPU:(\d+))?\s*(\S.*?)\s+(-?\d+)/(-?\d+)\s+(\d+)\.(\d+):"
                  r"\s+(\S+): ")


def read_script(path):
    """Yields (thread, ns, functions) of each sample of the first event."""
    first, sample = None, None
    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.rstrip("\n")
        head = HEAD.match(line + " ")
        if line.startswith("\t") and sample:
            sample[2].insert(0, function_of(line))
        elif head:
            vm, vcpu, _, pid, tid, seconds, ns, event = head.groups()
            first = first or event
            thread = (int(vm), f"vCPU {int(vcpu)}") if vm else (int(pid), int(tid))
            sample = (thread, int(seconds) * 10**9 + int(ns), [])
            if event == first:
                yield sample
        else:
            sample = None


# The types of columns: src/types/profile.ts of the Firefox Profiler, at version 58 of the format.
# A name is the table that an index refers to; '?': or null; '-1': or that.
TABLES = {
    "samples": {"stack": "stackTable?", "time": float},
    "stackTable": {"frame": "frameTable", "prefix": "stackTable?"},
    "frameTable": {"address": int, "inlineDepth": int, "category": "categories",
                   "subcategory": int, "func": "funcTable", "nativeSymbol": "nativeSymbols?",
                   "innerWindowID": int, "line": None, "column": None},
    "funcTable": {"name": "strings", "isJS": bool, "relevantForJS": bool,
                  "resource": "resourceTable-1", "source": None, "lineNumber": None,
                  "columnNumber": None},
    "resourceTable": {"lib": "libs", "name": "strings", "host": None, "type": int},
    "nativeSymbols": {"libIndex": int, "address": int, "name": int, "functionSize": int},
    "markers": {"data": int, "name": int, "startTime": int, "endTime": int, "phase": int,
                "category": int},
}
THREAD = {"processType": str, "processStartupTime": float, "processShutdownTime": None,
          "registerTime": float, "unregisterTime": None, "pausedRanges": list, "name": str,
          "processName": str, "isMainThread": bool, "pid": str, "tid": int}
META = {"interval": float, "startTime": int, "processType": int, "product": str, "stackwalk": int,
        "version": int, "preprocessedProfileVersion": int, "markerSchema": list,
        "categories": list, "symbolicated": bool, "importedFrom": str}
LIB = {"arch": str, "name": str, "path": str, "debugName": str, "debugPath": str,
       "breakpadId": str}
COLOURS = {"transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown",
           "magenta", "red", "lightred", "darkgrey", "grey"}


def has_type(value, kind):
    if kind is None:
        return value is None
    if kind is float:
        return type(value) in (int, float)
    return type(value) is kind


def check_cell(value, kind, sizes):
    """An index, or a value of a type."""
    if not isinstance(kind, str):
        return has_type(value, kind)
    name, extra = re.match(r"(\w+?)(\?|-1)?$", kind).groups()
    if extra == "?" and value is None or extra == "-1" and value == -1:
        return True
    return type(value) is int and 0 <= value < sizes[name]


def check_fields(record, fields, what):
    for name, kind in fields.items():
        check(name in record and has_type(record[name], kind), f"{what}: {name}")


def check_thread(thread, shared):
    check_fields(thread, THREAD, "thread")
    sizes = dict(shared, **{name: thread[name]["length"] for name in TABLES})
    for name, columns in TABLES.items():
        table = thread[name]
        extra = {"weight", "weightType"} if name == "samples" else set()
        check(set(table) == {*columns, *extra, "length"}, f"{name} has {sorted(table)}")
        for column, kind in columns.items():
            check(len(table[column]) == table["length"], f"{name}: length of {column}")
            check(all(check_cell(value, kind, sizes) for value in table[column]),
                  f"{name}: {column}")
    prefixes = thread["stackTable"]["prefix"]
    check(all(prefix is None or prefix < i for i, prefix in enumerate(prefixes)),
          "a stack is before its prefix")
    times = thread["samples"]["time"]
    check(times == sorted(times), "times are in order")
    check(thread["samples"]["weightType"] == "samples", "weightType")


def check_firefox(data):
    check_fields(data["meta"], META, "meta")
    check(data["meta"]["preprocessedProfileVersion"] == 58, "version")
    categories = data["meta"]["categories"]
    check(any(category["color"] == "grey" for category in categories), "a grey category")
    for category in categories:
        check(category["color"] in COLOURS and category["subcategories"][:1] == ["Other"],
              f"category {category}")
    for lib in data["libs"]:
        check_fields(lib, LIB, "lib")
        check(lib["codeId"] is None or re.fullmatch("[0-9a-f]{8,64}", lib["codeId"]), "codeId")
    strings = data["shared"]["stringArray"]
    check(all(isinstance(text, str) for text in strings), "strings")
    check(data["shared"]["sources"] == {"uuid": [], "filename": [], "length": 0}, "sources")
    shared = {"strings": len(strings), "libs": len(data["libs"]), "categories": len(categories)}
    for thread in data["threads"]:
        check_thread(thread, shared)
    check(len({(t["pid"], t["tid"]) for t in data["threads"]}) == len(data["threads"]),
          "threads are distinct")


def read_firefox(data):
    strings = data["shared"]["stringArray"]
    for thread in data["threads"]:
        stacks, frames, functions = (thread[name] for name in
                                     ("stackTable", "frameTable", "funcTable"))
        name = thread["name"] if thread["name"].startswith("vCPU ") else thread["tid"]
        for stack, time in zip(thread["samples"]["stack"], thread["samples"]["time"]):
            names = []
            while stack is not None:
                function = frames["func"][stacks["frame"][stack]]
                names.insert(0, strings[functions["name"][function]])
                stack = stacks["prefix"][stack]
            yield (int(thread["pid"]), name), round(time * 10**6), names


def read_chrome(found):
    for pid, tid, time, names in found:
        yield (pid, tid), round(time * 1000) * 1000, names


def as_chrome(thread, ns):
    """In microseconds; a vCPU whose thread is not known by its number."""
    if isinstance(thread[1], str):
        thread = thread[0], int(thread[1].removeprefix("vCPU "))
    return thread, ns // 1000 * 1000


def read_truth(path):
    """(whether it is a vCPU, the guest's process, functions) -> how many."""
    stacks = collections.Counter()
    for line in open(path, encoding="utf-8", errors="replace"):
        period, _, vcpu, process, *frames = line.rstrip("\n").split("\t")
        names = [frame.split(" ", 2)[2].replace("\x1b", "?") for frame in frames]
        stacks[vcpu != "-", process if vcpu != "-" else None, tuple(names)] += int(period) // 250000
    return stacks


def of_truth(thread, names):
    """The same of a sample; guests' processes are the first element, with their pid."""
    names = [name.replace("\x1b", "?") for name in names]
    vcpu = isinstance(thread[1], str) or thread[1] < 2
    if vcpu:
        return True, re.sub(r" \(\d+\)$", "", names[0]), tuple(names[1:])
    return False, None, tuple(names)


def main():
    kind, path, script, functions = sys.argv[1:]
    data = json.load(open(path, encoding="utf-8"))
    if kind == "firefox":
        check_firefox(data)
    got = list(read_firefox(data) if kind == "firefox" else read_chrome(data))
    want = list(read_script(script))
    if kind == "chrome":
        want = [(*as_chrome(*sample[:2]), sample[2]) for sample in want]
    check(len(want) > 40, f"only {len(want)} samples")
    moments = [collections.Counter(sample[:2] for sample in samples) for samples in (got, want)]
    check(moments[0] == moments[1],
          f"times and threads: only perfvisor has {list((moments[0] - moments[1]).items())[:3]}, "
          f"only perf {list((moments[1] - moments[0]).items())[:3]}")
    if functions == "script":
        stacks = collections.Counter((thread, ns, tuple(map(tidy, names)))
                                     for thread, ns, names in got)
        truth = collections.Counter((thread, ns, tuple(names)) for thread, ns, names in want)
    elif functions != "none":
        stacks = collections.Counter(of_truth(thread, names) for thread, _, names in got)
        truth = read_truth(functions)
    else:
        stacks = truth = collections.Counter()
    check(stacks == truth, f"stacks: only perfvisor has {list((stacks - truth).items())[:3]}, "
                           f"only perf {list((truth - stacks).items())[:3]}")
    print(kind, path, len(got), "samples of", len({sample[0] for sample in got}), "threads,",
          len(set(truth)), "stacks", *failures)
    sys.exit(bool(failures))


main()
