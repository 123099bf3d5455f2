# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: several kinds of processes that do not change. The guest's own view of them is
# sent to the host, between markers, followed by the vDSO of some programs as they have it mapped.
hostname truth.of.guest1
mkdir -p /tmp/t /mnt/x
cp /usr/bin/busybox /tmp/t/busybox
busybox sleep 100000 &
/tmp/t/busybox sleep 99999 &
# Files in 2 MB pages: big7525 is user7525, and its page cache has larger entries than single pages.
mount -t tmpfs -o huge=always none /mnt/x
cp /lab/bin/user7525 /mnt/x/big7525
programs=
for program in user7525 user32 dynamic /mnt/x/big7525; do
	$program &
	programs="$programs $!"
done
sleep 1 # by now each runs its own code
# shellcheck disable=SC2086 # pids
kill -STOP $programs
reader &
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
	set -- # one program for all of them: each fork takes its time in emulation
	for process in /proc/[0-9]*; do
		[ "$process" = /proc/$$ ] || set -- "$@" "$process/status" "$process/maps"
	done
	busybox awk 'FILENAME ~ /maps$/ { print; next }
		/^Name:/ {
			split(FILENAME, part, "/")
			print "=== " part[3] " " substr($0, 7)
		}
		/^NSpid:/' "$@"
	echo TRUTH-END
	for pid in $programs; do
		range=$(grep '\[vdso\]$' "/proc/$pid/maps" | cut -d ' ' -f 1)
		start=$((0x${range%-*} / 4096))
		echo "VDSO $(cat "/proc/$pid/comm")"
		dd if="/proc/$pid/mem" bs=4096 skip=$start count=$((0x${range#*-} / 4096 - start)) \
			2>/dev/null | base64
	done
	grep ShmemHugePages: /proc/meminfo
	echo VDSO-END
} >/dev/told
exec sleep 100000
