#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: has guest1 record itself by stock perf (guest_perf.sh), records it at the same time,
# and leaves both recordings in $OUT, and by what their clocks differ. The lab deleted the file that is the guest's disk; QEMU has it.
set -u
. /root/record_known.sh
guest=/run/lab/guest1
disk=
for fd in /proc/"$(<$guest/pid)"/fd/*; do
	[[ $(readlink "$fd") != *truth.img* ]] || disk=$fd
done
tell() { printf %s "$1" | dd of="$disk" conv=notrunc,fsync 2>/dev/null; }
# said PATTERN: waits until it is on the guest's console, for two minutes at most, and prints it
said() {
	for _ in $(seq 1200); do
		grep -ao "$1" $guest/console.log && return
		sleep 0.1
	done
	echo "the guest did not say $1"
	return 1
}
tell record
began=$(said 'PERF BEGINS [0-9.]*') || exit 1
echo "${began##* } $(cut -d ' ' -f 1 /proc/uptime)" >"$OUT/clocks"
record_known 6 /tmp/beside -g -F 997 <<<'1300 known_[a-z]*_leaf' || exit
cp /tmp/beside "$OUT/"
tell finish
bytes=$(said 'PERF WROTE [0-9]* BYTES' | tr -dc 0-9)
head -c "$bytes" "$disk" >"$OUT/guest.perf.data"
