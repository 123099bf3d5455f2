# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: processes of several kinds that hold still; their own view of themselves goes to
# the console, between two marks.
hostname truth.of.guest1
mkdir -p /tmp/t /mnt/x
cp /usr/bin/busybox /tmp/t/busybox
busybox sleep 100000 &
/tmp/t/busybox sleep 99999 &
programs=
for program in user7525 user32 dynamic; do
	$program &
	programs="$programs $!"
done
sleep 1 # each has begun to run its own code
# shellcheck disable=SC2086 # pids
kill -STOP $programs
dd if=/dev/urandom of=/dev/null bs=64k &
mount -t tmpfs none /mnt/x
cp /tmp/t/busybox /mnt/x/busybox
/mnt/x/busybox sleep 9999 &
mkdir /tmp/gone
cp /tmp/t/busybox /tmp/gone/busybox
/tmp/gone/busybox sleep 9998 &
busybox unshare -p -f busybox sleep 9997 &
sleep 1
rm /tmp/gone/busybox
{
	echo TRUTH-BEGIN
	for process in /proc/[0-9]*; do
		pid=${process#/proc/}
		[ "$pid" = $$ ] && continue
		echo "=== $pid $(cat "$process/comm")"
		grep '^NSpid:' "$process/status"
		cat "$process/maps"
	done
	echo TRUTH-END
} >/dev/console
exec sleep 100000
