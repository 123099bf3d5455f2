#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perfvisor stack --tasks equals the guest's own /proc/PID/stack for every thread that does not run,
# and perfvisor stack prints the call chains of the vCPUs. Four guest kernels (with three formats of
# ORC), two hosts, page tables with four and five levels.
set -u
. tests/lab/in_lab.sh
status=0
out=build/lab/stack
workloads=tests/lab/guest/stack_workload.sh,tests/lab/guest/vcpus_workload.sh
# try HOST GUEST OPTION…
try() {
	echo "== host $*"
	LEAKS=$leaks OUT=$out in_lab 600 --steady --host-kernel "$1" --guest-kernel "$2" "${@:3}" \
		--guests 2 --guest-workload $workloads "${records[@]}" \
		--add tests/lab/host/stack_host.sh -- bash /root/stack_host.sh || status=1
	python3 tests/lab/check/check_stack.py "$out" || status=1
}
leaks=1
try 6.1 5.10
leaks=0
try 6.1 sid
# The same code has run with sanitizers above.
PERFVISOR=$PERFVISOR_RELEASE
try 6.1 6.1
try sid 6.12 --no-la57
exit $status
