# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: the second CPU reads random numbers; the first alternates between running user7525
# and being idle. Nothing is forked in the meantime.
mkfifo /tmp/nothing
taskset 2 reader &
taskset 1 user7525 &
while :; do
	read -r -t 2 _ <>/tmp/nothing
	kill -STOP $!
	read -r -t 3 _ <>/tmp/nothing
	kill -CONT $!
done
