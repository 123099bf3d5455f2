#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The case that perf kvm diff was made for: the same load on the host and in a guest with two vCPUs.
# Both spend their time in the kernel, but the threads run at once in the guest alone, so that
# there one spins until the other gives the lock back: `perfvisor diff`, which finds both
# recordings by their names, shows that, and says that it is certain. top and stack show the lock
# and who waits for it while the guest runs.
set -u
. tests/lab/in_lab.sh
out=build/lab/diff
# The same code has run with sanitizers in other tests.
LEAKS=0 PERFVISOR=$PERFVISOR_RELEASE OUT=$out in_lab 600 --steady \
	--guest-workload tests/lab/guest/contended_workload.sh \
	"${records[@]}" --add tests/lab/host/diff_host.sh -- bash /root/diff_host.sh || exit 1
python3 - $out <<'CHECK'
import re, sys

def rows(name):
    lines = open(f"{sys.argv[1]}/{name}").read().splitlines()
    return [line.split("|") for line in lines if line and line[0] != "#"]

def number(text):
    return float(text.rstrip("%") or 0)

table = rows("diff")
spins = [row for row in table if "queued_spin_lock_slowpath" in row[-1]]
print(*table[:8], sep="\n")
assert len(spins) == 1, spins
base, delta, _, certain, dso, symbol = spins[0]
# On one CPU nobody waits for a spinlock: its holder is not taken off the CPU.
assert number(base) < 1, spins
assert number(delta) > 5 and certain == "yes", spins
assert dso.startswith("["), spins
# The rest is the same: both are in the kernel most of the time, and call the same functions.
shares = {row[-1]: (number(row[0]), number(row[0]) + number(row[1])) for row in table}
kernel = [sum(share[side] for symbol, share in shares.items() if re.match(r"\[[kg]\]", symbol))
          for side in (0, 1)]
assert min(kernel) > 50, kernel
both = [symbol for symbol, share in shares.items() if min(share) > 0.5]
assert len(both) >= 3, both

top = [line for line in open(f"{sys.argv[1]}/top.txt") if "queued_spin_lock_slowpath" in line]
assert top and all("guest1" in line and number(line.split()[0]) > 5 for line in top), top
stack = open(f"{sys.argv[1]}/stack.txt").read()
print(stack)
# The vCPU that waits, from the lock outwards to the program's system call.
waiting = [text for text in re.split(r"^(?=vCPU )", stack, flags=re.M)
           if "queued_spin_lock_slowpath" in text]
assert len(waiting) == 1 and "contended" in waiting[0], waiting
assert re.search(r"queued_spin_lock_slowpath.*raw_spin_lock.*(dup|close).*do_syscall_64",
                 waiting[0], re.S), waiting
CHECK
