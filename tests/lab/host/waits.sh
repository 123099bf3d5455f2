# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# In the lab's host: waiting for what is to happen, and words to guests that read them from their disk.

# wait_for COMMAND…: until it succeeds, for two minutes at most; how long that takes is the emulation's affair
wait_for() {
	local end=$((SECONDS + 120))
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "not so after two minutes: $*"; return 1; }
		sleep 0.2
	done
}

# disk_of GUEST: the lab deleted the file that is the guest's disk; QEMU has it
disk_of() {
	local fd
	for fd in /proc/"$(<"/run/lab/$1/pid")"/fd/*; do
		[[ $(readlink "$fd") != *truth.img* ]] || echo "$fd"
	done
}

# tell GUEST WORD: writes it to the beginning of the guest's disk
tell() {
	printf %s "$2" | dd of="$(disk_of "$1")" conv=notrunc,fsync 2>/dev/null
}
