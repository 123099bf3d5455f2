# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: threads that sleep or are stopped in many ways, and one that runs. Their
# /proc/PID/stack is sent to the host repeatedly, as long as the guest runs.
mkfifo /tmp/fifo
busybox sleep 100000 &
dd if=/dev/cuse of=/dev/null bs=128k 2>/dev/null & # in a module: its second read waits
cat /tmp/fifo &
(busybox sleep 99999 | busybox cat) &
programs=
for program in user7525 user32 dynamic; do
	$program &
	programs="$programs $!"
done
sleep 1 # by now each runs its own code
# shellcheck disable=SC2086 # pids
kill -STOP $programs
taskset 2 reader &
sleep 1
round=1
while :; do
	set --
	for thread in /proc/[0-9]*/task/[0-9]*; do
		set -- "$@" "$thread/stack" "$thread/status"
	done
	busybox awk '/_ctxt_switches/ { print $2 }
		FILENAME ~ /stack$/ { print FILENAME, $2, $3 }' "$@" >/tmp/round 2>/dev/null
	{
		echo "ROUND $round"
		cat /tmp/round
		echo "END $round"
	} >/dev/told
	round=$((round + 1))
	sleep 1
done
