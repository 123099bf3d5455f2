#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run by test_list.sh in the lab's host. For each method, it writes the output of `perfvisor list
# --json` to $OUT (bpf, debugfs and proc.json), and the truth (truth: vm_zoo's lines, and the same
# for QEMUs, with their names instead of a kind).
set -u

# wait_for SECONDS COMMAND…: wait until it succeeds
wait_for() {
	local i limit=$(($1 * 10))
	shift
	for ((i = 0; i < limit; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	echo "not true after $((limit / 10)) s: $*"
	return 1
}

# Print the vCPU threads of QEMU process $1 as "0:TID 1:TID". QEMU names them if debug-threads is
# on.
qemu_threads() {
	local task comm
	for task in /proc/"$1"/task/*; do
		comm=$(<"$task/comm")
		[[ $comm == "CPU "*"/KVM" ]] && echo "$(tr -dc 0-9 <<<"$comm"):${task##*/}"
	done | sort -n | xargs
}

has_threads() {
	[ "$(qemu_threads "$1" | wc -w)" = "$2" ]
}

for kind in plain forked several doubled empty headless ended orphaned vforked execed; do
	vm_zoo $kind >"/tmp/zoo.$kind" &
	wait_for 20 test -s "/tmp/zoo.$kind" || exit 1
done

# SeaBIOS with nothing to boot: vCPU 0 runs it; the others have been started and wait.
qemu-system-x86_64 -name guest=a,,b,debug-threads=on -accel kvm -machine q35 -cpu Nehalem \
	-smp 3 -m 96 -nodefaults -no-user-config -display none &
qemu=$!
wait_for 30 has_threads $qemu 3 || exit 1
# wait until they have entered the guest once
sleep 2
# perfvisor and its parser take turns; on two CPUs each message would wake up the other one, which
# is slow in emulation.
taskset -p 2 $$ >/dev/null
cat /tmp/zoo.* >"$OUT/truth"
echo "a,b $qemu $((96 << 20)) $(qemu_threads $qemu)" >>"$OUT/truth"

[ ! -e /run/lab/guest1/version ] || cp /run/lab/guest1/version "$OUT/"
time perfvisor list --no-memory --json >"$OUT/no-memory.json"
time perfvisor list --json >"$OUT/bpf.json"
perfvisor list | tee "$OUT/table"
vm_zoo without-bpf perfvisor list --json >"$OUT/debugfs.json"
unshare -m sh -c 'umount -l /sys/kernel/debug; exec vm_zoo without-bpf perfvisor list --json' \
	>"$OUT/proc.json"
# In its own pid namespace: only its own VM, with its pids in this namespace. shellcheck
# disable=SC2016 # OUT is also in the environment of the inner shell
unshare -p -f --mount-proc sh -c 'vm_zoo plain >"$OUT/inside" &
	while ! [ -s "$OUT/inside" ]; do sleep 0.1; done
	perfvisor list --json >"$OUT/inside.json"
	vm_zoo without-bpf perfvisor list --json >"$OUT/inside-proc.json"'

mapfile -t pids < <(awk '{ print $2 }' "$OUT/truth" | sort -u)
kill -9 "${pids[@]}"
for pid in "${pids[@]}"; do
	wait_for 10 test ! -e "/proc/$pid/fd/0" || exit 1
done
perfvisor list --json >"$OUT/after.json"
