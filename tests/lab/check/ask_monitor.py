#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the answer of a QEMU's human monitor to a command, sent over its QMP socket."""
import json
import socket
import sys

path, command = sys.argv[1:]
with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rw") as lines:
    connection.connect(path)

    def execute(**message):
        lines.write(json.dumps(message) + "\n")
        lines.flush()
        while True:
            answer = json.loads(lines.readline())
            if "return" in answer:
                return answer["return"]

    lines.readline() # the greeting
    execute(execute="qmp_capabilities")
    print(execute(execute="human-monitor-command", arguments={"command-line": command}), end="")
