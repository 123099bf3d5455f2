#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run by test_record.sh in the lab's host with two guests: guest1 runs user7525, guest2 the kernel
# workload. Samples are expensive under emulation, so only one recording has a budget. Each
# recording NAME writes NAME.err (perfvisor's messages), NAME.status and NAME.data to $OUT. Scopes:
# "shares": what depends on guest kernels; "short": also what depends on the host's kernel; "all".
set -u
. /root/waits.sh
. /root/record_known.sh
scope=$1

# record NAME OPTION…: record to /tmp/NAME, with sanitizers
record() {
	local name=$1
	shift
	"${PROGRAM:-perfvisor}" record --max-overhead 100 -o "/tmp/$name" "$@" 2>"$OUT/$name.err"
	echo $? >"$OUT/$name.status"
	keep "$name"
}

# The same without sanitizers, which starts sampling much earlier: for recordings that are repeated
# until they have enough samples, and for code that runs with sanitizers in another recording.
record_fast() {
	PROGRAM=perfvisor-release record "$@"
}

# NAME…: keep recordings for look_at_recordings.sh, which runs outside of the lab, where it is
# faster
keep() {
	for name; do
		[ ! -e "/tmp/$name" ] || cp "/tmp/$name" "$OUT/$name.data"
	done
}

# FILE: wait until the recorder whose stderr is FILE is recording
wait_for_beginning() {
	wait_for grep -qs '^perfvisor: recording' "$1"
}
# samples_of FILE PID: print the number of samples of this VM's guest
samples_of() {
	perfvisor-release script -i "$1" -F machine_pid,vcpu,ip 2>/dev/null | grep -c "^ *VM: *$2 "
}

truth() {
	cp /usr/share/perfvisor-lab/user7525 "$OUT/"
	cp /run/lab/guest1/kallsyms "$OUT/guest1.kallsyms"
	cp /run/lab/guest2/kallsyms "$OUT/guest2.kallsyms"
	perfvisor list --json >"$OUT/list.json"
	cat /run/lab/guest[12]/pid >"$OUT/pids"
}

# For debugging: keep all output of the guests' consoles.
keep_consoles() {
	cp /run/lab/guest1/console.log "$OUT/guest1.end"
	cp /run/lab/guest2/console.log "$OUT/guest2.end"
}
trap keep_consoles EXIT
truth
# Let stock perf record the same guest at the same time, because no two seconds of an emulated guest
# are alike. perf fails if a thread ends while it opens events, as QEMU's workers do. The periods
# have no common divisor with each other or a guest's tick: timers in step miss what others see.
record_two() {
	cp /run/lab/guest1/console.log "$OUT/guest1.before"
	record_fast two -c 997003 -- sh -c "
		for _ in 1 2 3 4 5; do
			perf kvm --guest record -q -k CLOCK_MONOTONIC -e cpu-clock -c 1037003 \
				-o /tmp/perf -p $(cat /run/lab/guest2/pid) sleep $1 \
				>/dev/null 2>&1 && exit
		done
		exit 1"
	cp /run/lab/guest1/console.log "$OUT/guest1.console"
}
shares_told() {
	grep -ac '^SHARE' "$OUT/$1"
}
two_are_there() {
	WANTED='450 ^user7525 hot_[ab]' has_wanted /tmp/two &&
		[ "$(samples_of /tmp/two "$(cat /run/lab/guest2/pid)")" -ge 700 ] &&
		[ "$(perfvisor-release script -i /tmp/perf -F ip 2>/dev/null |
			grep -c .)" -ge 700 ] &&
		[ $(($(shares_told guest1.console) - $(shares_told guest1.before))) -ge 6 ]
}
until_there 4 two_are_there record_two || exit
keep perf
[ "$scope" = shares ] && exit
record_fast host --host --duration 2
record both --guest --host --vm guest1 --vm guest2 --duration 2 \
	--guestkallsyms /run/lab/guest2/kallsyms
od -A n -v -t x1 /sys/kernel/notes | tr -d ' \n' >"$OUT/notes"
for guest in $LAB_GUESTS; do
	cmp -s /proc/version "/run/lab/$guest/version" && cat "/run/lab/$guest/pid"
done >"$OUT/same_kernel"
record tracepoint -e kvm:kvm_exit --vm guest2 --duration 1 -v

# What top shows while it samples, until each guest's first row is what the guest is busy with:
# names take a while to come, in emulation. Ctrl-C ends it, and the recorder with it.
busy_first() {
	awk '/ samples in / { first = second = "" }
		/%  guest1 / && !first { first = $NF }
		/%  guest2 / && !second { second = $NF }
		first == "hot_a" && second == "chacha_permute" { found = 1 }
		END { exit !found }' "$OUT/top.txt"
}
perfvisor-release top --max-overhead 100 -F 97 -z -d 2 -E 30 --vm guest1 --vm guest2 \
	>"$OUT/top.txt" 2>"$OUT/top.err" &
viewer=$!
wait_for busy_first
kill -INT $viewer
wait $viewer
echo $? >"$OUT/top.status"
ps | grep '[p]erfvisor-release top' >"$OUT/top.left"

# A budget of 1 %, compared with the kernel's accounting of the BPF program's time for guest2's only
# vCPU.
look_at_costs() {
	awk '{ print "uptime", $1 }' /proc/uptime
	awk 'FNR == 1 { program = 0 } /^prog_type:\t7$/ { program = 1 }
		program && /^run_(time_ns|cnt):/ { print $1, $2 }' "/proc/$1/fdinfo/"*
	awk '{ split(FILENAME, part, "/"); print "thread", part[5], $1 }' \
		"/proc/$(cat /run/lab/guest2/pid)/task/"*/schedstat
}
sysctl -q -w kernel.bpf_stats_enabled=1
perfvisor record -g -v --vm guest2 -F 997 --max-overhead 1 -o /tmp/budget 2>"$OUT/budget.err" &
recorder=$!
# Wait until the rate was lowered, and then remains for four checks of the recorder.
wait_for grep -qs 'sampling at .* Hz: at' "$OUT/budget.err"
for _ in $(seq 60); do
	changes=$(grep -c 'sampling at .* Hz: at' "$OUT/budget.err")
	sleep 2
	[ "$changes" != "$(grep -c 'sampling at .* Hz: at' "$OUT/budget.err")" ] || break
done
for look in 0 1 2 3; do
	look_at_costs $recorder >"$OUT/budget.$look"
	[ $look = 3 ] || sleep 2
done
kill -INT $recorder
wait $recorder
echo $? >"$OUT/budget.status"
sysctl -q -w kernel.bpf_stats_enabled=0
keep budget

# A ring of about a page, and a recorder that is stopped: most samples are lost, and are reported as
# lost.
sysctl -q -w kernel.perf_event_mlock_kb=16
(
	ulimit -l 0
	setpriv-full --bounding-set=-ipc_lock perfvisor record -e kvm:kvm_exit -v --vm guest1 \
		--vm guest2 -o /tmp/lost 2>"$OUT/lost.err" &
	recorder=$!
	wait_for_beginning "$OUT/lost.err"
	sleep 2
	kill -STOP $recorder
	sleep 2
	kill -CONT $recorder
	sleep 1
	kill -INT $recorder
	wait $recorder
	echo $? >"$OUT/lost.status"
)
keep lost
sysctl -q -w kernel.perf_event_mlock_kb=516
[ "$scope" = short ] && exit

# As nobody, with the capabilities that the manual page names, and with none; without BPF, where
# vCPU threads are found through debugfs or, without that, are not known. Debian's kernels have a
# level 3, which requires CAP_SYS_ADMIN.
mkdir -m 777 /tmp/nobody
as_nobody() {
	setpriv-full --reuid 65534 --regid 65534 --clear-groups "$@"
}
few_rights=(as_nobody "--inh-caps=+perfmon,+sys_ptrace,+bpf"
	"--ambient-caps=+perfmon,+sys_ptrace,+bpf")
sysctl -q -w kernel.perf_event_paranoid=3
"${few_rights[@]}" perfvisor record --duration 1 -o /tmp/nobody/level3 2>"$OUT/level3.err"
echo $? >"$OUT/level3.status"
sysctl -q -w kernel.perf_event_paranoid=2
"${few_rights[@]}" perfvisor record --max-overhead 100 --vm guest1 --duration 2 -v \
	-o /tmp/nobody/least 2>"$OUT/least.err"
echo $? >"$OUT/least.status"
as_nobody perfvisor record --duration 1 -o /tmp/nobody/none 2>"$OUT/none.err"
echo $? >"$OUT/none.status"
without_bpf=(setpriv-full "--bounding-set=-bpf,-sys_admin")
"${without_bpf[@]}" perfvisor record --vm guest1 --duration 2 -o /tmp/debugfs 2>"$OUT/debugfs.err"
echo $? >"$OUT/debugfs.status"
unshare -m sh -c 'umount -l /sys/kernel/debug; exec "$@"' sh "${without_bpf[@]}" \
	perfvisor record --vm guest1 --duration 2 -o /tmp/unknown 2>"$OUT/unknown.err"
echo $? >"$OUT/unknown.status"
unshare -m sh -c 'umount -l /sys/kernel/debug; exec "$@"' sh "${without_bpf[@]}" \
	perfvisor record --vm guest1 --vcpu 0 -o /tmp/no_numbers 2>"$OUT/no_numbers.err"
echo $? >"$OUT/no_numbers.status"
cp /tmp/nobody/least /tmp/
keep least debugfs unknown

# perfvisor looks at one guest at a time instead of 64: it reads guest1's processes after it has
# looked at guest2.
record_views() {
	PERFVISOR_TEST_VIEWS=1 record_fast views -v -- sh -c "
		for _ in \$(seq 600); do
			[ \$(grep -c ' runs Linux ' $OUT/views.err) -ge 2 ] && break
			sleep 0.2
		done
		sleep $1"
	perfvisor-release report -i /tmp/views --sort vm,gcomm,dso,sym >"$OUT/views.names" 2>&1
}
views_are_there() {
	grep -q 'guest1.* hot_[ab]' "$OUT/views.names" &&
		grep -q 'guest2.* chacha_permute' "$OUT/views.names"
}
until_there 3 views_are_there record_views || exit

# Another kind of VMM in addition to QEMU: one ends and another starts during the recording.
record_side() {
	tinyvm --vcpus 1 >/dev/null &
	echo $! >"$OUT/first.pid"
	record_fast side -F 250 -- sh -c "
		sleep $1
		kill $!
		tinyvm --vcpus 1 >/dev/null &
		echo \$! >$OUT/second.pid
		sleep $1
		kill \$!"
	wait $!
}
side_is_there() {
	local pid
	for pid in $(cat "$OUT/pids" "$OUT/first.pid" "$OUT/second.pid"); do
		[ "$(samples_of /tmp/side "$pid")" -ge 150 ] || return
	done
}
until_there 4 side_is_there record_side || exit

# The recording ends when the named VMs have ended.
tinyvm --vcpus 1 >/dev/null &
named=$!
record_fast named -F 250 -p $named &
wait_for_beginning "$OUT/named.err"
sleep 4
kill $named
wait $named $!

# FILE: true if what is written so far of a recording names guest1's function and has samples of
# both guests. Names of programs come when a thread has read their files.
has_names() {
	sleep 1 # reading takes the time of the recorder
	cp "$1" /tmp/so_far &&
		perfvisor-release script -i /tmp/so_far -F ip,sym 2>/dev/null |
			grep -q 'hot_[ab]' &&
		[ "$(samples_of /tmp/so_far "$(cat /run/lab/guest2/pid)")" -ge 50 ]
}
# Killed: once with names for certain, and at random moments, also before there is a file.
perfvisor-release record --max-overhead 100 -o /tmp/killed --vm guest1 --vm guest2 \
	2>"$OUT/killed.err" &
wait_for_beginning "$OUT/killed.err"
wait_for has_names /tmp/killed
sleep 1
kill -9 $!
wait $!
keep killed
for number in 1 2 3; do
	perfvisor-release record --max-overhead 100 -o "/tmp/random$number" --vm guest1 \
		--vm guest2 2>/dev/null &
	sleep $((RANDOM % 6)).$((RANDOM % 10))
	kill -9 $!
	wait $!
	keep "random$number"
done

# Through a pipe, to be read elsewhere; the command's own output is not in it.
rm -f /tmp/enough
(
	wait_for has_names "$OUT/piped.pipe"
	touch /tmp/enough
) &
perfvisor-release record --max-overhead 100 -o - --vm guest1 --vm guest2 -- \
	sh -c 'echo from the command; until [ -e /tmp/enough ]; do sleep 0.2; done' \
	2>"$OUT/piped.err" | cat >"$OUT/piped.pipe"

record_fast command --vm guest1 -- sh -c 'sleep 1; exit 3'
# guest2's vCPU 0 by its thread, after a while, until the file is large; both of guest1's; one that
# does not exist
sed -n 's/.*"tid": *\([0-9]*\).*/\1/p' "$OUT/list.json" | sed -n 3p >"$OUT/chosen.thread"
# shellcheck disable=SC2016 # the command's
record chosen -t "$(cat "$OUT/chosen.thread")" -D 2000 -m 2 -v --max-size 700K --duration 100 -- \
	sh -c 'cut -d " " -f 1 /proc/uptime >"$0"; exec sleep 100' "$OUT/chosen.begin"
record_fast both_vcpus --vm guest1 --vcpu 0-1 --duration 0.5
record no_vcpu --vm guest1 --vcpu 7 --duration 0.5
record_fast missing --vm guest1 -- /no/such/command
perfvisor record -o /no/such/folder/file --duration 1 2>"$OUT/unwritable.err"
echo $? >"$OUT/unwritable.status"
sh -c 'exec perfvisor record --max-overhead 100 -o /tmp/signal -- sleep 60' 2>"$OUT/signal.err" &
wait_for_beginning "$OUT/signal.err"
sleep 3
kill -INT $!
wait $!
echo $? >"$OUT/signal.status"
keep signal

# Two of 300 VMs are busy.
for _ in $(seq 298); do
	tinyvm --vcpus 1 --mode idle >/dev/null &
done
tinyvm --vcpus 1 >/dev/null &
echo $! >"$OUT/busy.pids"
tinyvm --vcpus 1 >/dev/null &
echo $! >>"$OUT/busy.pids"
for _ in $(seq 100); do
	[ "$(perfvisor-release list --no-memory | grep -c tinyvm)" = 300 ] && break
	sleep 0.5
done
record_many() {
	record_fast many --duration "$1" -v
}
many_are_there() {
	local pid
	for pid in $(cat "$OUT/busy.pids"); do
		[ "$(samples_of /tmp/many "$pid")" -ge 80 ] || return
	done
}
(
	ulimit -n 256
	perfvisor-release list --no-memory --json >"$OUT/many.json"
	until_there 2 many_are_there record_many || exit
	"${without_bpf[@]}" perfvisor-release record --duration 2 -v -o /tmp/plain \
		2>"$OUT/plain.err"
	echo $? >"$OUT/plain.status"
	keep plain
) || exit
jobs -p | xargs kill 2>/dev/null
wait
