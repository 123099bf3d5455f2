#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each guest sample is attributed to the guest process that ran, as the guest itself reports its
# processes. Two hosts, three guests, four and five levels of page tables; read by perfvisor and by
# stock perf.
set -u
. tests/lab/in_lab.sh
status=0
out=build/lab/processes
# try KINDS HOST GUEST OPTION…: KINDS is "kinds", or nothing
try() {
	local kinds=()
	[ -z "$1" ] || kinds=("$1")
	echo "== host $*"
	OUT=$out in_lab 600 --steady --host-kernel "$2" --guest-kernel "$3" "${@:4}" \
		--guest-workload tests/lab/guest/processes_workload.sh "${records[@]}" \
		--add tests/lab/host/processes_host.sh -- \
		bash /root/processes_host.sh "${kinds[@]}" || status=1
	python3 tests/lab/check/check_processes.py "$out" "${kinds[@]}" || status=1
}
try kinds 6.1 5.10
# Without sanitizers: the same code has run with them above.
PERFVISOR=$PERFVISOR_RELEASE
try '' 6.1 6.1
try '' sid 6.12 --no-la57
exit $status
