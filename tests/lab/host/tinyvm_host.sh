#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run by test_tinyvm.sh in the lab's host. It checks what needs no symbols. For the other checks it
# writes to $OUT: MODE.stats (from tinyvm --stats), MODE.samples (cpumode and IP of each sample of
# stock perf, from `perf report -D`), and NAME.data (from perfvisor record -g).
set -u
. /root/waits.sh
. /root/record_known.sh
status=0
fail() {
	echo "FAIL: $*"
	status=1
}

# PID SIGNAL: end the VM; it must end soon and with status 0
end() {
	local pid=$1 number=$2 status state waited=0
	kill "-$number" "$pid"
	while [ -d "/proc/$pid" ] &&
		[ "$(awk '/^State/ { print $2 }' "/proc/$pid/status")" != Z ]; do
		if [ $((waited += 1)) -gt 200 ]; then
			state=$(grep -E '^(State|S[ih]g|ShdPnd)' "/proc/$pid/status" |
				tr '\n\t' '  ')
			fail "still running 20 s after signal $number: $state"
			kill -KILL "$pid"
		fi
		sleep 0.1
	done
	wait "$pid"
	status=$?
	[ $status = 0 ] || fail "status $status after signal $number"
}

has_vcpu() {
	grep -q tinyvm-vcpu0 "/proc/$1/task/"*/comm
}

# PID SECONDS: sample it with stock perf, into /tmp/samples
perf_samples() {
	perf kvm --guest record -e cpu-clock -F 1000 -p "$1" -o /tmp/perf.data sleep "$2" \
		2>/tmp/log ||
		fail "perf: $(cat /tmp/log)"
	perf report -D -i /tmp/perf.data 2>/dev/null |
		sed -nE 's/.*RECORD_SAMPLE\(IP, (0x[0-9a-f]+)\).*: (0x[0-9a-f]+) period.*/\1 \2/p' \
			>/tmp/samples
}
# Enough guest samples: test_tinyvm.sh needs 2,000 in some functions, which have nearly all samples.
samples_are_there() {
	[ "$(grep -cE '^0x[0-9a-f]*[45] ' /tmp/samples)" -ge 2200 ]
}

# MODE OPTION…: profile a VM for some seconds, end it with SIGTERM
profile() {
	local mode=$1 pid
	shift
	echo "profiling mode $mode"
	tinyvm --mode "${mode%-*}" --stats "$@" >"$OUT/$mode.stats" &
	pid=$!
	until_there 4 samples_are_there perf_samples $pid || fail "$mode: too few samples"
	end $pid TERM
	cp /tmp/samples "$OUT/$mode.samples"
}

# NAME PID OPTION… SECONDS: record its call chains
record_chains() {
	perfvisor record -v -g --max-overhead 100 -F 997 -p "$2" -o "$OUT/$1.data" \
		"${@:3:$#-3}" --duration "${!#}" 2>"$OUT/$1.log" ||
		fail "record -g: $(cat "$OUT/$1.log")"
}
chains_are_there() {
	[ "$(perfvisor-release script -i "$CHAINS" -F pid,ip --max-stack 1 2>/dev/null |
		grep -cE '^[[:space:]]+[0-9a-f]+$')" -ge 1100 ]
}

# NAME MODE ELF FILE OPTION…: record call chains of a VM that runs ELF, with --guestvmlinux FILE (-:
# without it)
chains() {
	local name=$1 mode=$2 elf=$3 file=$4 pid CHAINS=$OUT/$1.data
	shift 4
	tinyvm --mode "$mode" "$@" "$elf" &
	pid=$!
	wait_for has_vcpu $pid
	# shellcheck disable=SC2046 # two words, or none
	until_there 2 chains_are_there \
		record_chains "$name" $pid $([ "$file" = - ] || echo --guestvmlinux "$file") ||
		fail "$name: too few chains"
	end $pid TERM
}

now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

available_kb() {
	awk '/MemAvailable/ { print $2 }' /proc/meminfo
}

# COUNT MODE: all start, and all end with status 0 on SIGTERM; print their cost. They run in a
# control group with a small weight, because otherwise this shell would have to wait for hundreds of
# busy vCPUs.
many() {
	local count=$1 mode=$2 pids='' pid bad=0 begin free
	free=$(available_kb)
	begin=$(now_ms)
	for ((i = 0; i < count; i++)); do
		(echo "$BASHPID" >/sys/fs/cgroup/many/cgroup.procs &&
			exec tinyvm --mode "$mode" --name "vm$i") 2>>/tmp/many.err &
		pids+=" $!"
	done
	until [ "$(find /sys/kernel/debug/kvm -maxdepth 2 -name vcpu0 |
		wc -l)" = $((count + 1)) ]; do
		[ $(($(now_ms) - begin)) -lt 60000 ] ||
			{ fail "$count $mode: not all start"; break; }
		sleep 0.2
	done
	echo "$count tinyvms, $mode: started after $(($(now_ms) - begin)) ms," \
		"$(((free - $(available_kb)) / count)) KB each"
	begin=$(now_ms)
	# shellcheck disable=SC2086 # a list of pids
	kill -TERM $pids 2>>/tmp/many.err
	for pid in $pids; do
		wait "$pid" || bad=$((bad + 1))
	done
	echo "  ended after $(($(now_ms) - begin)) ms"
	[ $bad = 0 ] ||
		fail "$bad of $count in mode $mode did not end well: $(head -n 3 /tmp/many.err)"
	[ ! -s /tmp/many.err ] || fail "$(head -n 3 /tmp/many.err)"
}

# PATTERN ARGUMENT…: tinyvm ends by itself with status 1, and prints PATTERN and the registers
ends_badly() {
	local pattern=$1 got
	shift
	timeout 20 tinyvm "$@" >/tmp/out 2>&1
	got=$?
	[ $got = 1 ] || fail "tinyvm $*: status $got"
	grep -q "$pattern" /tmp/out || fail "tinyvm $*: no \"$pattern\" in $(cat /tmp/out)"
	grep -q '^  rip [0-9a-f]\{16\} ' /tmp/out ||
		fail "tinyvm $*: no registers in $(cat /tmp/out)"
}

# The first and the last VM, and the first and the last event on a task, each switch a static key in
# the scheduler. The kernel then patches its own code, and the emulation's race with that
# (lab/README.md) froze the host once in about 50 switches. So there is always one VM and one event.
tinyvm --mode idle &
keeper=$!
perf stat -e dummy sleep 1000 2>/dev/null &

profile loop --vcpus 2
profile user
profile user-la57 --vcpus 2 --la57
profile deep
with=/usr/share/perfvisor-lab/unikernel.elf without=/root/unikernel-nofp.elf
chains fp-loop loop $with $with --vcpus 2
chains fp-deep deep $with $with --la57
chains nofp-loop loop $without $without --vcpus 2
chains nofp-deep deep $without $without
chains pointers-loop loop $with /root/unikernel-pointers.elf --vcpus 2
chains pointers-deep deep $with /root/unikernel-pointers.elf
chains wrong deep $with $without
chains none deep $with -
timeout 20 tinyvm --seconds 1 --vcpus 64 --stats /root/unikernel-nofp.elf >"$OUT/seconds.stats" ||
	fail "--seconds: status $?"
tinyvm --mode idle & pid=$!
wait_for has_vcpu $pid
[ "$(sort /proc/$pid/task/*/comm | tr '\n' ' ')" = 'tinyvm tinyvm-vcpu0 ' ] ||
	fail "threads: $(cat /proc/$pid/task/*/comm)"
end $pid INT # bash starts it with SIGINT ignored, but tinyvm handles it nevertheless

ends_badly '#UD invalid instruction) at rip 0xffffffff801' --mode fault
ends_badly 'unexpected exit .* (HLT)' /root/halt.elf
ends_badly 'SHUTDOWN (triple fault)' /root/triple.elf
ends_badly '#UD invalid instruction' --mode fault --vcpus 64 --la57

echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/many
echo 1 >/sys/fs/cgroup/many/cpu.weight
many 300 idle
many 300 loop
end $keeper TERM
exit $status
