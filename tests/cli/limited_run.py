#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command within limits: its status, or 125 if it used more memory, 124 if it took longer.

    limited_run.py MIB SECONDS COMMAND…
"""
import os
import resource
import signal
import sys

mib, seconds = int(sys.argv[1]), int(sys.argv[2])
child = os.fork()
if not child:
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    os.execv(sys.argv[3], sys.argv[3:])


def end(*_):
    os.kill(child, signal.SIGKILL)


signal.signal(signal.SIGALRM, end)
signal.alarm(seconds)
_, status, usage = os.wait4(child, 0)
code = os.waitstatus_to_exitcode(status)
if code == -signal.SIGKILL:
    sys.exit(124)
if usage.ru_maxrss > mib << 10:
    print(f"used {usage.ru_maxrss >> 10} MiB", file=sys.stderr)
    sys.exit(125)
sys.exit(code if code >= 0 else 128 - code)
