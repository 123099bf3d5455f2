# SPDX-License-Identifier: GPL-2.0-or-later
"""Unwinds stacks repeatedly: the kernel stacks of all sleeping tasks of the saved
guests, then those of a program.

The guests are those that guest_contact.py saves. unwind_stacks.c does the work, in one thread. All
chains must be complete, because a chain that ends early is fast. The few functions of these stacks
stay in the first-level cache; ns/row is the time for a row anywhere in the kernel's text.

The program is unwind_program.c itself. It is unwound with DWARF, from copies that it took of its
own stack while it ran.
"""
import os
import statistics
import subprocess

import guest_contact


def unwind(runs, *command):
    results = [[float(word) for word in
                subprocess.run(command, check=True, capture_output=True,
                               text=True).stdout.split()] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*results)]


def build(root, name):
    subprocess.run(["ninja", "-C", os.path.join(root, "build/release"), "bench/" + name],
                   check=True, stdout=subprocess.DEVNULL)
    return os.path.join(root, "build/release/bench", name)


def measure(root, say, runs):
    program = build(root, "unwind_stacks")
    say(f"\nunwinding stacks by ORC, CPU time of one thread, medians of {runs} runs, "
        f"load {os.getloadavg()[0]:.1f}")
    say(f"  {'its kernel':<22} {'rows':>8} {'read ms':>8} {'chains':>7} {'complete':>8} "
        f"{'frames':>7} {'ns/frame':>8} {'chains/s':>9} {'ns/row':>7}")
    for series in guest_contact.SERIES:
        folder = os.path.join(root, "build/cache/guest-images", series)
        rows, read_ms, chains, complete, frames, ns, row_ns = unwind(runs, program, folder)
        say(f"  {series:<22} {rows:8.0f} {read_ms:8.0f} {chains:7.0f} {complete:8.0f} "
            f"{frames:7.0f} {ns:8.1f} {1e9 / (ns * frames / chains):9.0f} {row_ns:7.1f}")

    rows, read_ms, chains, complete, frames, ns = unwind(runs, build(root, "unwind_program"))
    say(f"  {'a program, by DWARF':<22} {rows:8.0f} {read_ms:8.0f} {chains:7.0f} {complete:8.0f} "
        f"{frames:7.0f} {ns:8.1f} {1e9 / (ns * frames / chains):9.0f}")
