#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks every #include "FOLDER/…" in src/ against the table in docs/ARCHITECTURE.md, and finds
cycles."""
import glob
import os
import re
import sys

LEAST_INCLUDES = 1000 # fewer: this script is broken
GENERATED = re.compile(r"config\.h$|.*\.skel\.h$")
failures = []


def read_table(path):
    """Returns: folder -> the set of folders that it may include, or None for all folders."""
    allowed = {}
    with open(path) as document:
        for line in document:
            row = re.match(r"\| src/([\w/]+) \|.*\| *([^|]*?) *\|$", line)
            if row:
                words = row[2].replace("nothing", "").replace(",", " ").split()
                allowed[row[1]] = None if words == ["everything"] else set(words)
    return allowed


def row_of(folder):
    """The nearest folder, this one or one above it, that has a row; "" if there is none."""
    while folder and folder not in allowed:
        folder = os.path.dirname(folder)
    return folder


def read_includes():
    """Yields (file, line number, included path), relative to src/."""
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True)):
        with open(path) as file:
            for number, line in enumerate(file, 1):
                include = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
                if include and not GENERATED.match(include[1]):
                    yield path.removeprefix("src/"), number, include[1]


def find_circle(graph):
    """A list of nodes, each leading to the next and the last to the first; empty: no cycle."""
    done, trail = set(), []

    def visit(node):
        if node in trail:
            return trail[trail.index(node):]
        if node not in done:
            trail.append(node)
            for other in sorted(graph.get(node, ())):
                circle = visit(other)
                if circle:
                    return circle
            trail.pop()
            done.add(node)
        return []

    for node in sorted(graph):
        circle = visit(node)
        if circle:
            return circle
    return []


allowed = read_table("docs/ARCHITECTURE.md")
unknown = {folder for row in allowed.values() for folder in row or ()} - set(allowed)
if unknown:
    failures.append(f"docs/ARCHITECTURE.md: no row for {sorted(unknown)}")
graph, count, used = {}, 0, {}
for file, line, target in read_includes():
    count += 1
    graph.setdefault(file, set()).add(target)
    source, folder = os.path.dirname(file), os.path.dirname(target)
    source, folder = row_of(source), row_of(folder)
    used.setdefault(source, set()).add(folder)
    where = f"src/{file}:{line}"
    if not os.path.exists(f"src/{target}"):
        failures.append(f"{where}: there is no src/{target}: "
                        "an include must have the path below src")
    elif not source:
        failures.append(f"{where}: docs/ARCHITECTURE.md has no row for its folder")
    elif folder != source and allowed[source] is not None and folder not in allowed[source]:
        failures.append(f'{where}: src/{source} may not include "{target}"')
for folder, row in allowed.items():
    if row and row - used.get(folder, set()):
        failures.append(f"docs/ARCHITECTURE.md: src/{folder} does not include anything from "
                        f"{sorted(row - used.get(folder, set()))}")
for name, what in (("files", graph),
                   ("folders", {name: row or () for name, row in allowed.items()})):
    circle = find_circle(what)
    if circle:
        failures.append(f"a cycle of {name}: {' -> '.join(circle + circle[:1])}")
if count < LEAST_INCLUDES:
    failures.append(f"only {count} includes were checked")
print("\n".join(failures) or f"{count} includes of {len(graph)} files in {len(allowed)} folders")
sys.exit(bool(failures))
