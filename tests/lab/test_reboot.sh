#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest loads a module again and reboots while it is recorded: nothing is named by tables that no
# longer hold. It ends while its call chains are recorded: what was recorded is there.
set -u
. tests/lab/in_lab.sh
out=build/lab/reboot
status=0
OUT=$out in_lab 600 --guest-cpus 1 --guest-workload tests/lab/guest/reboot_workload.sh \
	"${records[@]}" --add tests/lab/host/reboot_host.sh -- bash /root/reboot_host.sh || status=1
python3 tests/lab/check/check_reboot.py "$out" || status=1
exit $status
