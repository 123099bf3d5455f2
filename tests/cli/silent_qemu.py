#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands in for a QEMU whose guest's memory never comes: every access waits for a userfaultfd(2)
that nobody serves, as an access to a file waits whose FUSE server does not answer.

    qemu-system-x86_64 silent_qemu.py FOLDER -qmp unix:FOLDER/qmp,server=on

Ends with status 77 where userfaultfd(2) is not permitted. Numbers: linux/userfaultfd.h.
"""
import ctypes
import fcntl
import json
import mmap
import socket
import struct
import sys

USERFAULTFD = 323 # x86-64
UFFDIO_API, UFFDIO_REGISTER, MISSING = 0xc018aa3f, 0xc020aa00, 1
BYTES = 1 << 20
MTREE = f"""FlatView #0
 AS "memory", root: system
  0000000000000000-{BYTES - 1:016x} (prio 0, ram): pc.ram KVM
"""
REGISTERS = "CPU#0\n" + " ".join(f"{name}=0" for name in (
    "RAX RBX RCX RDX RSI RDI RBP RSP R10 R11 R12 R13 R14 R15").split()) + """ R8 =0 R9 =0
RIP=ffffffff81000000 RFL=00000202 [-------] CPL=0 II=0 A20=1 SMM=0 HLT=0
CR0=80050033 CR2=0 CR3=1000 CR4=20
EFER=d01
"""
memory = mmap.mmap(-1, BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
fault_fd = ctypes.CDLL(None).syscall(USERFAULTFD, 0)
if fault_fd < 0:
    sys.exit(77)
fcntl.ioctl(fault_fd, UFFDIO_API, struct.pack("3Q", 0xaa, 0, 0))
fcntl.ioctl(fault_fd, UFFDIO_REGISTER, struct.pack("4Q", start, BYTES, MISSING, 0))


def answer(command):
    if command.startswith("gpa2hva"):
        gpa = int(command.split()[1], 16)
        return f"Host virtual address for {gpa:#x} (pc.ram) is {start + gpa:#x}\n"
    return {"info mtree -f": MTREE, "info registers -a": REGISTERS}.get(command, "")


listener = socket.socket(socket.AF_UNIX)
listener.bind(f"{sys.argv[1]}/qmp")
listener.listen(5)
while True:
    client, _ = listener.accept()
    with client, client.makefile("rw") as both:
        both.write('{"QMP": {}}\n')
        both.flush()
        for line in both:
            question = json.loads(line)
            command = question.get("arguments", {}).get("command-line", "")
            both.write(json.dumps({"return": answer(command) if command else {},
                                   "id": question.get("id")}) + "\n")
            both.flush()
