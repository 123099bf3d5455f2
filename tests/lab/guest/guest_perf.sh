# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# In a guest: when the host has written "record" to the disk, stock perf records until the host
# writes "finish"; then the recording is written to the disk. The start time, by the clock of the
# samples, is printed on the console.
if [ "${1-}" = wait ]; then
	until [ "$(dd if=/dev/vda bs=512 count=1 iflag=direct 2>/dev/null | head -c 6)" = "$2" ]; do
		sleep 1
	done
	exit
fi
sh "$0" wait record
perf record --no-buildid -a -g -e cpu-clock -F 997 -k CLOCK_MONOTONIC -o /tmp/perf.data -- \
	sh -c "echo PERF BEGINS \$(cut -d ' ' -f 1 /proc/uptime) >/dev/console; sh $0 wait finish" \
	>/tmp/perf.out 2>&1
dd if=/tmp/perf.data of=/dev/vda bs=1M conv=fsync 2>/dev/null
echo "PERF WROTE $(stat -c %s /tmp/perf.data) BYTES" >/dev/console
