#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run by test_stat.sh in the lab's host: records the exits of tinyvm, which makes as many as
# lab/tinyvm/guestabi.h says once it gets SIGUSR2, with perfvisor and with stock perf; and those of
# a Linux guest and of a tinyvm that ends meanwhile, all VMs at once.
set -u
fail() {
	echo "FAIL: $*"
	exit 1
}

begin() { # sets TINYVM, which waits for SIGUSR2
	tinyvm --mode exits &
	TINYVM=$!
	until grep -qs tinyvm-vcpu0 /proc/$TINYVM/task/*/comm; do
		kill -0 $TINYVM || fail "tinyvm does not start"
		sleep 0.1
	done
}
# The device is read last, and then the guest sleeps.
work='kill -USR2 "$0"; sleep 5'

begin
perfvisor stat record -p $TINYVM -o "$OUT/perfvisor.data" -- sh -c "$work" $TINYVM ||
	fail "perfvisor stat record"
kill $TINYVM
begin
perf kvm -o "$OUT/perf.data" stat record -p $TINYVM -- sh -c "$work" $TINYVM ||
	fail "perf kvm stat record"
kill $TINYVM
begin
perfvisor stat record -o "$OUT/all.data" -- sh -c "sleep 2; kill $TINYVM; sleep 2" ||
	fail "perfvisor stat record of all VMs"
for table in perfvisor.vmexit perfvisor.ioport perfvisor.mmio perf.vmexit perf.ioport perf.mmio \
	all.vmexit; do
	perf kvm -i "$OUT/${table%.*}.data" stat report --event "${table#*.}" \
		>"$OUT/$table.perf" 2>&1
done
