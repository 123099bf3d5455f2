#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts characters that control terminals into each string of recordings, and checks the
output of every command."""
import os
import subprocess
import sys
import tempfile

from steering import find_steering

PERFVISOR, PROGRAMS = sys.argv[1:]
# C0 with ESC, DEL, C1 as UTF-8 (CSI) and as a byte, marks for the direction of text,
# line and paragraph ends.
STEERING = (b"\x1b", b"\n", b"\x7f", b"\xc2\x9b", b"\x9b", "\u202e".encode(),
            "\u2066".encode(), "\u2029".encode())
# Programs that write a recording, their option, and strings in it
# (tests/unit/perfdata/write_example.c, tests/unit/output/write_chains.c): processes, files, VMs,
# kernels, events and functions.
RECORDINGS = (
    ("write_example", "guest-processes",
     (b"hostthread", b"worker", b"database", b"kthread", b"server", b"libserver", b"example-host",
      b"first", b"second", b"6.1.0-example", b"web1", b"cpu-clock")),
    ("write_chains", "",
     (b"do_syscall_64", b"vfs_read", b"spinner", b"/usr/bin/app", b"semi;colon")),
)
COMMANDS = (
    ("report",), ("report", "-s", "vm,vcpu,comm,pid,gcomm,gpid,dso,mode,sym"),
    ("report", "--no-children", "-g", "callee,0"),
    ("report", "--json"), ("report", "--vm", "nosuch"), ("script",),
    ("script", "-F", "comm,pid,tid,cpu,time,event,ip,sym,dso,machine_pid,vcpu"), ("fold",),
    ("report", "--header-only"), ("report", "--header", "-n", "-w", "9,9"),
    ("report", "-t", ";", "-F", "overhead,period,sample,comm,dso,sym"),
    ("report", "--hierarchy", "-s", "vm,comm,dso,sym"), ("report", "-C", "0", "-s", "comm,tid"),
    ("fold", "-e", "nosuch"), ("fold", "--comm", "nosuch"),
    ("diff", "-s", "vm,vcpu,comm,pid,gcomm,gpid,dso,mode,sym"), ("diff", "--vm", "nosuch"),
    ("script", "--vm", "nosuch"), ("fold", "--vm", "nosuch"), ("flamegraph", "--vm", "nosuch"),
    ("convert", "--native", "--vm", "nosuch"),
)
failures, looked_at, escaped = [], 0, 0


def run(command, path):
    files = (path, path) if command[0] == "diff" else ("-i", path)
    done = subprocess.run([PERFVISOR, command[0], *files, *command[1:]], capture_output=True,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


def check_file(path, lines, what):
    global looked_at, escaped
    for command in COMMANDS:
        status, out, said = run(command, path)
        looked_at += 1
        escaped += out.count(b"\\x") + out.count(b"\\u") + said.count(b"\\x")
        for text in out, said:
            found = find_steering(text)
            if found is not None:
                failures.append(f"{what}: {' '.join(command)} prints {found!r}")
        got = out.count(b"\n"), said.count(b"\n")
        # A symbol table with a control character in a name is rejected as a whole: its guest has
        # no names, and a message says why.
        refused = what < b"\x80" and b"table is damaged: a name has control" in said
        if status not in (0, 1) or (lines[command] != got and not refused):
            failures.append(f"{what}: {' '.join(command)}: status {status}, {got} lines, not "
                            f"{lines[command]}")


def try_recording(folder, program, option, names):
    path = f"{folder}/{program}"
    wrote = subprocess.run([f"{PROGRAMS}/{program}", path, *([option] if option else [])],
                           capture_output=True)
    with open(path, "rb") as file:
        whole = file.read()
    if wrote.returncode or not all(name in whole for name in names):
        sys.exit(f"{program}: {wrote.returncode} {wrote.stderr}; names: "
                 f"{[name for name in names if name not in whole]}")
    lines = {}
    for command in COMMANDS:
        _, out, said = run(command, path)
        lines[command] = out.count(b"\n"), said.count(b"\n")
    for bad in STEERING:
        changed = whole
        for name in names:
            # Keep the length, so that nothing else in the file moves.
            changed = changed.replace(name, name[:1] + bad + name[1 + len(bad):])
        with open(path, "wb") as file:
            file.write(changed)
        check_file(path, lines, bad)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    for recording in RECORDINGS:
        try_recording(work, *recording)
expected = len(RECORDINGS) * len(STEERING) * len(COMMANDS)
print("\n".join(failures[:40]))
print(f"{looked_at} of {expected} outputs were checked; {escaped} places were escaped; "
      f"{len(failures)} failures")
sys.exit(bool(failures) or looked_at != expected or escaped < expected)
