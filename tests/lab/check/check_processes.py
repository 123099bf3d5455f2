#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the processes of guest samples with what is known about processes_workload.sh.

Code that only one process runs must be attributed to this process in every sample. What shares a
vCPU (kernel threads, interrupts, short-lived processes) has a limit.
"""
import re
import subprocess
import sys

from verdict import check, exit_status

folder = sys.argv[1]


def read(name, mode="r"):
    with open(f"{folder}/{name}", mode, **({} if "b" in mode else {"errors": "replace"})) as file:
        return file.read()


def functions():
    found = {}
    for line in subprocess.run(["nm", "-S", f"{folder}/user7525"], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4:
            found[words[3]] = range(int(words[0], 16), int(words[0], 16) + int(words[1], 16))
    return found


def kernel_range(wanted):
    rows = sorted((int(line.split()[0], 16), line.split()[2])
                  for line in read("kallsyms").splitlines())
    for index, (address, name) in enumerate(rows):
        if name == wanted:
            return range(address, next(other for other, _ in rows[index:] if other > address))
    return range(0)


def perf_rows(name):
    """(vcpu, comm, pid, tid, ip, dso) as stock perf has them."""
    rows = []
    for line in read(name).splitlines():
        found = re.match(r"\s*VM:\s*\d+\s+VCPU:(\d+)\s+(.+?)\s+(-?\d+)/(-?\d+)\s+"
                         r"([0-9a-f]+) .*\((.*)\)$", line)
        if not found:
            check(False, f"a line of perf that cannot be parsed: {line!r}")
            break
        vcpu, comm, pid, tid, ip, dso = found.groups()
        rows.append((int(vcpu), comm, int(pid), int(tid), int(ip, 16), dso))
    return rows


words = read("truth").split()
truth = dict(zip(words[::2], map(int, words[1::2])))
hot = functions()
rows = perf_rows("perfs_vcpus")
check(len(rows) >= 1000, f"{len(rows)} samples")
# No process is known until the guest's kernel was read. record_known.sh waits for that, and prints
# a message otherwise; it takes a tenth of a second, of four.
early = next((index for index, row in enumerate(rows) if row[2] != -1), len(rows))
check(early <= 0.1 * len(rows),
      f"{early} of {len(rows)} samples left out, from before the guest's kernel was read: "
      f"at most 0.1")
rows = rows[early:]
unknown = sum(row[2] == -1 for row in rows)
check(unknown <= 0.005 * len(rows),
      f"{unknown} of {len(rows)} samples are of no process: at most 0.005")

of_user = [row for row in rows if row[2] == truth["user7525"]]
in_user = [row for row in of_user if not row[4] >> 63]
in_hot = sum(row[4] in hot[name] for row in in_user for name in ("hot_a", "hot_b", "main"))
check(len(in_user) >= 500 and in_hot == len(in_user),
      f"user7525: {in_hot} of its {len(in_user)} user samples are in its functions")
check(all(row[1] == "user7525" and row[3] == row[2] for row in of_user),
      "user7525: by name and thread")
# Stock perf applies mappings in the order of the file, so samples from before they were read have
# none. That takes half a second, of four; all later samples must have the file.
without = next((i for i, row in enumerate(in_user) if row[5].endswith("/user7525")), len(in_user))
with_file = sum(row[5].endswith("/user7525") for row in in_user)
check(without <= 0.5 * len(in_user) and with_file == len(in_user) - without,
      f"user7525: {with_file} samples have its file, for stock perf; {without} left out, from "
      f"before its mappings were read: at most half")
named = re.findall(r"^\s*user7525\s+\d+/\d+\s+([0-9a-f]+) (\S+) \(/lab/bin/user7525\)$",
                   read("script"), re.M)
check(len(named) == len(in_user), f"user7525: {len(named)} samples have its file, for perfvisor")
wrong = [(ip, name) for ip, name in named if name not in hot or int(ip, 16) not in hot[name]]
check(not wrong,
      f"user7525: each has its function's name, read from the guest's page cache: {wrong[:3]}")
check(all(row[0] == 1 for row in of_user), "user7525: only on the vCPU to which it is bound")
on_its_vcpu = [row for row in rows if row[0] == 1]
check(len(of_user) >= 0.8 * len(on_its_vcpu),
      f"user7525: {len(of_user)} of that vCPU's {len(on_its_vcpu)}")

permute = kernel_range("chacha_permute")


def check_reader(what, rows, least):
    """Besides reader, only starting programs read random bytes, in few samples (one in a hundred of
    some thousand): exec does, and so does fork, for the stack canary (dup_task_struct()), in the
    shell that starts the short-lived programs. This shell is not bound to a vCPU, nor is taskset
    before it has bound itself and executes the next program."""
    chacha = [row for row in rows if row[4] in permute]
    of_reader = [row for row in chacha if row[2] == truth["reader"]]
    others = [row for row in chacha if row[2] != truth["reader"]]
    begin = [row for row in others if row[1] in ("sh", "taskset") or
             row[0] == 0 and row[1] in ("exe", "busybox", "true")]
    odd = ([row for row in of_reader if row[0] != 0 or row[1] != "reader"]
           + [row for row in others if row not in begin])
    check(len(chacha) >= least and len(others) <= 2 + len(chacha) / 25 and not odd,
          f"{what}: {len(of_reader)} of {len(chacha)} samples in chacha_permute are reader's, "
          f"{len(begin)} are of starting programs (at most 2 and 0.04); others: {odd[:3]}")


check_reader("reader", rows, 100)
short = {row[2] for row in rows if row[0] == 0 and row[2] not in (0, truth["reader"])}
check(len(short) >= 10, f"{len(short)} short-lived processes were seen")
fake = [row for row in rows if row[2] not in (0, -1) and not row[1].isprintable()]
check(not fake, f"all names are printable: {fake[:3]}")

check(read("ours").split() == read("perfs").split(),
      "perfvisor script and perf script print the same")
report = read("report")
check(re.search(rf"guest1\s+user7525\s+{truth['user7525']}\s+\S*user7525\s", report),
      "report: user7525 with its pid and file")
check(re.search(rf"guest1\s+reader\s+{truth['reader']}\s+\[guest.kernel.kallsyms\]\s+"
                r"\[g\] chacha_permute", report), "report: reader in the kernel")

def check_folder():
    """Stock perf names the guest's kernel functions in a folder recording as the
    guest's kallsyms does."""
    names = {}
    for line in read("kallsyms").splitlines():
        address, _, name = line.split()[:3]
        names.setdefault(int(address, 16), set()).add(name)
    kernel = [(int(ip, 16), name, int(offset, 16)) for ip, name, offset in
              re.findall(r"^\s*(ffff[0-9a-f]{12}) (\S+)\+0x([0-9a-f]+)", read("folder"), re.M)]
    all_kernel = len(re.findall(r"^\s*ffff[0-9a-f]{12} ", read("folder"), re.M))
    wrong = [row for row in kernel if row[1] not in names.get(row[0] - row[2], ())]
    check(len(kernel) >= 100 and len(kernel) >= 0.95 * all_kernel,
          f"folder: stock perf names {len(kernel)} of {all_kernel} kernel samples")
    check(not wrong, f"folder: each is named as in the guest's own kallsyms: {wrong[:3]}")


def check_kinds():
    for name in ("kernel_only", "no_memory"):
        # Names of processes are not compressed.
        check(b"user7525" not in read(name, "rb") and "user7525" not in read(f"{name}.script"),
              f"{name}: has no name of a guest process")
    check("chacha_permute" in read("kernel_only.script"), "kernel_only: has kernel symbols")
    check(b"chacha_permute" not in read("no_memory", "rb"), "no_memory: has none")


def check_unharmed():
    """The memory of a guest process is unchanged although its stack was read at
    each of its samples."""
    lines = [list(map(int, line.split()[1:])) for line in read("unharmed").splitlines()]
    first, last = map(int, read("unharmed.lines").split())
    check(last - first >= 4 and len(lines) > last,
          f"unharmed: checked its memory {last - first} times in the meantime")
    harmed = [line for line in lines if line[1:] != [0, 0, 0]]
    check(not harmed,
          f"unharmed: no word has changed, no page was accessed or written to: {harmed[:3]}")
    sampled = len(re.findall(r"^unharmed\b", read("chains"), re.M))
    check(sampled >= 100, f"unharmed: {sampled} samples with call chains")


def check_without_registers():
    """As on Intel: the task, which is read from the vCPU's per-CPU variables, must
    match the interrupted code. Programs are bound to vCPUs, so what runs on one is
    never seen on the other."""
    rows = perf_rows("intel_vcpus")
    known = [row for row in rows if row[2] != -1]
    check(len(known) >= 500 and len(known) >= 0.98 * len(rows),
          f"without registers: {len(known)} of {len(rows)} samples have a process")
    # Other programs have code at these addresses, too, but not on this vCPU.
    inside = [row
              for row in known if any(row[4] in hot[name] for name in ("hot_a", "hot_b", "main"))]
    here = [row for row in inside if row[0] == 1]
    right = sum(row[2] == truth["user7525"] for row in here)
    check(len(here) >= 200 and right == len(here),
          f"without registers: {right} of {len(here)} samples in user7525's code are user7525's")
    of_user = [row for row in known if row[2] == truth["user7525"] and not row[4] >> 63]
    check(all(row[0] == 1 and row in inside for row in of_user),
          f"without registers: its {len(of_user)} user samples are in its code, on its vCPU")
    check_reader("without registers: reader", known, 50)


has_ip = tuple(map(int, re.findall(r"\d+", read("host_kernel"))[:2])) >= (6, 3)
says_so = "samples of Linux guests include them" in read("doctor_intel")
check(says_so == has_ip,
      f"without registers: doctor says {'that' if says_so else 'not that'} samples have processes")
if has_ip:
    check_without_registers()
check_unharmed()
if sys.argv[2:] == ["kinds"]:
    check_folder()
    check_kinds()
sys.exit(exit_status())
