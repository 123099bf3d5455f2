#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run by test_diff.sh in the lab's host: records the load of the guest, on one CPU of the host by
# stock perf, and as it runs in the guest. What differs is in $OUT/diff; what shows the lock while
# the guest runs is in top.txt and stack.txt.
set -u
cd "$OUT" || exit 1
load=/usr/share/perfvisor-lab/contended
taskset 2 $load &
perf record -q -e cpu-clock -F 500 -o perf.data.host -p $! -- sleep 8 >host.said 2>&1
kill $!
. /root/waits.sh
. /root/record_known.sh
printf '300 contended\n' >wanted
record_known 8 perf.data.guest --guest <wanted || exit 1
perfvisor diff -t '|' >diff 2>diff.said || { cat diff.said; exit 1; }

perfvisor top --max-overhead 100 -F 97 -z -d 2 -E 20 >top.txt 2>top.said &
viewer=$!
wait_for grep -qs queued_spin_lock_slowpath top.txt || { cat top.said; exit 1; }
kill -INT $viewer
wait $viewer
stack_has_lock() {
	perfvisor stack >stack.txt && grep -q queued_spin_lock_slowpath stack.txt
}
wait_for stack_has_lock
