#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that text has at most 100 columns, and that files of code have at most 500 lines and
functions of C, Python and shell code at most 60; and that folders of src have at most 40 files.

Tables, code and addresses in Markdown files are not checked, nor is data: corpora and recordings.
"""
import ast
import collections
import os
import re
import subprocess
import sys

MAX_COLUMNS, MAX_FUNCTION, MAX_FILE, MAX_FOLDER = 100, 60, 500, 40
# At least so many files must be found, or the check has missed most.
LEAST_FILES = {"C": 300, "Python": 20, "shell": 60, "build": 20, "Markdown": 5}
# Files and functions that are longer, and why splitting them would be worse.
ONE_GUEST = "one made-up guest, and the cases that look at it"
LONG_FILES = {
    "tests/unit/guest/process/test_hostile.c": ONE_GUEST,
    "tests/unit/guest/small_guest.h": "the made-up guest itself, whose parts point to each other",
    "tests/unit/host/capture/test_capture.c": "one made-up kernel, and the cases that sample it",
    "tests/unit/perfdata/test_writer.c": "what is written is read back by one set of helpers",
    "tests/unit/profile/test_guest_processes.c": ONE_GUEST,
    "tests/unit/service/test_stacks.c": ONE_GUEST,
    "tests/unit/unwind/walk/test_unwind.c": "one made-up kernel, and stacks that are walked in it",
}
LONG_FUNCTIONS = {
    "tests/unit/perfdata/test_writer.c:test_records_of_its_own": "records, one after another",
}
failures = []


def list_files():
    """Yields the paths of all files of the tree."""
    run = subprocess.run(["git", "ls-files", "-z"], capture_output=True)
    if run.returncode == 0:
        yield from filter(os.path.isfile, run.stdout.decode().split("\0"))
        return
    for folder, folders, names in os.walk("."):
        folders[:] = [name for name in folders if (folder, name) != (".", "build")]
        yield from (os.path.relpath(os.path.join(folder, name)) for name in names)


def kind_of(path):
    """The kind of the file; None if it is not checked."""
    if path.startswith(("tests/fuzz/corpus/", "tests/golden/perfdata/")):
        return None
    name = os.path.basename(path)
    for kind, pattern in (("C", r".*\.[ch]"), ("Python", r".*\.py"), ("shell", r".*\.sh"),
                          ("build", r"Makefile|meson\.build|meson_options\.txt"),
                          ("Markdown", r".*\.md")):
        if re.fullmatch(pattern, name):
            return kind
    with open(path, "rb") as file:
        head = re.match(rb"#!\S*(?:/env)?[ /](python3|\w*sh)\b", file.readline(100))
    return head and ("Python" if head[1] == b"python3" else "shell")


def functions_between(lines, heading, opening):
    """Yields (name, number of lines) of functions. HEADING matches the line with the name, OPENING
    this or a later one, from which lines are counted; the end is a brace in the first column."""
    name, start = "?", None
    for number, line in enumerate(lines, 1):
        if start is None:
            found = heading.match(line)
            name = found[1] if found else name
            start = number if opening.match(line) else None
        elif line.startswith("}"):
            yield name, number - start + 1
            name, start = "?", None


def functions_of(kind, lines):
    """Yields (name, number of lines) of the functions in LINES."""
    if kind == "C":
        heading = re.compile(r"(?:__attribute__\(\(.*?\)\) )?(?=\w)[^(]*?(\w+) ?\(")
        yield from functions_between(lines, heading, re.compile(r"\{"))
    elif kind == "shell":
        heading = re.compile(r"([\w-]+) *\(\) *[{(] *(#.*)?$")
        yield from functions_between(lines, heading, heading)
    elif kind == "Python":
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.name, node.end_lineno - node.lineno + 1


def long_lines(kind, lines):
    """Yields (number, columns) of lines that are too long."""
    in_code = False
    for number, line in enumerate(lines, 1):
        if kind == "Markdown":
            in_code ^= line.startswith("```")
            if in_code or line.startswith(("|", "    ")) or "://" in line:
                continue
        columns = len(line.expandtabs(8))
        if columns > MAX_COLUMNS:
            yield number, columns


seen_files, seen_functions, counts = set(), set(), dict.fromkeys(LEAST_FILES, 0)
for path in sorted(list_files()):
    kind = kind_of(path)
    if not kind:
        continue
    counts[kind] += 1
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for number, columns in long_lines(kind, lines):
        failures.append(f"{path}:{number}: {columns} columns, more than {MAX_COLUMNS}")
    if len(lines) > MAX_FILE and kind != "Markdown":
        seen_files.add(path)
        if path not in LONG_FILES:
            failures.append(f"{path}: {len(lines)} lines, more than {MAX_FILE}")
    for name, count in functions_of(kind, lines):
        if count <= MAX_FUNCTION:
            continue
        seen_functions.add(f"{path}:{name}")
        if f"{path}:{name}" not in LONG_FUNCTIONS:
            failures.append(f"{path}: {name}() has {count} lines, more than {MAX_FUNCTION}")
folders = collections.Counter(os.path.dirname(path) for path in list_files()
                              if path.startswith("src/"))
for folder, count in folders.items():
    if count > MAX_FOLDER:
        failures.append(f"{folder}: {count} files, more than {MAX_FOLDER}")
for name in (set(LONG_FILES) - seen_files) | (set(LONG_FUNCTIONS) - seen_functions):
    failures.append(f"{name} is not too long any more: remove it from the list in {sys.argv[0]}")
for kind, least in LEAST_FILES.items():
    if counts[kind] < least:
        failures.append(f"only {counts[kind]} files were checked of the kind {kind}")
print("\n".join(failures)
      or ", ".join(f"{count} {kind} files" for kind, count in counts.items())
      + f"; longer than usual, with a reason: {len(LONG_FILES)} files, "
      f"{len(LONG_FUNCTIONS)} functions")
sys.exit(bool(failures))
