#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perfvisor doctor on lab hosts, complete and with things missing: its findings are true, and its
# exit status is that of a recording. doctor_host.sh has the cases.
set -u
. tests/lab/in_lab.sh
zoo=build/release/tests/lab/programs/vm_zoo
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
[ -x "$zoo" ] || { echo "no $zoo: run make"; exit 1; }
work=build/lab/doctor
rm -rf "$work"
mkdir -p "$work"
status=0
# in_host NAME OPTION…
in_host() {
	local name=$1
	shift
	OUT=$work/$name in_lab 600 "$@" --add "$zoo:/usr/bin/vm_zoo" \
		--add tests/lab/host/doctor_host.sh -- bash /root/doctor_host.sh || status=1
	sed "s/^/$name, /" "$work/$name/doctor"
}
LEAKS=1 in_host complete --steady --guests 1 --guest-workload mixed
in_host empty --no-guest
in_host empty-sid --no-guest --host-kernel sid
exit $status
