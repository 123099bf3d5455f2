#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Types lines with TAB into bash, zsh or fish on a terminal of its own:
check_completion.py SHELL PERFVISOR

A stand-in answers for perfvisor: 'list --json' lists the VM of the case, and what
else it is called with is what came of the line."""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

SHELL, PERFVISOR = sys.argv[1:]
WAIT_SECONDS = 120  # then the shell does not answer at all

STAND_IN = """#!/bin/sh
case "$1" in
list) cat "$WORK/vms" ;;
*) printf '%s\\0' "$@" >"$WORK/called"; echo $(($(cat "$WORK/count") + 1)) >"$WORK/count" ;;
esac
"""
STARTS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "PS1='ready$(cat \"$WORK/count\")>'; eval \"$($REAL_PERFVISOR completion bash)\"\n"),
    "zsh": (["zsh", "-f", "-i"],
            "autoload -U compinit; compinit -u -D; setopt prompt_subst; "
            "PROMPT='ready$(cat \"$WORK/count\")>'; "
            "eval \"$($REAL_PERFVISOR completion zsh)\"\n"),
    "fish": (["fish", "-i"],
             "function fish_prompt; echo -n ready(cat $WORK/count)'>'; end; "
             "$REAL_PERFVISOR completion fish | source\n"),
}
# Names of VMs, of which each comes as one word that is it, after nothing and after --vm=.
NAMES = ("web1", "Web Server 1", "$(touch${IFS}run)", "`touch run`", "$HOME", "${HOME}", "*", "?*",
         "[a-z]*", "~", "~root", "~/x", "=ls", "-x", "--help", "-", "web:1", "a=b", "a:b=c:d",
         "it's", 'in "quotes"', "back\\slash", "\\", "\\n", "$'\\n'", "a;touch run", "a|touch run",
         "a&touch run", ">run", "<(touch run)", "!!", "#no", "(touch run)", "{a,b}", "two  spaces",
         " leading", "trailing ", "naïve-日本", "%1", "^a", "a,b", '","name": "other', "a\tb\\x")
# (typed, the VM's name): what completes a part that was typed.
PARTS = (("we", "web1"), ("Web\\ S", "Web Server 1"), ("'Web S", "Web Server 1"),
         ("web:", "web:1"), ("a:b=", "a:b=c:d"), ("a=", "a=b"),
         ("\\$\\(to", "$(touch${IFS}run)"), ("\\~r", "~root"))
# (typed after "perfvisor ", what perfvisor is called with), with a file "file name" and a folder
# "folder" there.
LINES = (("ver\t", ["version"]), ("stat rec\t", ["stat", "record"]),
         ("stat report --ev\tmm\t", ["stat", "report", "--event", "mmio"]),
         ("help ver\t", ["help", "version"]),
         ("record --dura\t5", ["record", "--duration", "5"]),
         ("record --engine q\t", ["record", "--engine", "qmp"]),
         ("record --engine=q\t", ["record", "--engine=qmp"]),
         ("report --sort comm,dso,sy\t", ["report", "--sort", "comm,dso,sym"]),
         ("report --sort=vm,vc\t", ["report", "--sort=vm,vcpu"]),
         ("report -i file\t", ["report", "-i", "file name"]),
         ("report --input=file\t", ["report", "--input=file name"]),
         ("record --guestmount fo\t", ["record", "--guestmount", "folder"]),
         ("report --comp\t", ["report", "--comp"]),
         ("comple\tzs\t", ["completion", "zsh"]))
COMMAND_LINES = (("record -- touc\t", ["record", "--", "touch"]),
                 ("record -- cat fil\t", ["record", "--", "cat", "file name"]))


class Terminal:
    def __init__(self, arguments, environment, folder):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.execvpe(arguments[0], arguments, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 2000, 0, 0))
        self.output = b""

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, text, seconds=WAIT_SECONDS):
        end = time.monotonic() + seconds
        while text not in self.output:
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                return False
            try:
                self.output += os.read(self.fd, 65536)
            except OSError:
                return False
        self.output = self.output[self.output.index(text) + len(text):]
        return True


class Shell:
    def __init__(self, work):
        self.work, self.count, self.failures = work, 0, []
        os.makedirs(f"{work}/bin")
        os.makedirs(f"{work}/here")
        self.write("bin/perfvisor", STAND_IN)
        os.chmod(f"{work}/bin/perfvisor", 0o755)
        self.write("count", "0\n")
        environment = {**os.environ, "WORK": work, "REAL_PERFVISOR": PERFVISOR, "HOME": work,
                       "TERM": "xterm", "LC_ALL": "C.UTF-8",
                       "PATH": f"{work}/bin:{os.environ['PATH']}"}
        arguments, first = STARTS[SHELL]
        self.terminal = Terminal(arguments, environment, f"{work}/here")
        self.terminal.send(first)
        if not self.terminal.wait_for(b"ready0>"):
            sys.exit(f"{SHELL} does not start: {self.terminal.output!r}")

    def write(self, name, text):
        with open(f"{self.work}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def try_line(self, typed, want, names=()):
        vms = [{"pid": 1, "name": name, "vmm": "qemu", "host_name": None} for name in names]
        self.write("vms", json.dumps({"reason": None, "vms": vms}, indent=2, ensure_ascii=False))
        self.count += 1
        self.terminal.send(f"perfvisor {typed}\n")
        if not self.terminal.wait_for(b"ready%d>" % self.count):
            sys.exit(f"{SHELL}: {typed!r}, {names}: no answer: {self.terminal.output!r}")
        with open(f"{self.work}/called", encoding="utf-8") as file:
            # The slash is of folders; zsh leaves it out.
            got = [word.rstrip("/") for word in file.read().split("\0")[:-1]]
        if got != want:
            self.failures.append(f"{typed!r}, VMs {names}: perfvisor is called with {got}, "
                                 f"not {want}")
        found = sorted(os.listdir(f"{self.work}/here"))
        if found not in ([], ["file name", "folder"]):
            sys.exit(f"{SHELL}: {typed!r}, {names}: there is now {found}")


def try_all(shell):
    for name in NAMES:
        # Left out are a tab, which JSON does not write as it is, and what fish does not quote.
        words = [] if "\t" in name or (SHELL == "fish" and name[0] == "~") else [name]
        shell.try_line("record --vm \t --end", ["record", "--vm", *words, "--end"], [name])
        joined = f"--vm={name}" if words else "--vm="
        shell.try_line("record --vm=\t --end", ["record", joined, "--end"], [name])
    for typed, name in PARTS:
        if SHELL == "fish" and name[0] == "~":
            continue
        shell.try_line(f"record --vm {typed}\t", ["record", "--vm", name], [name, "other"])
        shell.try_line(f"record --end -G --vm {typed}\t", ["record", "--end", "-G", "--vm", name],
                       [name, "other"])
    os.makedirs(f"{shell.work}/here/folder")
    shell.write("here/file name", "")
    for typed, want in LINES + (COMMAND_LINES if SHELL != "fish" else ()):
        shell.try_line(typed, want)


with tempfile.TemporaryDirectory() as work:
    shell = Shell(work)
    try_all(shell)
    shell.terminal.send("exit\n")
    os.close(shell.terminal.fd)
    os.waitpid(shell.terminal.pid, 0)
version = subprocess.run([SHELL, "--version"], capture_output=True,
                         text=True).stdout.splitlines()[0]
for failure in shell.failures:
    print(failure)
print(f"{version}: {shell.count} lines, {len(shell.failures)} failures")
sys.exit(bool(shell.failures))
