#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each guest sample is attributed to the guest process that ran, as the guest itself reports its
# processes. Two hosts, three guests, four and five levels of page tables; read by perfvisor and by
# stock perf.
set -u
. tests/lab/in_lab.sh
status=0
out=build/lab/processes
# Read the recordings as perfvisor and stock perf do, here, where it is faster.
look() {
	(
		cd "$out" || exit
		"$PERFVISOR" script -i chains.data -F comm,ip >chains
		"$PERFVISOR" script -i processes -F comm,pid,tid,ip,sym,dso >script
		"$PERFVISOR" script -i processes -F comm,pid,tid,ip >ours
		"$PERFVISOR" report -i processes --sort vm,gcomm,gpid,dso,sym >report
		perf script -i processes -F comm,pid,tid,ip >perfs 2>perf.err
		fields=machine_pid,vcpu,comm,pid,tid,ip,dso
		perf script -i processes -F $fields >perfs_vcpus 2>/dev/null
		[ ! -e intel ] || perf script -i intel -F $fields >intel_vcpus 2>/dev/null
		[ ! -e folder.data ] ||
			perf script -i folder.data -F ip,sym,symoff >folder 2>/dev/null
		for name in kernel_only no_memory; do
			[ ! -e $name ] || "$PERFVISOR" script -i $name >$name.script
		done
	)
}
# try KINDS HOST GUEST OPTION…: KINDS is "kinds", or nothing
try() {
	local kinds=()
	[ -z "$1" ] || kinds=("$1")
	echo "== host $*"
	OUT=$out in_lab 600 --steady --host-kernel "$2" --guest-kernel "$3" "${@:4}" \
		--guest-workload tests/lab/guest/processes_workload.sh "${records[@]}" \
		--add tests/lab/host/processes_host.sh -- \
		bash /root/processes_host.sh "${kinds[@]}" || status=1
	look
	python3 tests/lab/check/check_processes.py "$out" "${kinds[@]}" || status=1
}
try kinds 6.1 5.10
# Without sanitizers: the same code has run with them above.
PERFVISOR=$PERFVISOR_RELEASE
try '' 6.1 6.1
try '' sid 6.12 --no-la57
exit $status
