#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that C code has at most 100 columns, 60 lines in a function and 500 in a file."""
import glob
import sys

MAX_COLUMNS, MAX_FUNCTION, MAX_FILE, LEAST_FILES = 100, 60, 500, 300
# Files and functions that are longer, and why splitting them would be worse.
ONE_GUEST = "one made-up guest, and the cases that look at it"
LONG_FILES = {
    "tests/unit/guest/process/test_hostile.c": ONE_GUEST,
    "tests/unit/guest/small_guest.h": "the made-up guest itself, whose parts point to each other",
    "tests/unit/host/capture/test_capture.c": "one made-up kernel, and the cases that sample it",
    "tests/unit/perfdata/test_writer.c": "what is written is read back by one set of helpers",
    "tests/unit/profile/test_guest_processes.c": ONE_GUEST,
    "tests/unit/service/test_stacks.c": ONE_GUEST,
    "tests/unit/unwind/walk/test_unwind.c": "one made-up kernel, and the stacks that are walked in it",
}
LONG_FUNCTIONS = {
    "tests/unit/perfdata/test_writer.c:test_records_of_its_own": "a list of records, one after another",
}
failures = []


def long_functions(lines):
    """Yields (name, lines) of functions that are too long; braces are in the first column."""
    head, start = "", None
    for number, line in enumerate(lines):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start is not None:
            if number - start + 1 > MAX_FUNCTION:
                yield head.partition("(")[0].split()[-1].lstrip("*"), number - start + 1
            start = None
        elif start is None and "(" in line and line[:1].isalpha():
            head = line


listed = sorted(path for folder in ("src", "lab", "tests", "bench") for path in glob.glob(f"{folder}/**/*.[ch]", recursive=True))
seen_files, seen_functions = set(), set()
for path in listed:
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines, 1):
        if len(line.expandtabs(8)) > MAX_COLUMNS:
            failures.append(f"{path}:{number}: {len(line.expandtabs(8))} columns, more than {MAX_COLUMNS}")
    if len(lines) > MAX_FILE:
        seen_files.add(path)
        if path not in LONG_FILES:
            failures.append(f"{path}: {len(lines)} lines, more than {MAX_FILE}")
    for name, count in long_functions(lines):
        seen_functions.add(f"{path}:{name}")
        if f"{path}:{name}" not in LONG_FUNCTIONS:
            failures.append(f"{path}: {name}() has {count} lines, more than {MAX_FUNCTION}")
for name in (set(LONG_FILES) - seen_files) | (set(LONG_FUNCTIONS) - seen_functions):
    failures.append(f"{name} is not too long any more: remove it from the list in {sys.argv[0]}")
print("\n".join(failures) or f"{len(listed)} files; longer than usual, with a reason: {len(LONG_FILES)} files, "
      f"{len(LONG_FUNCTIONS)} functions")
if len(listed) < LEAST_FILES:
    print(f"only {len(listed)} files were checked")
sys.exit(bool(failures) or len(listed) < LEAST_FILES)
