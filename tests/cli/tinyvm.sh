# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A VM to record, for tests that source this: after start_tinyvm, $vm is its pid and $threads are
# the threads of its two vCPUs, which are busy. A test ends with stop_tinyvm.
tinyvm=$(realpath "${TINYVM_FOLDER:-build/release/lab/tinyvm}/tinyvm")

start_tinyvm() {
	"$tinyvm" --seconds 600 --vcpus 2 >vm.out 2>&1 &
	vm=$!
	for ((i = 0; i < 100; i++)); do
		threads=$(cd /proc/$vm/task 2>/dev/null && grep -l vcpu */comm | cut -d/ -f1)
		[ "$(wc -w <<<"$threads")" = 2 ] && break
		kill -0 $vm 2>/dev/null || break
		sleep 0.1
	done
}

stop_tinyvm() {
	kill $vm 2>/dev/null
	wait $vm 2>/dev/null
}
