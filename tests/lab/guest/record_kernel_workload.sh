# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload on one CPU: the kernel alone, most of the time in chacha_permute.
[ ! -e /sys/devices/system/cpu/cpu1 ] || echo 0 >/sys/devices/system/cpu/cpu1/online || exit
exec reader
