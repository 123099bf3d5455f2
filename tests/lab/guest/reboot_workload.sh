# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: says where its kernel is, takes random bytes, loads a module again, and boots anew, these two when
# the host has written the word for it to the disk. What the lab's init writes there in each boot is no such word.
told() {
	until [ "$(dd if=/dev/vda bs=512 count=1 iflag=direct 2>/dev/null | head -c 6)" = "$1" ]; do
		sleep 1
	done
}
reader &
echo "TRUTH reader $! $(grep ' chacha_permute$' /proc/kallsyms)" >/dev/console
told reload
rmmod virtio_blk && insmod /lab/modules/*-virtio_blk.ko
echo "TRUTH module $(grep '^virtio_blk ' /proc/modules)" >/dev/console
told reboot
echo TRUTH reboots >/dev/console
reboot -f
