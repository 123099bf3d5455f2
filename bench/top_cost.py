# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs to look on: perf top, and perfvisor top, at 1 kHz on the same load.

There are no VMs where this runs, so perfvisor top reads `perf record -o -`, whose cost is counted
with it and shown apart; what perfvisor's own recorder costs is measured by guest_cost.py. Both
print text every two seconds, as is their default.
"""
import os
import re
import signal
import subprocess
import time

RATE = 1000
SAMPLING = ["-a", "-e", "cpu-clock", "-F", str(RATE)]


def end(child):
    """Ends CHILD with Ctrl-C; returns its CPU seconds and peak MB."""
    os.kill(child.pid, signal.SIGINT)  # it is there, if only as a zombie
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run_perf_top(seconds):
    # Its stdin stays open: perf top reads keys from there.
    child = subprocess.Popen(["perf", "top", "--stdio"] + SAMPLING, stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    return end(child)


def run_perfvisor_top(perfvisor, seconds, output):
    """Returns what perf record took, and what perfvisor top did."""
    recorder = subprocess.Popen(["perf", "record", "-q"] + SAMPLING + ["-o", "-"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
    with open(output, "w") as out:
        viewer = subprocess.Popen([perfvisor, "top", "-i", "-", "--stdio"], stdin=recorder.stdout,
                                  stdout=out, stderr=subprocess.DEVNULL)
    recorder.stdout.close()
    time.sleep(seconds)
    cost = end(viewer)
    return end(recorder), cost


def measure(perfvisor, out, say, seconds):
    """Prints what each took of one CPU."""
    text = os.path.join(out, "top.txt")
    recorder, viewer = run_perfvisor_top(perfvisor, seconds, text)
    theirs = run_perf_top(seconds)
    with open(text) as screens:
        samples = sum(map(int, re.findall(r"^(?:# )?(\d+) samples? in ", screens.read(), re.M)))
    os.unlink(text)
    say(f"\ntop, {RATE} Hz on {os.cpu_count()} CPUs for {seconds} s: {samples} samples shown, "
        f"load {os.getloadavg()[0]:.1f}")
    ours = viewer[0] + recorder[0]
    for name, cpu, peak in (("perfvisor top -i -", viewer[0], viewer[1]),
                            ("  and perf record for it", recorder[0], recorder[1]),
                            ("perf top --stdio", theirs[0], theirs[1])):
        say(f"    {name:<32} {100 * cpu / seconds:6.2f} % of a CPU, {peak:5.0f} MB")
    say(f"    perfvisor top takes {viewer[0] / theirs[0]:.2f} times what perf top does, "
        f"{ours / theirs[0]:.2f} with the recorder")
