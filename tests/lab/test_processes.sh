#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each guest sample has the guest process that ran: by what the guest says of its processes, on three
# hosts and guests, with four and five levels of page tables, for perfvisor and for stock perf.
set -u
. tests/lab/in_lab.sh
status=0
out=build/lab/processes
# try HOST GUEST OPTION…
try() {
	echo "== host $*"
	OUT=$out in_lab 180 --steady --host-kernel "$1" --guest-kernel "$2" "${@:3}" \
		--guest-workload tests/lab/processes_workload.sh \
		--add tests/lab/record_known.sh --add tests/lab/processes_host.sh -- bash /root/processes_host.sh || status=1
	python3 tests/lab/check_processes.py "$out" || status=1
}
try 6.1 5.10
try 6.1 6.12 --no-la57
try sid 6.1
exit $status
