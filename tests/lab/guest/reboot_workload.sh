# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: prints where its kernel is and reads random bytes. When the host has written the
# word for it to the disk, it reloads a module, and later reboots. What the lab's init writes to the
# disk in each boot is not such a word.
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
