#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --engine qmp of a guest that QEMU emulates here, without KVM and without a host of the lab between:
# the profile is the workload's, chains lead to where they began, nothing is left out; and the guest goes on
# when the recorder is killed, but is not made to when somebody else has paused it.
set -u
[ "$(id -u)" = 0 ] || { echo "reads another process' memory: run as root"; exit 77; }
. tests/lab/tcg_guest.sh
perfvisor=${PERFVISOR:-build/release/perfvisor}
out=$PWD/build/lab/engine_qmp
tcg_guest tests/lab/engine_qmp_workload.sh 3 "$out"

# COMMAND: asks QEMU's human monitor
monitor() {
	python3 tests/lab/ask_monitor.py "$out/qmp.sock" "$1"
}
record=("$perfvisor" record --engine qmp -p "$QEMU_PID" --max-overhead 100)
cp "$WORKLOAD_PROGRAMS/user7525" "$out/"
"${record[@]}" -v -g -F 200 --duration 8 -o "$out/data" 2>"$out/err" || { cat "$out/err"; exit 1; }
"$perfvisor" script -i "$out/data" -F comm,pid,ip,sym >"$out/script"
"$perfvisor" report -i "$out/data" >"$out/report"

for i in 1 2 3 4; do
	"${record[@]}" -q -F 1000 -o "$out/killed" &
	sleep 2
	kill -KILL $!
	wait $! 2>/dev/null
	sleep 1
	monitor "info status"
done >"$out/killed.status"
monitor stop
"${record[@]}" --duration 1 -o "$out/paused" 2>"$out/paused.err"
monitor "info status" >"$out/paused.status"
python3 tests/lab/check_engine_qmp.py "$out" 3
