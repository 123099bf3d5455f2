#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# VMs whose owner makes them costly to look at, or takes them away: many descriptors of the same
# files, more memory slots than any VM has, and a vCPU that is gone while its thread stays.
set -u
perfvisor=${PERFVISOR:-build/release/perfvisor}
folder=$(mktemp -d)
vm= recorder= other=
trap 'kill $vm $recorder $other 2>/dev/null; rm -rf "$folder"' EXIT
status=0
complain() {
	echo "$1"
	status=1
}
# begin ARGUMENTS…: starts kvm_files.py; $vm is its pid, ${VM[1]} ends it
begin() {
	coproc VM { exec python3 tests/cli/kvm_files.py "$@"; }
	vm=$VM_PID
	read -r word rest <&"${VM[0]}"
	[ "$word" = ready ] && return
	echo "this host makes no VM: $word $rest"
	exit 77
}
finish() {
	kill "$vm"
	wait "$vm" 2>/dev/null
}
# listed PYTHON: a condition on v, what perfvisor list says of the VM
listed() {
	"$perfvisor" list --no-memory --json >"$folder/out" 2>"$folder/err" ||
		complain "perfvisor list failed: $(cat "$folder/err")"
	python3 - "$folder/out" "$vm" "$1" <<'PYTHON' || complain "not true of VM $vm: $1"
import json
import sys

document = json.load(open(sys.argv[1]))
vms = [vm for vm in document["vms"] if vm["pid"] == int(sys.argv[2])]
print(vms)
sys.exit(not (len(vms) == 1 and eval(sys.argv[3], {"v": vms[0]})))
PYTHON
}

[ "$(id -u)" = 0 ] || { echo "this is not root"; exit 77; }
begin 3 1000
"$perfvisor" list --no-memory --json >"$folder/out" || complain "perfvisor list failed"
grep -q '"threads_from": "bpf"' "$folder/out" || { finish; echo "there is no BPF here"; exit 77; }
listed 'v["memory_bytes"] == 3 * 4096 and len(v["vcpus"]) == 1'
finish

# Counting 20,000 slots at each of 1,000 descriptors would take seconds. No VM has that many.
begin 20000 1000
listed 'v["memory_bytes"] is None and len(v["vcpus"]) == 1'
finish

# events: how many events perfvisor has open
events() {
	find "/proc/$recorder/fd" -lname 'anon_inode:\[perf_event\]' 2>/dev/null | wc -l
}
# wait_until COMMAND…: at most a minute
wait_until() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" && return
		sleep 0.1
	done
	complain "not within a minute: $*"
}
has_events() { [ "$(events)" -gt "$before" ]; }
lost_events() { [ "$(events)" -le "$before" ]; }

# Without the VM, but with another one, since record needs one to begin.
mkfifo "$folder/open"
python3 tests/cli/kvm_files.py 1 0 <>"$folder/open" >"$folder/other" &
other=$!
wait_until grep -q ready "$folder/other"
"$perfvisor" record -e cpu-clock -o "$folder/data" -q 2>"$folder/err" &
recorder=$!
wait_until test -e "$folder/data"
before=$(events)
begin close
wait_until has_events
echo >&"${VM[1]}"
read -r word <&"${VM[0]}"
[ "$word" = closed ] || complain "the VM was not closed"
wait_until lost_events
[ -d "/proc/$vm" ] || complain "the process has ended, which was not the question"
kill -INT $recorder
wait $recorder || complain "record: exit status $?: $(cat "$folder/err")"
finish
exit $status
