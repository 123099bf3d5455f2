#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# QEMUs without KVM, which never run their guests here: list shows them, and a long name does not
# make its table wide; record says how to record one; ps, stack and symbols look into it.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
[ "$(id -u)" = 0 ] || { echo 'this takes root'; exit 77; }
folder=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$folder"' EXIT
status=0
complain() {
	echo "$1"
	status=1
}
start() { # NAME SOCKET [OPTION]: -qmp, or what makes no QMP socket
	qemu-system-x86_64 -name "$1" -accel tcg -S -m 16 -nodefaults -display none \
		"${3:--qmp}" "unix:$folder/$2,server=on,wait=off" >"$folder/qemu.log" 2>&1 &
	pids+=($!)
	for _ in {1..600}; do
		[ ! -S "$folder/$2" ] || return 0
		sleep 0.1
	done
	echo "QEMU does not start: $(cat "$folder/qemu.log")"
	exit 1
}
# run STATUS COMMAND…
run() {
	local want=$1 got
	shift
	"$perfvisor" "$@" >"$folder/out" 2>"$folder/err" </dev/null
	got=$?
	[ $got = "$want" ] || complain "$*: exit status $got, not $want: $(cat "$folder/err")"
}
says() { # FILE PATTERN
	grep -qE -e "$2" "$folder/$1" || complain "it does not say '$2': $(cat "$folder/$1")"
}
long=$(printf 'n%.0s' {1..200})
start emulated1 qmp1
start "$long" qmp2

run 0 list
says out "^ *${pids[0]}  qemu  +\?  .* emulated1 "
says out "^ *${pids[1]}  qemu .* n{40,}\.\.\. "
[ "$(wc -L <"$folder/out")" -lt 200 ] || complain "the table is wide: $(cat "$folder/out")"
says err "VM 'emulated1' runs without KVM: 'perfvisor record --engine qmp -p ${pids[0]}'"
run 0 list --json
python3 - "$folder/out" "$long" "${pids[@]}" <<'CHECK' || status=1
import json, sys
vms = {vm["pid"]: vm for vm in json.load(open(sys.argv[1]))["vms"]}
first, second = (vms[int(pid)] for pid in sys.argv[3:])
if (first["name"], first["kvm"], first["vcpus"], second["name"]) != (
        "emulated1", False, [], sys.argv[2]):
    sys.exit(f"list --json: {first}, {second}")
CHECK
for name in emulated1 "${pids[0]}"; do
	run 1 record -e cpu-clock --vm "$name" -o "$folder/none.data"
	says err "KVM does not run VM 'emulated1'"
	says err "hint: .* --engine qmp -p ${pids[0]}"
	for command in ps symbols 'stack --tasks'; do
		# shellcheck disable=SC2086 # words
		run 1 $command --vm "$name"
		says err "VM 'emulated1'"
		! grep -q 'there is no VM' "$folder/err" ||
			complain "$command: $(cat "$folder/err")"
	done
done
# Without a QMP socket no engine reads it; doctor knows of the same VMs as list.
kill "${pids[1]}"
wait "${pids[1]}" 2>/dev/null
start deaf monitor -monitor
run 0 list
says err "VM 'deaf' runs without KVM, and has no QMP socket"
run 1 record -e cpu-clock --vm deaf -o "$folder/none.data"
says err "hint: VM 'deaf' .* QMP socket .* has none"
"$perfvisor" doctor >"$folder/out" 2>&1 </dev/null
says out 'VMs without KVM +[1-9]'
says out 'VMs +(KVM runs none|[1-9])' # another test may have one
[ ! -e "$folder/none.data" ] || complain 'a recording is begun'
exit $status
