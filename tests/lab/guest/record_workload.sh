# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload on one CPU: user7525, which prints hot_a()'s share of its time on the console.
[ ! -e /sys/devices/system/cpu/cpu1 ] || echo 0 >/sys/devices/system/cpu/cpu1/online || exit
exec user7525 /dev/console
