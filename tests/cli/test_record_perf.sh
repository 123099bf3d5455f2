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

# -C: each vCPU is kept on a CPU of its own; on one CPU there are only samples of one of them.
mapfile -t cpus < <(python3 -c 'import os
for cpu in sorted(os.sched_getaffinity(0)): print(cpu)')
if [ ${#cpus[@]} -ge 2 ]; then
	i=0
	for tid in $threads; do taskset -pc "${cpus[i++]}" "$tid" >/dev/null; done
	i=0
	for tid in $threads; do
		record cpu$i 20 -e cpu-clock -C "${cpus[i]}"
		awk '{ print $1, $2 + 0 }' <(tr -d '[]' <samples) | sort -u >got
		echo "$tid ${cpus[i]}" | diff - got || complain "-C ${cpus[i]}: other samples"
		i=$((i + 1))
	done
	record both 20 -e '{cpu-clock,context-switches}:S' -C "${cpus[0]},${cpus[1]}"
	awk '{ print $1, $2 + 0 }' <(tr -d '[]' <samples) | sort -u >got
	i=0
	for tid in $threads; do echo "$tid ${cpus[i++]}"; done | sort >want
	[ "$(LC_ALL=C comm -23 got want)" = '' ] || complain "-C of two CPUs: $(cat got)"
else
	echo 'skipped: -C, because there is one CPU'
fi
exit $status
