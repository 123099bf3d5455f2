#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Event groups of which only the first event samples ('{a,b}:S'): `perfvisor script` and `report`
# give the others the samples, periods and rows that stock perf gives them.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0

complain() {
	echo "$*"
	status=1
}

perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }
# What stdin, the rows of a report of several events, says: a line for each event and row.
rows() {
	awk '/^# Samples:/ { event = $NF; print event, $3, $4 }
		/^# Event count/ { print event, $NF }
		/^ *[0-9]/ { $1 = $1; print event, $0 }' |
		sed 's/ of / /; s/ *;/;/g' | LC_ALL=C sort
}

compare() { # NAME MEMBERS ARGUMENTS-OF-perf-record…
	local name=$1 members=$2
	shift 2
	perf record -q "$@" -o "$name" ls -laR /usr/share/doc /usr/include /usr/lib \
		>list.txt 2>record.err || {
		complain "perf record $*: $(cat record.err)"
		return
	}
	perf script -i "$name" >perf.txt 2>/dev/null
	"$perfvisor" script -i "$name" >ours.txt 2>ours.err || complain "$name: $(cat ours.err)"
	events=$(grep -o "[a-z-]*: " perf.txt | sort | uniq -c)
	[ "$(awk '$1 >= 5' <<<"$events" | wc -l)" -ge "$members" ] ||
		complain "$name: perf shows too few events: $events"
	cmp -s perf.txt ours.txt ||
		complain "script of $name:" \
			"$(diff perf.txt ours.txt | grep -c '^[<>]') lines differ:" \
			"$(diff perf.txt ours.txt | head -n 6)"
	# perf makes the column of commands as wide as the last name of each thread, and cuts longer
	# ones; with -t, it does so only there.
	perf report --no-group --no-children -g none --stdio -i "$name" --sort comm,dso -t ';' \
		-w 0,200,200 2>/dev/null | rows >perf.txt
	"$perfvisor" report --no-children -g none -i "$name" --sort comm,dso -t ';' 2>ours.err |
		rows >ours.txt
	[ "$(wc -l <perf.txt)" -ge $((2 * members)) ] ||
		complain "$name: perf reports $(cat perf.txt)"
	cmp -s perf.txt ours.txt || complain "report of $name: $(diff perf.txt ours.txt)"
}

compare group 3 -F 2000 -e '{cpu-clock,page-faults,context-switches}:S'
compare two-groups 4 -F 2000 -e '{cpu-clock,page-faults}:S' -e '{task-clock,minor-faults}:S'
compare chains 2 -F 2000 -g -e '{cpu-clock,page-faults}:S'
compare cpus 3 -a -F 500 -e '{cpu-clock,context-switches,page-faults}:S'
compare beside 3 -F 1000 -e '{cpu-clock,page-faults}:S' -e context-switches
exit $status
