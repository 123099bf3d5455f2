# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Everything of the lab that is x86-64's: the host is QEMU's emulation of an AMD machine
# with SVM and nested paging; guests run under kvm_amd in it.
#
# How to add an architecture: write lab/arch/NAME.sh with the same names as here. The
# common part calls these functions and reads these variables and knows nothing else.

ARCH_DEBIAN=amd64
ARCH_KERNEL_METAPACKAGE=linux-image-cloud-amd64
ARCH_KERNEL_METAPACKAGE_FULL=linux-image-amd64
ARCH_KERNEL_IMAGE=vmlinuz
ARCH_QEMU=qemu-system-x86_64
ARCH_QEMU_PACKAGE=qemu-system-x86
ARCH_CONSOLE=ttyS0

# Loaded in this order, with what they depend on; what is built in is skipped.
ARCH_HOST_MODULES=(virtio_pci virtio_console virtio_blk kvm_amd)
ARCH_GUEST_MODULES=(virtio_pci virtio_console virtio_blk cuse) # cuse: its readers sleep in a module

# The firmware that a guest needs, as found by QEMU in its data folders.
ARCH_ROMS=(bios-256k.bin kvmvapic.bin linuxboot_dma.bin)

# Set ARCH_ARGS: the machine that the host kernel runs on.
#
# Without the promise that string instructions are fast (ERMS, FSRM), the kernel clears and copies eight bytes
# at a time. In emulation, where each step of a string instruction costs the same, perfvisor then takes
# three quarters of the time.
arch_host_args() {
	local cpu=max,+svm,+npt,-erms,-fsrm
	[ "$OPT_LA57" = yes ] || cpu+=,-la57
	ARCH_ARGS=(-accel "tcg,thread=multi" -machine q35 -cpu "$cpu")
}

arch_host_cmdline() {
	echo "console=$ARCH_CONSOLE quiet panic=-1 mitigations=off tsc=reliable"
}

# Set ARCH_ARGS: the machine of a guest.
#
# Not -cpu host: what it offers under emulation (AVX, xstate) kills 5.10 and 7.2 guests. LA57
# comes on top of the old model, since current servers have it and it changes page tables.
arch_guest_args() {
	local cpu=Nehalem
	[ "$OPT_LA57" = yes ] && cpu+=,+la57
	ARCH_ARGS=(-accel kvm -machine q35 -cpu "$cpu")
}

arch_guest_cmdline() {
	echo "console=$ARCH_CONSOLE quiet panic=-1 mitigations=off"
}
