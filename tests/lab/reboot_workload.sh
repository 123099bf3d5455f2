# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: says where its kernel is, takes random bytes, loads a module again, and boots anew.
reader &
echo "TRUTH reader $! $(grep ' chacha_permute$' /proc/kallsyms)" >/dev/console
sleep 12
rmmod virtio_blk && insmod /lab/modules/*-virtio_blk.ko
echo "TRUTH module $(grep '^virtio_blk ' /proc/modules)" >/dev/console
sleep 8
echo TRUTH reboots >/dev/console
reboot -f
