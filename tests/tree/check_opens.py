#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that files are opened in other ways than open_untrusted() (src/base/files/untrusted.h)
only where opens.txt says so, and that it gives a reason."""
import glob
import re
import sys

LEAST_OPENS = 40 # fewer: this script is broken
# Calls that open a path, or create it; those with a root are open_untrusted()'s without NULL.
OPEN = re.compile(r"""\b(?:
    (?:open|openat|fopen|freopen|opendir|scandir|glob|creat|mkstemp|mkostemp|popen|dlopen|nftw
       |fts_open|posix_spawn_file_actions_addopen|gzopen|file_read|file_load) \s* \( |
    (?:file_open|file_read_below|kallsyms_add|kallsyms_load|kallsyms_find_symbol) \s* \( \s* NULL |
    SYS_openat2?\b
)""", re.X)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
DEFINITION = re.compile(r"^(?:static )?(?:struct|int|bool|void|char|DIR|FILE)[^\n;=]*\(", re.M)
failures = []


def count_opens(path):
    with open(path) as file:
        code = COMMENT.sub("", file.read())
    lines = [line for line in code.splitlines() if not DEFINITION.match(line)]
    return sum(len(OPEN.findall(line)) for line in lines)


def read_list(path):
    """FILE -> the number of its calls; a line without a blank in front starts a reason."""
    allowed, reason = {}, ""
    with open(path) as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            if not line[0].isspace():
                reason = line.strip()
                continue
            name, count = line.split()
            if not reason.endswith(":") or name in allowed:
                failures.append(f"{path}: {name} has no reason, or two")
            allowed[name] = int(count)
    return allowed


allowed = read_list("tests/tree/opens.txt")
found = {}
for path in sorted(glob.glob("src/**/*.[ch]", recursive=True)):
    count = count_opens(path)
    if count:
        found[path] = count
for path in sorted(set(allowed) | set(found)):
    if allowed.get(path, 0) != found.get(path, 0):
        failures.append(f"{path}: opens files in {found.get(path, 0)} places, not in "
                        f"{allowed.get(path, 0)} as tests/tree/opens.txt says: what somebody else "
                        "names is opened by open_untrusted()")
if sum(found.values()) < LEAST_OPENS:
    failures.append(f"only {sum(found.values())} calls were found")
print("\n".join(failures) or f"{sum(found.values())} calls in {len(found)} files")
sys.exit(bool(failures))
