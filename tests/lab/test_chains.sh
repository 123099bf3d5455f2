#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains of guest kernels, over kernel load of many kinds with interrupts and faults: every frame
# of every chain against the guest's own code. Guests of four kernels, two hosts, four and five levels
# of page tables, one and four vCPUs.
set -u
. tests/lab/in_lab.sh
bytes=build/release/tests/lab/guest_bytes
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
[ -x "$bytes" ] || { echo "no $bytes: run make"; exit 1; }
status=0
out=build/lab/chains
# try HOST GUEST OPTION…
try() {
	echo "== host $*"
	OUT=$out in_lab 150 --steady --host-kernel "$1" --guest-kernel "$2" "${@:3}" \
		--guest-workload mixed --add "$bytes:/usr/bin/guest_bytes" \
		--add tests/lab/record_known.sh --add tests/lab/chains_host.sh -- bash /root/chains_host.sh || status=1
	python3 tests/lab/check_chains.py "$out" || status=1
}
try 6.1 5.10
try 6.1 6.1 --guest-cpus 4
try 6.1 6.12 --no-la57
try sid sid --guest-cpus 1
exit $status
