#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: read the stacks of guest1's tasks with perfvisor, between two rounds in which
# guest1 reports them itself; then read what guest2's vCPUs run until every kind was seen.
# Everything is written to $OUT.
set -u
# perfvisor and its parser take turns; on two CPUs each message would wake up the other one, which
# is slow in emulation.
taskset -p 2 $$ >/dev/null
guest=/run/lab/guest1
rounds() { grep -c '^END' $guest/told.log; }
# wait_for ROUNDS
wait_for() {
	for _ in $(seq 900); do
		[ "$(rounds)" -ge "$1" ] && return
		sleep 0.2
	done
	return 1
}
wait_for 2 || exit 1
before=$(rounds)
perfvisor stack --vm guest1 --tasks >"$OUT/stacks" || exit
perfvisor stack --vm guest1 --tasks --json >"$OUT/stacks.json" || exit
perfvisor ps --vm guest1 --threads --json >"$OUT/ps.json" || exit
# The round that is being printed may have begun before the stacks were read.
wait_for $(($(rounds) + 2)) || exit 1
echo "$before $(rounds)" >"$OUT/rounds"
cp $guest/told.log "$OUT/"
grep ' fuse_dev_do_read\b' $guest/kallsyms >"$OUT/fuse"
cp /run/lab/guest2/kallsyms "$OUT/"
# Many runs, which are faster without sanitizers; the same code has run with them above.
for _ in $(seq 120); do
	perfvisor-release stack --vm guest2 --json >"$OUT/vcpus" || exit
	cat "$OUT/vcpus" >>"$OUT/vcpus.json"
	grep -q '"hot_[ab]"' "$OUT/vcpus.json" && grep -q '"halted"' "$OUT/vcpus.json" &&
		grep -q '"vfs_read"' "$OUT/vcpus.json" && break
done
for _ in $(seq 120); do # until the second vCPU runs, and runs the guest's reader
	perfvisor-release stack --vm guest2 >"$OUT/vcpus.text" || exit
	grep -A1 '^vCPU 1: running, [0-9/]* reader, in' "$OUT/vcpus.text" |
		grep -q '^ .*+0x' && break
done
perfvisor stack --vm guest2 --vcpu 1 --json >"$OUT/vcpu1.json" || exit
! perfvisor stack --vm guest2 --vcpu 2 2>"$OUT/vcpu2.error"
