#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# look_at_chains.sh FOLDER PART…: read the recordings that chains_host.sh and similar scripts left
# in FOLDER, with perfvisor script and report. PARTs: "native": the first recording after convert
# --native, read by stock perf; "host": the host's part, read by stock perf; "beside", "without_sp"
# and "scanned": the recordings of that name.
set -u
cd "$1" || exit
perfvisor=${PERFVISOR:?}
"$perfvisor" script --max-stack 1000 -i chains -F machine_pid,vcpu,comm,pid,ip,sym >./script || exit
"$perfvisor" report -i chains >./report || exit
"$perfvisor" script -i kernel_only -F comm,pid,ip >kernel_only.script || exit
for part in "${@:2}"; do
	case $part in
	native)
		fields=comm,pid,tid,time,period,ip,sym,symoff,dso
		"$perfvisor" script --max-stack 1000 -i chains -F $fields,machine_pid,vcpu \
			>as_guest || exit
		"$perfvisor" convert --native -i chains -o native || exit
		perf --buildid-dir native/debug script --max-stack 1000 --no-inline -i native \
			-F $fields,cpu >as_native || exit
		;;
	host)
		perf script -i chains -F machine_pid,comm,pid,ip,sym >perf_script \
			2>perf_script.err || exit
		;;
	beside)
		"$perfvisor" script --max-stack 1000 -i beside -F comm,pid,time,ip,sym \
			>beside.script || exit
		;;
	without_sp | scanned)
		"$perfvisor" script --max-stack 1000 -i "$part" \
			-F machine_pid,vcpu,comm,pid,ip,sym >"$part.script" || exit
		"$perfvisor" report -i "$part" --sort vm >"$part.report" || exit
		;;
	esac
done
