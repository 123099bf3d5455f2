#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of the installed perf, in every form that it supports, have the same samples in
# `perfvisor script` as in `perf script`: number, threads, times, IPs.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0
fields=pid,tid,time,event,ip,period

perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }

echo 'for i in 1 2 3; do ls -laR /usr/share/doc; find /usr/include; done' >workload.sh
record() { # NAME, ARGUMENTS OF perf record; skipped if perf cannot do this here
	local name=$1
	shift
	perf record -q -e cpu-clock -F 997 "$@" -o "$name" -- sh workload.sh \
		>/dev/null 2>record.err || {
		echo "skipped: perf record $*, because it says: $(head -n 1 record.err)"
		return 1
	}
}

compare() { # WHAT, FILE; if FILE is -, perfvisor reads the file from standard input
	"$perfvisor" script -i "$2" -F $fields >ours.txt 2>ours.err ||
		{ echo "$1: perfvisor failed: $(cat ours.err)"; status=1; return; }
	if [ "$(wc -l <perf.txt)" -lt 20 ]; then
		echo "$1: perf prints $(wc -l <perf.txt) lines: too few to compare"
		status=1
	fi
	if ! diff perf.txt ours.txt >differences; then
		echo "$1: lines differ:"
		head -n 6 differences
		status=1
	fi
}

forms() { # NAME, ARGUMENTS
	record "$@" || return
	perf script -G -F $fields -i "$1" >perf.txt 2>/dev/null
	compare "$1" "$1"
}

forms plain.data
forms compressed.data -z
forms directory.data --threads
forms two-events.data -e task-clock

perf record -q -e cpu-clock -F 997 -o - -- sh -c 'sh workload.sh >/dev/null' \
	>pipe.data 2>record.err ||
	{ echo "perf record -o -: $(head -n 1 record.err)"; status=1; }
perf script -G -F $fields -i pipe.data >perf.txt 2>/dev/null
compare 'pipe form in a file' pipe.data
compare 'pipe form as standard input' - <pipe.data
compare 'pipe form through a pipe' - < <(cat pipe.data)

perf script -G -F $fields -i plain.data >perf.txt 2>/dev/null
compare 'file form through a pipe' - < <(cat plain.data)
compare 'a named pipe' <(cat plain.data)
exit $status
