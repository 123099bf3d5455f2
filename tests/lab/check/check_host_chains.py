#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the host's chains in a recording by `record --host --guest -g`: chains of the VMM's
threads. Stock perf must read the same from the file, and the chains must lead from KVM's code to
the system call that runs a vCPU, and to the VMM. Of the guests' chains it must read the kernel's
addresses; those of programs it prints as they were sampled, since it does not know their files."""
import sys

from script_text import blocks_of_guests, blocks_of_host, frames_of
from verdict import check, exit_status

folder = sys.argv[1]
ours = [frames_of(block) for block in blocks_of_host(f"{folder}/host_script")]
perfs = [frames_of(block) for block in blocks_of_host(f"{folder}/perf_script")]
check(len(ours) >= 50, f"{len(ours)} samples of the host")
perfs = [[address for address, _ in frames] for frames in perfs if frames]
same = sum([address for address, _ in frames] in perfs for frames in ours)
check(len(ours) == len(perfs) and same == len(ours),
      f"{same} of {len(ours)} are printed the same by stock perf, which has {len(perfs)}")
names = [[name for _, name in frames] for frames in ours]
running = [chain for chain in names if "kvm_arch_vcpu_ioctl_run" in chain]
check(len(running) >= 0.3 * len(ours), f"{len(running)} of them were taken while a vCPU ran")


def leads_to_vmm(chain):
    rest = chain[chain.index("kvm_arch_vcpu_ioctl_run") + 1:]
    return (rest[:2] == ["kvm_vcpu_ioctl", "__x64_sys_ioctl"] and "do_syscall_64" in rest and
            any(name.startswith("entry_SYSCALL_64") for name in rest) and
            any(name.endswith("ioctl") for name in rest[4:]))


right = sum(map(leads_to_vmm, running))
odd = next((chain for chain in running if not leads_to_vmm(chain)), "")
check(right == len(running), f"{right} of these lead through KVM's ioctl to the VMM {odd}")


def kernels_of_guests(name):
    return [[address for address, _ in frames_of(block) if address >> 63]
            for block in blocks_of_guests(f"{folder}/{name}")]


ours, perfs = kernels_of_guests("host_script"), kernels_of_guests("perf_script")
callers = sum(len(frames) > 1 for frames in ours)
check(ours == perfs and callers >= 500,
      f"stock perf prints the same {len(ours)} kernel chains of guests: {callers} have callers")
sys.exit(exit_status())
