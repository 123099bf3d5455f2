# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# In a guest, as soon as the host has written "record" to the disk: stock perf records for some seconds,
# and what it wrote goes to the disk.
wanted() { [ "$(dd if=/dev/vda bs=512 count=1 iflag=direct 2>/dev/null | head -c 6)" = record ]; }
until wanted; do
	sleep 1
done
perf record --no-buildid -a -g -e cpu-clock -F 997 -o /tmp/perf.data -- \
	sh -c 'echo PERF BEGINS >/dev/console; sleep 12' >/tmp/perf.out 2>&1
dd if=/tmp/perf.data of=/dev/vda bs=1M conv=fsync 2>/dev/null
echo "PERF WROTE $(stat -c %s /tmp/perf.data) BYTES" >/dev/console
