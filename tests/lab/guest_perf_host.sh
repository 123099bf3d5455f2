#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: has guest1 record itself by stock perf (guest_perf.sh), records it at the same time,
# and leaves both recordings in $OUT. The lab deleted the file that is the guest's disk; QEMU has it.
set -u
guest=/run/lab/guest1
disk=
for fd in /proc/"$(<$guest/pid)"/fd/*; do
	[[ $(readlink "$fd") != *truth.img* ]] || disk=$fd
done
# said PATTERN: waits until it is on the guest's console, and prints it
said() {
	for _ in $(seq 300); do
		grep -ao "$1" $guest/console.log && return
		sleep 0.2
	done
	echo "the guest did not say $1"
	return 1
}
printf record | dd of="$disk" conv=notrunc,fsync 2>/dev/null
said 'PERF BEGINS' || exit 1
perfvisor record --max-overhead 100 -g --duration 11 -F 997 -o /tmp/beside || exit
cp /tmp/beside "$OUT/"
bytes=$(said 'PERF WROTE [0-9]* BYTES' | tr -dc 0-9)
head -c "$bytes" "$disk" >"$OUT/guest.perf.data"
