#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perfvisor list, compared with the truth: for a QEMU that names its vCPU threads, a lab guest, and
# VMs in all states that VMMs can create (vm_zoo.c); with BPF, with debugfs, and with /proc only; on
# hosts that keep memory slots in a hash table or (Linux 5.10) in an array.
set -u
. tests/lab/in_lab.sh
zoo=build/release/tests/lab/programs/vm_zoo
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
[ -x "$zoo" ] || { echo "no $zoo: run make"; exit 1; }
work=build/lab/list
rm -rf "$work"
mkdir -p "$work"

# in_host KERNEL OPTION…: write the host's results to $work/KERNEL
in_host() {
	local kernel=$1
	shift
	OUT=$work/$kernel in_lab 600 --steady --host-kernel "$kernel" "$@" \
		--add "$zoo:/usr/bin/vm_zoo" \
		--add tests/lab/host/list_host.sh -- bash /root/list_host.sh ||
		{ echo "the lab failed with host $kernel"; exit 1; }
}
LEAKS=1 in_host 6.1 --guests 1
in_host sid --no-guest
in_host 5.10 --no-guest
python3 tests/lab/check/check_list.py "$work"
