#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Without BPF, what perfvisor reads of a guest's memory by asking its QEMU equals what the guest says of
# itself; and what it says where QEMU cannot be asked.
set -u
. tests/lab/in_lab.sh
status=0
out=build/lab/qmp
OUT=$out in_lab 300 --steady --guest-workload tests/lab/guest_truth_workload.sh \
	--add build/release/tests/lab/guest_programs --add build/release/tests/unit/show_qmp_memory \
	--add "$(command -v socat):/usr/bin/socat" --add "$(command -v setpriv):/usr/bin/setpriv-full" \
	--add tests/lab/guest_memory_host.sh --add tests/lab/qmp_host.sh -- bash /root/qmp_host.sh || status=1
python3 tests/lab/check_guest_memory.py "$out" || status=1
python3 tests/lab/check_guest_programs.py "$out" || status=1
python3 tests/lab/check_qmp.py "$out" || status=1
exit $status
