#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: records guest1 (reboot_workload.sh) until it has booted a second time and runs; and
# from there on its call chains, until its QEMU ends.
set -u
guest=/run/lab/guest1
perfvisor symbols >/dev/null || exit # so that its kernel is known from before
perfvisor record --max-overhead 100 -v -F 200 -o /tmp/reboot 2>"$OUT/err" &
recorder=$!
for _ in $(seq 600); do
	[ "$(grep -c 'TRUTH reader' $guest/console.log)" -ge 2 ] && break
	sleep 0.2
done
perfvisor record -v -g --max-overhead 100 --vm guest1 -o /tmp/ended 2>"$OUT/ended.err" &
ended=$!
sleep 12
kill -INT $recorder
wait $recorder || exit
kill "$(<$guest/pid)"
wait $ended
echo $? >"$OUT/ended.status"
perfvisor script -i /tmp/ended -F comm,pid,ip,sym >"$OUT/ended"
perf script -i /tmp/ended -F pid,ip >"$OUT/ended.perf" 2>/dev/null
grep -ao 'TRUTH [a-z0-9_ A-Z,.()-]*' $guest/console.log >"$OUT/truth"
cp /tmp/reboot "$OUT/"
perfvisor script -i /tmp/reboot -F time,comm,pid,ip,sym >"$OUT/script"
