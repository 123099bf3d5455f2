#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --engine qmp with a guest that QEMU emulates on this machine, without KVM and without a lab
# host. The profile matches the workload, chains are complete, and nothing is left out. The guest
# continues when the recorder is killed, but stays paused if someone else paused it.
set -u
[ "$(id -u)" = 0 ] || { echo "this test reads another process's memory: run it as root"; exit 77; }
. tests/lab/tcg_guest.sh
. tests/lab/host/waits.sh
. tests/lab/host/record_known.sh
perfvisor=${PERFVISOR:-build/release/perfvisor}
out=$PWD/build/lab/engine_qmp
tcg_guest tests/lab/guest/engine_qmp_workload.sh 3 "$out"

# COMMAND: send it to QEMU's human monitor
monitor() {
	python3 tests/lab/check/ask_monitor.py "$out/qmp.sock" "$1"
}
record=("$perfvisor" record --engine qmp -p "$QEMU_PID" --max-overhead 100)
cp "$WORKLOAD_PROGRAMS/user7525" "$out/"
perfvisor-release() {
	build/release/perfvisor "$@"
}
record_data() {
	cp "$out/console.log" "$out/console.before"
	"${record[@]}" -v -g -F 200 --duration "$1" -o "$out/data" 2>"$out/err" ||
		{ cat "$out/err"; exit 1; }
	cp "$out/console.log" "$out/console.after"
	echo "$1" >"$out/seconds"
}
data_are_there() {
	local before after
	before=$(grep -ac ^SHARE "$out/console.before")
	after=$(grep -ac ^SHARE "$out/console.after")
	[ "$after" -ge $((before + 6)) ] &&
		WANTED='180 ^user7525 (hot_[ab]|main) _start of ^user7525 (hot_[ab]|main)
180 ^reader [^ ]* _start of ^reader ' has_wanted "$out/data"
}
until_there 6 data_are_there record_data || exit
"$perfvisor" script -i "$out/data" -F machine_pid,vcpu,comm,pid,ip,sym >"$out/script"
"$perfvisor" report -i "$out/data" >"$out/report"

# Do not query QEMU while the guest is being continued: its socket serves one client at a time.
is_gone() {
	! pgrep -f -- "--engine qmp -p $QEMU_PID " >/dev/null
}
# What is written so far has names of the guest's programs.
has_names() {
	cp "$out/killed" "$out/so_far" &&
		build/release/perfvisor report -i "$out/so_far" --sort gcomm,sym 2>/dev/null |
		grep -qE ' user7525 +\[u\] (hot_[ab]|main)'
}
for attempt in 1 2 3 4; do
	"${record[@]}" -F 1000 -o "$out/killed" 2>"$out/killed.err" &
	recorder=$!
	wait_for grep -qs '^perfvisor: recording' "$out/killed.err"
	sleep 1 # at some point between two samples, or during one
	[ $attempt != 4 ] || wait_for has_names
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	wait_for is_gone
	monitor "info status"
done >"$out/killed.status"
"$perfvisor" report -i "$out/killed" --sort vm,gcomm,sym >"$out/killed.report" 2>&1

# A file that cannot grow any more, as on a full disk; and a pipe.
(
	ulimit -f 700 # KiB: a kernel's symbols take most of it
	"${record[@]}" -g -F 1000 --duration 60 -o "$out/limited" 2>"$out/limited.err"
	echo $? >"$out/limited.status"
)
wait_for is_gone
"$perfvisor" report -i "$out/limited" --no-children --sort vm,gcomm,sym >"$out/limited.report" 2>&1
"${record[@]}" -F 200 -o - 2>"$out/piped.err" -- sh -c 'echo from the command; sleep 5' |
	"$perfvisor" report -i - --sort vm,gcomm,sym >"$out/piped.report" 2>&1
wait_for is_gone
monitor stop
"${record[@]}" --duration 1 -o "$out/paused" 2>"$out/paused.err"
monitor "info status" >"$out/paused.status"
python3 tests/lab/check/check_engine_qmp.py "$out" 3
