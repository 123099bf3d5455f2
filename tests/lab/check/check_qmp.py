#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the results of qmp_host.sh: BPF was not used, memory is as KVM has it, and a socket held
by another client is reported."""
import json
import re
import sys

folder = sys.argv[1]
failed = False


def expect(name, pattern):
    global failed
    with open(f"{folder}/{name}") as file:
        text = file.read()
    if not re.search(pattern, text, re.MULTILINE):
        print(f"FAILED: {name} does not contain '{pattern}': {text}")
        failed = True


expect("doctor", r"^\[--\]  BPF ")
expect("doctor",
       r"^\[ok\]  Guest memory +of 1 of 1 VMs, found by asking QEMU \(QMP\), without BPF$")
expect("greeting", "QMP")
expect("busy",
       r"no CAP_BPF and CAP_PERFMON; and QEMU cannot be asked: qmp.sock: .*one client at a time")
expect("busy", r"hint: .*-qmp unix:PATH")
expect("busy", r"^1$")
expect("busy.list", r"could not look into VM 'guest1': .*one client at a time")
expect("busy.list", r"^ *\d+ +qemu .* guest1 +- +- ")
# BPF reads KVM's own slots. All of them count except the BIOS, which is not part of the 512 MiB.
with open(f"{folder}/list.bpf.json") as file:
    memory = json.load(file)["vms"][0]["memory_bytes"]
with open(f"{folder}/slots") as file:
    slots = [[int(word, 16) for word in line.split()[1:]] for line in file if line[:4] == "slot"]
ram = sum(size for start, size, _ in slots if start < 0xfff00000)
if ram != memory or ram != 512 << 20 or len(slots) < 4:
    print(f"FAILED: QEMU reports {ram} bytes in {slots}, KVM has {memory}")
    failed = True
sys.exit(failed)
