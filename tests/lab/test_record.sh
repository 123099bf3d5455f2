#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perfvisor record, checked against known results, on hosts 6.1 and sid with guests 5.10, 6.1, 6.12
# and sid; check_record.py has the checks.
set -u
. tests/lab/in_lab.sh
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
work=build/lab/record

# try HOST_KERNEL GUEST_KERNEL SCOPE OPTION…
workloads=tests/lab/guest/record_workload.sh,tests/lab/guest/record_kernel_workload.sh
try() {
	LEAKS=$leaks OUT=$work/$1-$2 in_lab 900 --steady --guests 2 \
		--host-kernel "$1" --guest-kernel "$2" "${@:4}" --guest-workload $workloads \
		"${records[@]}" --add tests/lab/host/record_host.sh \
		--add "$(command -v setpriv)":/usr/bin/setpriv-full -- \
		bash /root/record_host.sh "$3" ||
		{ echo "the lab failed with host $1 and guests $2"; exit 1; }
	tests/lab/look_at_recordings.sh "$work/$1-$2"
	python3 tests/lab/check/check_record.py "$work/$1-$2" "$3" || exit 1
}
leaks=1
try 6.1 6.1 all
# Without sanitizers: the same code has run with them above.
leaks=0 PERFVISOR=$PERFVISOR_RELEASE
try sid 6.12 short --no-la57
try 6.1 5.10 shares
try sid sid shares --guest-cpus 1
