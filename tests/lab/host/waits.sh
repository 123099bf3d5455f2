# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# In the lab's host: waiting for conditions, and sending words to guests, which read them from their
# disk.

# wait_for COMMAND…: wait until it succeeds, for at most two minutes, because emulation may be slow
wait_for() {
	local end=$((SECONDS + 120))
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "still not true after two minutes: $*"; return 1; }
		sleep 0.2
	done
}

# disk_of GUEST: print the guest's disk; the lab has deleted the file, but QEMU has it open
disk_of() {
	local fd
	for fd in /proc/"$(<"/run/lab/$1/pid")"/fd/*; do
		[[ $(readlink "$fd") != *truth.img* ]] || echo "$fd"
	done
}

# tell GUEST WORD: write WORD to the beginning of the guest's disk
tell() {
	printf %s "$2" | dd of="$(disk_of "$1")" conv=notrunc,fsync 2>/dev/null
}
