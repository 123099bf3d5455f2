# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: processes whose vCPU and code are known, and many short-lived ones. Pids and names
# are printed on the console, as is the state of the memory of a process that checks its own memory.
taskset 2 user7525 &
user=$!
taskset 1 reader &
random=$!
(while :; do taskset 1 busybox true; done) &
sleep 1
echo "TRUTH user7525 $user reader $random" >/dev/console
exec taskset 1 unharmed
