#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what perfvisor read from a guest's memory with what the guest itself reported."""
import json
import re
import sys

folder = sys.argv[1]
failures = []


def read(name):
    with open(f"{folder}/{name}", errors="replace") as file:
        return file.read().replace("\r", "")


def complain(text):
    failures.append(text)


# Created at run time, and in none of the tables that perfvisor reads.
def is_dynamic(line):
    return re.search(r"\t\[(bpf|__builtin__\w+)\]$", line)


def compare_lines(what, ours, truth):
    ours = [line for line in ours.splitlines() if not is_dynamic(line)]
    lines = truth.splitlines()
    truth = [line for line in lines if not is_dynamic(line)]
    left_out = len(lines) - len(truth)
    if left_out > 0.01 * len(lines):
        complain(f"{what}: {left_out} of {len(lines)} lines were created at run time and left "
                 "out: more than 0.01")
    if len(truth) < 1:
        complain(f"{what}: the guest reported nothing")
    for number, (mine, its) in enumerate(zip(ours, truth)):
        if mine != its:
            complain(f"{what}, line {number + 1}: '{mine}', but the guest has '{its}'")
            break
    if len(ours) != len(truth):
        complain(f"{what}: {len(ours)} lines, but the guest has {len(truth)}")
    print(f"{what}: {len(truth)} lines; {left_out} left out")


def parse_truth():
    text = read("told.log")
    text = text[text.index("TRUTH-BEGIN"):text.index("TRUTH-END")]
    processes = {}
    for line in text.splitlines()[1:]:
        header = re.match(r"=== (\d+) (.*)", line)
        if header:
            current = processes[int(header[1])] = {"comm": header[2], "maps": []}
        elif line.startswith("NSpid:"):
            current["nspid"] = int(line.split()[-1])
        else:
            current["maps"].append(line)
    return processes


def parse_maps():
    processes = {}
    for line in read("maps").splitlines():
        header = re.match(r"(\d+): ", line)
        if header:
            current = processes[int(header[1])] = []
        else:
            current.append(line)
    return processes


# The guest appends a kernel worker's work to its name.
def same_comm(ours, truth):
    return ours == truth or re.fullmatch(re.escape(ours) + "[-+].*", truth) and \
        re.fullmatch(r"kworker/u?\d+:\d+H?", ours)


def compare_processes():
    truth, maps = parse_truth(), parse_maps()
    ours = {task["pid"]: task for task in json.loads(read("ps.json"))}
    still = mapped = 0
    for pid, process in truth.items():
        if pid not in ours:
            if not process["comm"].startswith("kworker/") and process["maps"]:
                complain(f"process {pid} ({process['comm']}) is not found")
            continue
        task = ours[pid]
        if task["kernel_thread"] != (not process["maps"]):
            complain(f"process {pid} ({process['comm']}): kernel thread is {task['kernel_thread']}")
        if not same_comm(task["comm"], process["comm"]):
            complain(f"process {pid} is '{task['comm']}', but the guest has '{process['comm']}'")
        if task["namespace_pid"] != process["nspid"]:
            complain(f"process {pid}: pid {task['namespace_pid']} in its namespace, "
                     f"but the guest has {process['nspid']}")
        if pid not in maps:
            if not task["kernel_thread"]:
                complain(f"process {pid} ({process['comm']}): its mappings were not read")
        elif [line.rstrip() for line in maps[pid]] != [line.rstrip() for line in process["maps"]]:
            complain(f"process {pid} ({process['comm']}) maps:\n" + "\n".join(maps[pid]) +
                     "\nbut the guest has:\n" + "\n".join(process["maps"]))
        else:
            mapped += bool(process["maps"])
        still += 1
    if still < 30 or mapped < 6:
        complain(f"only {still} processes and {mapped} address spaces could be compared")
    # Kernel workers come and go.
    if still < 0.9 * len(truth):
        complain(f"only {still} of {len(truth)} processes still existed: less than 0.9")
    deleted = sum(" (deleted)" in line for process in truth.values() for line in process["maps"])
    if not deleted:
        complain("no mapping of a removed file was compared")
    print(f"processes: {still} of {len(truth)} compared, {mapped} address spaces")


def read_symbols():
    return {line.split()[2] for line in read("kallsyms").splitlines()}


def check_report():
    symbols = read_symbols()
    shown = re.findall(r"\[g\] (\S+)", read("named.txt"))
    # reader always reads random bytes, in about ten functions of the kernel.
    if len(shown) < 5 or not all(name in symbols for name in shown):
        complain(f"report names {shown[:5]}, which the guest does not have")


def check_unnamed():
    symbols = read_symbols()
    addresses = re.findall(r"\[g\] (\S+)", read("unnamed.txt"))
    if not addresses or any(name in symbols for name in addresses):
        complain("--no-memory does not prevent names")


def compare_names():
    guest = json.loads(read("list.json"))["vms"][0]
    if guest["host_name"] != "truth.of.guest1":
        complain(f"its host name is not {guest['host_name']}")
    if guest["kernel_release"] != read("version").split()[2]:
        complain(f"its kernel is not {guest['kernel_release']}, but {read('version')}")


def check_cache():
    if "already known" not in read("named.err"):
        complain(f"a later run does not find the kernel in the cache: {read('named.err')}")
    kept = [line.split() for line in read("cache").splitlines()[1:]]
    if not kept or any(words[0] != "-rw-------" or words[2] != "0" for words in kept):
        complain(f"the cache of the guest is accessible to others than root: {kept}")


def compare_cpus():
    """Compares the addresses of per-CPU variables, by APIC id, with the GS bases
    of vCPUs in kernel mode."""
    found = {"memory": {}, "vcpu": {}}
    for line in read("cpus").splitlines():
        source, number, base = line.split()
        found[source][int(number)] = base
    if len(found["memory"]) != 2 or len(found["vcpu"]) != 2 or found["memory"] != found["vcpu"]:
        complain(f"addresses of per-CPU variables: {found}")
    print(f"per-CPU variables: {found['memory']}, the same in {len(found['vcpu'])} vCPUs")


compare_names()
compare_lines("symbols", read("symbols"), read("kallsyms"))
compare_lines("symbols, a second time", read("symbols.later"), read("kallsyms"))
compare_lines("modules", read("symbols.modules"), read("modules"))
compare_processes()
check_report()
check_cache()
{"cpus": compare_cpus, "unnamed": check_unnamed}[sys.argv[2]]()
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
