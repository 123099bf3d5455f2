# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the output of `perfvisor list --json` in test_list.sh's hosts with the truth."""
import json
import sys

from verdict import check, exit_status

WORK = sys.argv[1]
# The VMs that list_host.sh starts: vm_zoo's kinds, and a QEMU with this name.
KINDS = {"plain", "forked", "several", "doubled", "empty", "headless", "ended",
         "orphaned", "vforked", "execed", "a,b"}
# Their files are open in processes that cannot run them (virt/kvm/kvm_main.c: kvm->mm), and have
# other memory. Only the kernel knows.
HELD_BY_OTHERS = {"orphaned", "execed"}


def read_truth(host):
    """Yields for each VM: kind (QEMUs: name), pid, memory, {vCPU number: tid or None}."""
    for line in open(f"{WORK}/{host}/truth"):
        kind, pid, memory, *vcpus = line.split()
        threads = {int(v.split(":")[0]): v.split(":")[1] for v in vcpus}
        yield kind, int(pid), int(memory), {n: None if t == "-" else int(t)
                                            for n, t in threads.items()}


def vcpus_of(vm):
    return sorted((v["number"], v["tid"] or 0) for v in vm["vcpus"])


def check_container(host):
    """Inside a pid namespace, only its own VM is visible, with pids of this namespace."""
    _, pid, _, *vcpus = open(f"{WORK}/{host}/inside").read().split()
    want = sorted((int(n), 0 if t == "-" else int(t)) for n, t in (v.split(":") for v in vcpus))
    for way, unknown in ("inside", False), ("inside-proc", True):
        vms = json.load(open(f"{WORK}/{host}/{way}.json"))["vms"]
        check([vm["pid"] for vm in vms] == [int(pid)] and
              vcpus_of(vms[0]) == [(n, 0 if unknown else t) for n, t in want],
              f"{host}, {way}: {vms}, wanted {pid} {want}")


def check_vms(host, way, threads, memory):
    """THREADS, MEMORY: whether these must be known."""
    found = json.load(open(f"{WORK}/{host}/{way}.json"))
    truth = list(read_truth(host))
    where = f"{host}, {way}"
    check({kind for kind, *_ in truth} == KINDS, f"{where}: there are VMs of all kinds")
    check(found["hidden_processes"] == 0,
          f"{where}: {found['hidden_processes']} processes are hidden")
    for pid in {t[1] for t in truth}:
        wanted = [t for t in truth if t[1] == pid]
        got = [vm for vm in found["vms"] if vm["pid"] == pid]
        kind = wanted[0][0]
        if memory and kind in HELD_BY_OTHERS:
            check(not got, f"{where}, {kind}: no VM, but {got}")
            continue
        if not threads:
            # Without the kernel's help, all VMs of a process look like one.
            numbers = sorted(n for t in wanted for n in t[3])
            check(len(got) == 1 and sorted(v["number"] for v in got[0]["vcpus"]) == numbers and
                  all(v["tid"] is None for v in got[0]["vcpus"]), f"{where}, {kind}: {got}")
            continue
        check(sorted(vcpus_of(vm) for vm in got) ==
              sorted(sorted((n, t or 0) for n, t in w[3].items()) for w in wanted),
              f"{where}, {kind}: vCPUs of {got}, wanted {wanted}")
        if memory:
            check(sorted(vm["memory_bytes"] or 0 for vm in got) == sorted(w[2] for w in wanted),
                  f"{where}, {kind}: memory of {got}, wanted {wanted}")
        else:
            check(all(vm["memory_bytes"] is None for vm in got),
                  f"{where}, {kind}: no memory size is given")
        check(len({vm["name"] for vm in got}) == len(got), f"{where}, {kind}: names differ")
        check(all(0 <= vm["uptime_seconds"] < 300 for vm in got), f"{where}, {kind}: uptime")
        if kind == "a,b":
            check(got[0]["name"] == "a,b" and got[0]["vmm"] == "qemu", f"{where}: QEMU is {got}")
        elif len(got) == 1:
            program = "sleep" if kind == "execed" else "vm_zoo"
            check(got[0]["name"] == f"{program}-{pid}" and got[0]["vmm"] == program,
                  f"{where}, {kind}: {got}")
    others = [vm for vm in found["vms"] if vm["pid"] not in {t[1] for t in truth}]
    if host == "6.1":
        check(len(others) == 1 and others[0]["name"] == "guest1" and
              others[0]["vmm"] == "qemu" and [n for n, _ in vcpus_of(others[0])] == [0, 1],
              f"{where}: guest1 is {others}")
        check(not memory or others[0]["memory_bytes"] == 512 << 20, f"{where}: memory of guest1")
    else:
        check(not others, f"{where}: others: {others}")
    # The zoo's VMs run no kernel. Without BPF, guest1's QEMU is queried.
    named = host == "6.1" and way != "no-memory"
    want = ("(none)", open(f"{WORK}/{host}/version").read().split()[2]) if named else (None, None)
    for vm in found["vms"]:
        got = vm["host_name"], vm["kernel_release"]
        check(got == (want if vm["name"] == "guest1" else (None, None)),
              f"{where}, {vm['name']}: names {got}, wanted {want}")
    check(found["threads_from"] == (("bpf" if memory else "debugfs") if threads else None),
          f"{where}: threads from {found['threads_from']} ({found['reason']})")
    check((found["reason"] is None) == memory, f"{where}: reason {found['reason']}")


def check_table(host):
    """The table has the same values as the JSON, below their headings."""
    heading, *rows = open(f"{WORK}/{host}/table").read().splitlines()
    at = heading.index("HOST NAME"), heading.index("KERNEL"), heading.index("VCPU THREADS")
    vms = json.load(open(f"{WORK}/{host}/bpf.json"))["vms"]
    check(len(rows) == len(vms), f"{host}: the table has {len(rows)} rows for {len(vms)} VMs")
    for row, vm in zip(rows, vms):
        got = row[at[0]:at[1]].rstrip(), row[at[1]:at[2]].rstrip()
        want = vm["host_name"] or "-", vm["kernel_release"] or "-"
        check(got == want, f"{host}: {got} in row '{row}', wanted {want}")


for host in "6.1", "sid", "5.10":
    check_vms(host, "no-memory", threads=True, memory=True)
    check_table(host)
    check_vms(host, "bpf", threads=True, memory=True)
    # Linux 5.10 has no vcpuN/pid in debugfs.
    check_vms(host, "debugfs", threads=host != "5.10", memory=False)
    check_vms(host, "proc", threads=False, memory=False)
    check_container(host)
    after = json.load(open(f"{WORK}/{host}/after.json"))
    check([vm["name"] for vm in after["vms"]] == (["guest1"] if host == "6.1" else []),
          f"{host}: after the VMs have ended: {after}")
sys.exit(exit_status())
