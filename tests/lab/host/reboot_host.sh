#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: record guest1 (reboot_workload.sh) until it has booted a second time and runs,
# and from then on its call chains until its QEMU ends. Each step waits until there are enough
# samples.
set -u
. /root/waits.sh
guest=/run/lab/guest1

# sampled FILE COUNT BOOT: true if the recording FILE has COUNT samples in chacha_permute of this
# boot. An unfinished recording has no names yet, so addresses are compared.
sampled() {
	local address
	address=$(grep -ao 'TRUTH reader [0-9]* [0-9a-f]*' $guest/console.log |
		awk -v boot="$3" 'NR == boot { print $4 }')
	sleep 1
	perfvisor-release script -i "$1" --max-stack 1 -F ip 2>/dev/null |
		awk -v start="$address" -v end="$(printf %x $((0x$address + 0x200)))" \
			-v count="$2" \
			'$1 "" >= start && $1 "" < end { found++ } END { exit found < count }'
}
# symbols_read TIMES: true if the recorder has read the guest's symbols that often
symbols_read() {
	[ "$(grep -c 'symbols now' "$OUT/err")" -ge "$1" ]
}
boots() {
	[ "$(grep -ac 'TRUTH reader' $guest/console.log)" -ge "$1" ]
}

perfvisor symbols >/dev/null || exit # so that its kernel is in the cache
perfvisor record --max-overhead 100 -v -F 200 -o /tmp/reboot 2>"$OUT/err" &
recorder=$!
wait_for sampled /tmp/reboot 100 1
tell guest1 reload
wait_for grep -aqs 'TRUTH module' $guest/console.log
wait_for symbols_read 2
tell guest1 reboot
wait_for boots 2
booted=$SECONDS
perfvisor record -v -g --max-overhead 100 --vm guest1 -o /tmp/ended 2>"$OUT/ended.err" &
ended=$!
wait_for symbols_read 3
# At most a quarter of the samples may be from before the new kernel was noticed, however long that
# took (check_reboot.py).
sleep $((4 * (SECONDS - booted + 1)))
wait_for sampled /tmp/reboot 200 2
wait_for sampled /tmp/ended 600 2
kill -INT $recorder
wait $recorder || exit
kill "$(<$guest/pid)"
wait $ended
echo $? >"$OUT/ended.status"
grep -ao 'TRUTH [a-z0-9_ A-Z,.()-]*' $guest/console.log >"$OUT/truth"
cp /tmp/reboot "$OUT/"
cp /tmp/ended "$OUT/ended.data"
