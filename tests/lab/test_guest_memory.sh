#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What perfvisor reads of a guest's memory equals what the guest says of itself: kallsyms and
# modules line by line, processes and their mappings, build-ids and symbols of their programs.
# Guests of five kernels with KASLR, four and five levels of page tables, two hosts.
set -u
. tests/lab/in_lab.sh
status=0
out=build/lab/guest-memory
# try HOST GUEST OPTION…
try() {
	echo "== host $*"
	OUT=$out in_lab 240 --steady --host-kernel "$1" --guest-kernel "$2" "${@:3}" \
		--guest-workload tests/lab/guest_truth_workload.sh \
		--add build/release/tests/lab/guest_programs \
		--add build/release/tests/lab/guest_cpus \
		--add tests/lab/guest_memory_host.sh -- \
		bash /root/guest_memory_host.sh /root/guest_cpus || status=1
	python3 tests/lab/check_guest_memory.py "$out" cpus || status=1
	python3 tests/lab/check_guest_programs.py "$out" || status=1
}
try 6.1 5.10
try 6.1 6.1
try 6.1 6.1-full
try 6.1 6.12 --no-la57
try sid sid
exit $status
