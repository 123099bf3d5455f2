# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Everything in the lab that is specific to x86-64. The host is an AMD machine with SVM and nested
# paging, emulated by QEMU; its guests run under kvm_amd.
#
# To add an architecture, write lab/arch/NAME.sh with the same names as here. The common part uses
# only these functions and variables.

ARCH_DEBIAN=amd64
ARCH_KERNEL_METAPACKAGE=linux-image-cloud-amd64
ARCH_KERNEL_METAPACKAGE_FULL=linux-image-amd64
ARCH_KERNEL_IMAGE=vmlinuz
ARCH_QEMU=qemu-system-x86_64
ARCH_QEMU_PACKAGE=qemu-system-x86
ARCH_CONSOLE=ttyS0

# Loaded in this order, with their dependencies; built-in ones are skipped.
ARCH_HOST_MODULES=(virtio_pci virtio_console virtio_blk kvm_amd)
ARCH_GUEST_MODULES=(virtio_pci virtio_console virtio_blk cuse) # cuse: its readers sleep in a module

# The firmware that a guest needs, by its names in QEMU's data folders.
ARCH_ROMS=(bios-256k.bin kvmvapic.bin linuxboot_dma.bin)

# Set ARCH_ARGS: the machine on which the host's kernel runs.
#
# Without ERMS and FSRM, which promise fast string instructions, the kernel clears and copies eight
# bytes at a time. In emulation every step of a string instruction costs the same, so perfvisor then
# needs only three quarters of the time.
arch_host_args() {
	local cpu=max,+svm,+npt,-erms,-fsrm
	[ "$OPT_LA57" = yes ] || cpu+=,-la57
	ARCH_ARGS=(-accel "tcg,thread=multi" -machine q35 -cpu "$cpu")
}

# The kernel would count timer interrupts while it waits a fixed number of cycles, which takes too
# short a time when QEMU does not get the processor ("IO-APIC + timer doesn't work!").
arch_host_cmdline() {
	echo "console=$ARCH_CONSOLE quiet panic=-1 mitigations=off tsc=reliable no_timer_check"
}

# Set ARCH_ARGS: the machine of a guest.
#
# Not -cpu host: its features under emulation (AVX, xstate) crash 5.10 and 7.2 guests. LA57 is added
# to the old model, because current servers have it and it changes page tables.
arch_guest_args() {
	local cpu=Nehalem
	[ "$OPT_LA57" = yes ] && cpu+=,+la57
	ARCH_ARGS=(-accel kvm -machine q35 -cpu "$cpu")
}

arch_guest_cmdline() {
	echo "console=$ARCH_CONSOLE quiet panic=-1 mitigations=off no_timer_check"
}
