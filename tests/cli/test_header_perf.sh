#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the header of a recording says, line by line as stock perf prints it: report and script with
# --header-only, with and without -I, of recordings with all features that perf writes here.
. tests/cli/common.sh

# BPF programs are not listed.
from_perf() { # COMMAND ARGUMENTS…
	perf "$@" 2>/dev/null | sed -E '/^# (bpf_prog_info |\tsub_prog )/d'
}

compare_header() { # WHAT MINIMUM FILE
	local command options
	for command in report script; do
		for options in --header-only '--header-only -I'; do
			# shellcheck disable=SC2086
			from_perf "$command" $options -i "$3" >perf.txt
			# shellcheck disable=SC2086
			"$perfvisor" "$command" $options -i "$3" >ours.txt 2>ours.err ||
				complain "$1: $command $options: $(cat ours.err)"
			[ "$(wc -l <perf.txt)" -ge "$2" ] ||
				complain "$1: perf $command prints $(wc -l <perf.txt) lines"
			diff perf.txt ours.txt >differences ||
				complain "$1: $command $options: $(cat differences)"
		done
	done
}

perf_record -a -e cpu-clock -F 999 -o all.data sleep 0.01
compare_header 'all CPUs' 15 all.data
for words in 'sibling sockets' 'CPU 0: Core ID' 'node0 meminfo' 'pmu mappings' 'CPU cache info' \
	'memory nodes' 'missing features'; do
	grep -q "^# $words" perf.txt || complain "perf's recording does not have: $words"
done
perf_record -z -g -k CLOCK_MONOTONIC -e '{cpu-clock,page-faults}:S' -o clock.data ls /
compare_header 'a group, a clock, compressed' 15 clock.data
for words in group: compressed 'clockid' 'reference time'; do
	grep -q "^# $words" perf.txt || complain "perf's recording does not have: $words"
done
perf_record --call-graph dwarf -e cpu-clock:u,sched:sched_switch -c 100000 -o many.data ls /
compare_header 'copies of stacks and a tracepoint' 15 many.data
for clock in CLOCK_REALTIME CLOCK_BOOTTIME CLOCK_MONOTONIC_RAW; do
	perf_record -k "$clock" -e cpu-clock -o clock.data true
	compare_header "$clock" 15 clock.data
done

# Before the samples, as perf prints it.
from_perf script --header -i all.data -F comm,tid,time,event,ip >perf.txt
"$perfvisor" script --header -i all.data -F comm,tid,time,event,ip >ours.txt 2>ours.err ||
	complain "script --header: $(cat ours.err)"
cmp -s perf.txt ours.txt || complain "script --header: $(diff perf.txt ours.txt | head -n 6)"

# Features that claim more than they have: no crash, and nothing that reaches the terminal as it is.
python3 - "$tests" all.data <<'DAMAGE'
import os, struct, sys
sys.path.insert(0, os.path.join(sys.argv[1], "../golden"))
from rewrite import Recording
for number in (13, 14, 16, 17, 20, 22, 28, 31):
    for name, data in (("many", b"\xff" * 4), ("none", b""), ("far", b"\1\0\0\0" + b"\xff" * 40),
                       ("text", struct.pack("<II8sI8s", 1, 8, b"\x1b[31m\0", 8, b"\7\0"))):
        with open(sys.argv[2], "rb") as file:
            recording = Recording(file.read())
        recording.features[number] = data
        recording.write(f"damaged-{number}-{name}", "<", 128)
DAMAGE
count=0
for file in damaged-*; do
	"$perfvisor" report --header-only -I -i "$file" >ours.txt 2>ours.err ||
		complain "$file: $(cat ours.err)"
	LC_ALL=C grep -q '[^[:print:][:space:]]' ours.txt && complain "$file: control characters"
	grep -q '^# missing features' ours.txt || complain "$file: the header ends early"
	count=$((count + 1))
done
[ $count = 32 ] || complain "$count damaged recordings"
exit $status
