# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of record: a QEMU without KVM whose only vCPU runs an endless loop, so that
# --engine qmp samples it on any machine. Call start_looping_guest in an empty folder; it sets
# $guest, its pid, and $record, the command that records it. $perfvisor is the program to test.
# shellcheck shell=bash disable=SC2034,SC2154 # the variables are the caller's

start_looping_guest() { # [NAME]
	command -v qemu-system-x86_64 >/dev/null ||
		{ echo "no qemu-system-x86_64: make setup"; exit 77; }
	[ "$(id -u)" = 0 ] || { echo 'this takes root'; exit 77; }
	# A BIOS is at the end of the first MiB; at its reset vector: jmp to itself.
	{ head -c 65520 /dev/zero; printf '\xeb\xfe'; head -c 14 /dev/zero; } >loop.bin
	qemu-system-x86_64 -name "${1:-looping}" -accel tcg -m 16 -nodefaults -no-user-config \
		-display none -bios loop.bin -qmp "unix:$PWD/qmp,server=on,wait=off" \
		>qemu.log 2>&1 &
	guest=$!
	record=("$perfvisor" record --engine qmp -p $guest --max-overhead 100)
	for _ in {1..600}; do
		[ ! -S qmp ] || return 0
		sleep 0.1
	done
	echo "QEMU does not start: $(cat qemu.log)"
	exit 1
}

# FILE: how many samples are in it, one by one
samples_in() {
	"$perfvisor" script -i "$1" -F ip 2>/dev/null | grep -c .
}

# COMMAND…: wait until it succeeds, for two minutes at most
wait_for() {
	for _ in {1..1200}; do
		! "$@" || return 0
		sleep 0.1
	done
	echo "this did not come true: $*"
	return 1
}
