#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands in for a QEMU with one vCPU, whose monitor says that it runs user code at 0x401000. When
its guest was continued 20 times, it executes its program anew, as a VMM could execute one with
other rights, and goes on answering. After 20 more times it creates FOLDER/asked-again.

    qemu-system-x86_64 executing_qemu.py FOLDER -qmp unix:FOLDER/qmp,server=on
"""
import json
import os
import socket
import sys

REGISTERS = """CPU#0
RAX=0000000000000000 RBX=0000000000000000 RCX=0000000000000000 RDX=0000000000000000
RSI=0000000000000000 RDI=0000000000000000 RBP=0000000000000000 RSP=00007ffd00000000
R8 =0000000000000000 R9 =0000000000000000 R10=0000000000000000 R11=0000000000000000
R12=0000000000000000 R13=0000000000000000 R14=0000000000000000 R15=0000000000000000
RIP=0000000000401000 RFL=00000202 [-------] CPL=3 II=0 A20=1 SMM=0 HLT=0
GS =0000 0000000000000000 ffffffff 00c00000
CR0=80050033 CR2=0000000000000000 CR3=0000000000001000 CR4=00000020
EFER=0000000000000d01
"""
ANSWERS = {"info status": "VM status: running\r\n",
           "info cpus": f"* CPU #0: thread_id={os.getpid()}\r\n",
           "info registers -a": REGISTERS.replace("\n", "\r\n")}
TIMES = 20
folder = sys.argv[1]
inherited = os.environ.get("LISTENER")
continued = 0


def note_continued():
    global continued
    continued += 1
    if continued == TIMES and inherited:
        open(f"{folder}/asked-again", "w").close()
    elif continued == TIMES:
        os.environ["LISTENER"] = str(listener.fileno())
        os.execv("/proc/self/exe", sys.orig_argv)


def answer(lines, question):
    command = question.get("arguments", {}).get("command-line", "")
    lines.write(json.dumps({"return": ANSWERS.get(command, "") if command else {},
                            "id": question.get("id")}) + "\n")
    lines.flush()
    if command == "cont":
        note_continued()


if inherited:
    listener = socket.socket(fileno=int(inherited))
else:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/qmp")
    listener.listen(5)
os.set_inheritable(listener.fileno(), True)
while True:
    client, _ = listener.accept()
    try:
        with client, client.makefile("rw") as both:
            both.write('{"QMP": {}}\n')
            both.flush()
            for line in both:
                answer(both, json.loads(line))
    except OSError:
        pass
