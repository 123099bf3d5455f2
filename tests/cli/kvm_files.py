#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a VM whose files are odd, and says so; ends with its standard input.

kvm_files.py SLOTS DESCRIPTORS
    a VM with so many memory slots of a page, a vCPU, and so many more descriptors of both
kvm_files.py close
    a VM with a vCPU that ran; closes all of it after a line of input
"""
import ctypes
import fcntl
import mmap
import os
import struct
import sys

# include/uapi/linux/kvm.h
KVM_CREATE_VM = 0xAE01
KVM_CREATE_VCPU = 0xAE41
KVM_RUN = 0xAE80
KVM_SET_USER_MEMORY_REGION = 0x4020AE46
PAGE = 4096


def say(text):
    print(text, flush=True)


def main():
    try:
        kvm = os.open("/dev/kvm", os.O_RDWR)
        vm = fcntl.ioctl(kvm, KVM_CREATE_VM, 0)
        vcpu = fcntl.ioctl(vm, KVM_CREATE_VCPU, 0)
    except OSError as error:
        say(f"no VM: {error}")
        return
    if sys.argv[1] == "close":
        try:
            fcntl.ioctl(vcpu, KVM_RUN, 0)  # without memory it cannot get far
        except OSError:
            pass
        say("ready")
        sys.stdin.readline()
        for file in vcpu, vm, kvm:
            os.close(file)
        say("closed")
    else:
        memory = mmap.mmap(-1, PAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for slot in range(int(sys.argv[1])):
            fcntl.ioctl(vm, KVM_SET_USER_MEMORY_REGION,
                        struct.pack("<IIQQQ", slot, 0, slot * 2 * PAGE, PAGE, address))
        copies = [os.dup(vcpu if i % 2 else vm) for i in range(int(sys.argv[2]))]
        say(f"ready {len(copies)}")
    sys.stdin.read()


main()
