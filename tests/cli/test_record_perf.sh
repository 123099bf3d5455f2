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
on_cpus() { # on_cpus FILE ARGUMENT…: "TID CPU" of the samples
	for ((moved = 0; moved < 20; moved++)); do
		keep_apart >places || return
		record "$@"
		kept places && break
	done
	tr -d '[]' <samples | awk '{ print $1, $2 + 0 }' | LC_ALL=C sort -u
}
if [ ${#cpus[@]} -ge 2 ] && keep_apart >places; then
	for i in 0 1; do
		on_cpus cpu$i 20 -e cpu-clock -C "${cpus[i]}" >got
		sed -n $((i + 1))p places | diff - got || complain "-C ${cpus[i]}: other samples"
	done
	on_cpus both 20 -e '{cpu-clock,context-switches}:S' -C "${cpus[0]},${cpus[1]}" >got
	LC_ALL=C sort places | diff - got || complain '-C of two CPUs: other samples'
	for tid in $threads; do taskset -pc "${cpus[0]}-${cpus[-1]}" "$tid" >/dev/null; done
else
	echo 'skipped: -C, because there are no two CPUs to run on'
fi
exit $status
