#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: let guest1 record itself with stock perf (guest_perf.sh), record it at the same
# time, and write both recordings and the times of both clocks at one moment to $OUT.
set -u
. /root/waits.sh
. /root/record_known.sh
console=/run/lab/guest1/console.log
tell guest1 record
wait_for grep -aqs 'PERF BEGINS [0-9.]*' $console || exit
begun=$(sed -n 's/.*PERF BEGINS \([0-9.]*\).*/\1/p' $console)
echo "$begun $(cut -d ' ' -f 1 /proc/uptime)" >"$OUT/clocks"
record_known 6 /tmp/beside -g -F 997 <<<'1300 known_[a-z]*_leaf' || exit
cp /tmp/beside "$OUT/"
tell guest1 finish
wait_for grep -aqs 'PERF WROTE [0-9]* BYTES' $console || exit
bytes=$(sed -n 's/.*PERF WROTE \([0-9]*\) BYTES.*/\1/p' $console)
head -c "$bytes" "$(disk_of guest1)" >"$OUT/guest.perf.data"
