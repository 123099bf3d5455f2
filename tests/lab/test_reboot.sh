#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest reloads a module and reboots while it is recorded: no sample is named by tables that are
# no longer valid. Then it ends while its call chains are recorded: everything recorded until then
# is kept.
set -u
. tests/lab/in_lab.sh
out=build/lab/reboot
status=0
OUT=$out in_lab 600 --guest-cpus 1 --guest-workload tests/lab/guest/reboot_workload.sh \
	"${records[@]}" --add tests/lab/host/reboot_host.sh -- bash /root/reboot_host.sh || status=1
"$PERFVISOR" script -i $out/ended.data -F comm,pid,ip,sym >$out/ended
perf script -i $out/ended.data -F pid,ip >$out/ended.perf 2>/dev/null
"$PERFVISOR" script -i $out/reboot -F time,comm,pid,ip,sym >$out/script
python3 tests/lab/check/check_reboot.py "$out" || status=1
exit $status
