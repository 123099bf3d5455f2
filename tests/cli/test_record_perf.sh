#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perfvisor record's options that perf has, too: what stock perf sees of them in the recordings.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
. tests/cli/tinyvm.sh
command -v perf >/dev/null || { echo 'perf is not installed'; exit 77; }
folder=$(mktemp -d) || exit 1
cd "$folder" || exit 1
export HOME=$folder # no perfconfig, no build-id cache
status=0
complain() {
	echo "$1"
	status=1
}
start_tinyvm
trap 'stop_tinyvm; rm -rf "$folder"' EXIT
if ! "$perfvisor" record -q --guest --host -e cpu-clock -p $vm --duration 0.1 -o try 2>err; then
	echo "no VM can be recorded here: $(head -n 1 err)"
	exit 77
fi
# record FILE LEAST ARGUMENT…: until there are so many samples
record() {
	local file=$1 least=$2
	shift 2
	for ((tries = 0; tries < 60; tries++)); do
		"$perfvisor" record -q --guest --host -p $vm -o "$file" --duration 0.5 "$@" \
			2>err || {
			complain "record $*: $(cat err)"
			return 1
		}
		perf script -F tid,cpu,time,event,trace -i "$file" >samples 2>warnings
		[ "$(wc -l <samples)" -ge "$least" ] && return
	done
	complain "record $*: $(wc -l <samples) samples"
}

# -k: times are of this clock, and perf says which one it is, as of its own recordings.
read_clock() { # read_clock NAME
	python3 -c 'import sys, time
print("%.6f" % time.clock_gettime(getattr(time, "CLOCK_" + sys.argv[1].upper())))' "$1"
}
for clock in monotonic monotonic_raw realtime boottime tai; do
	from=$(read_clock $clock)
	record $clock.data 10 -e cpu-clock -k $clock
	to=$(read_clock $clock)
	perf script -F time -i $clock.data 2>warnings | tr -d ' :' |
		awk -v from="$from" -v to="$to" '$1 < from || $1 > to { wrong++ }
			END { exit !(NR >= 10 && !wrong) }' ||
		complain "-k $clock: times are not between $from and $to"
	# Ours are perf's. Not their names: perf has none for the few samples in guest mode.
	perf script -F tid,time,event -i $clock.data >perf.txt 2>warnings
	"$perfvisor" script -F tid,time,event -i $clock.data >ours.txt 2>err
	cmp -s perf.txt ours.txt ||
		complain "-k $clock: $(diff perf.txt ours.txt | head -n 4)"
	perf record -q -k $clock -e cpu-clock -o perf.data true 2>/dev/null
	for file in perf.data $clock.data; do
		perf report --header-only -i $file 2>/dev/null | grep '^# clockid' >$file.header
		perf script -F tod -i $file 2>/dev/null | head -n 1 >$file.day
	done
	[ "$(wc -l <perf.data.header)" = 2 ] && diff perf.data.header $clock.data.header ||
		complain "-k $clock: perf shows another clock"
	day=$(perf script -F tod -i $clock.data 2>warnings | head -n 1 | awk '{ print $1 " " $2 }')
	[ $(($(date +%s) - $(date -d "${day%%.*}" +%s))) -lt 600 ] ||
		complain "-k $clock: the time of day is $day"
done
"$perfvisor" record -q --guest --host -p $vm -o piped --duration 0.3 -e cpu-clock -k CLOCK_Boot \
	-o - 2>err | perf script -F time -i - 2>warnings | tail -n 1 | tr -d ' :' |
	awk -v now="$(read_clock boottime)" '$1 < now - 600 || $1 > now + 600 { exit 1 }' ||
	complain "-k in a pipe: $(cat err)"

# --filter: of the events of the -e before it, as by perf.
first=$(head -n 1 <<<"$threads")
if record all 20 -e sched:sched_switch; then
	record some 20 -e sched:sched_switch --filter "prev_pid == $first"
	grep -vc "prev_pid=$first " samples | grep -qx 0 ||
		complain "--filter: $(grep -v "prev_pid=$first " samples | head -n 2)"
	# Two filters are both to be met; those of another event are not.
	second=$(tail -n 1 <<<"$threads")
	record both 40 -e sched:sched_switch --filter "prev_pid == $first" \
		--filter 'prev_prio >= 0' -e sched:sched_switch --filter "prev_pid == $second"
	grep -o 'prev_pid=[0-9]*' samples | sort -u >got
	printf 'prev_pid=%s\n' "$first" "$second" | sort | diff - got || complain 'two --filter'
fi
refused() { # refused STATUS PATTERN ARGUMENT…
	local want=$1 pattern=$2
	shift 2
	"$perfvisor" record -q -p $vm -o refused "$@" 2>err
	[ $? = "$want" ] && grep -qE -e "$pattern" err || complain "record $*: $(cat err)"
	[ ! -e refused ] || complain "record $*: a file was made"
}
refused 1 "the kernel does not take the filter 'no_field == 1' for 'sched:sched_switch': Invalid" \
	-e sched:sched_switch --filter 'no_field == 1'
grep -q 'hint: .*/events/sched/sched_switch/format lists' err || complain "$(cat err)"
refused 2 "'cpu-clock' is none" -e cpu-clock --filter 'prev_pid == 1'
refused 2 "'cpu-clock' is none" -e sched:sched_switch,cpu-clock --filter 'prev_pid == 1'
refused 2 "follows no event" --filter 'prev_pid == 1' -e sched:sched_switch

# -C: each vCPU is kept on a CPU of its own; on one CPU there are only samples of one of them.
mapfile -t cpus < <(lscpu --parse=CPU --online | grep -v '^#')
keep_apart() { # as "TID CPU"; false: it is not possible
	local i=0
	for tid in $threads; do
		taskset -pc "${cpus[i]}" "$tid" >/dev/null 2>&1 || return 1
		echo "$tid ${cpus[i++]}"
	done
}
# kept FILE: they are still there: somebody else may have moved them meanwhile
kept() {
	for tid in $threads; do taskset -pc "$tid"; done | sed 's/^pid \([0-9]*\).*: /\1 /' |
		cmp -s - "$1"
}
# on_cpus THREADS FILE ARGUMENT…: "TID CPU" of the samples, which are of so many threads: others may
# need a CPU for as long as a recording takes
on_cpus() {
	local wanted=$1
	shift
	for ((tries_left = 20; tries_left; tries_left--)); do
		keep_apart >places || return
		record "$@"
		tr -d '[]' <samples | awk '{ print $1, $2 + 0 }' | LC_ALL=C sort -u >pairs
		kept places && [ "$(wc -l <pairs)" -ge "$wanted" ] && break
	done
	cat pairs
}
if [ ${#cpus[@]} -ge 2 ] && keep_apart >places; then
	for i in 0 1; do
		on_cpus 1 cpu$i 20 -e cpu-clock -C "${cpus[i]}" >got
		sed -n $((i + 1))p places | diff - got || complain "-C ${cpus[i]}: other samples"
	done
	on_cpus 2 both 20 -e '{cpu-clock,context-switches}:S' -C "${cpus[0]},${cpus[1]}" >got
	LC_ALL=C sort places | diff - got || complain '-C of two CPUs: other samples'
	for tid in $threads; do taskset -pc "${cpus[0]}-${cpus[-1]}" "$tid" >/dev/null; done
else
	echo 'skipped: -C, because there are no two CPUs to run on'
fi
exit $status
