#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stand-in for libvirt's virsh in check_qmp.py: queries the QEMU whose socket is $STAND_IN_SOCKET.

    virsh -q -c URI "qemu-monitor-command --hmp UUID 'COMMAND'; …"
"""
import json
import os
import shlex
import socket
import sys

quiet, connect, uri, line = sys.argv[1:]
assert (quiet, connect) == ("-q", "-c")
if uri != "qemu:///system":
    sys.exit(f"error: failed to connect to the hypervisor {uri}")
lexer = shlex.shlex(line, posix=True, punctuation_chars=";")
lexer.whitespace_split = True
commands, words = [], []
for word in [*lexer, ";"]:
    if word == ";":
        commands.append(words)
        words = []
    else:
        words.append(word)
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["STAND_IN_SOCKET"])
stream = connection.makefile("rw")


def ask(command, **arguments):
    stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
    stream.flush()
    while True:
        answer = json.loads(stream.readline())
        if "return" in answer:
            return answer["return"]


stream.readline()
ask("qmp_capabilities")
for name, hmp, uuid, command in commands:
    assert (name, hmp) == ("qemu-monitor-command", "--hmp")
    if uuid != os.environ["STAND_IN_UUID"]:
        sys.exit(f"error: failed to get domain '{uuid}'")
    print(ask("human-monitor-command", **{"command-line": command}))
