# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# What a guest boots: its kernel, the lab's initrd for that kernel, its workload; and the
# QEMU command line that the host will start it with.

# ROOT: the part of a guest's initrd that only depends on the kernel (GUEST_KERNEL_DIR; empty
# for a kernel of the caller's own, which has its drivers built in) and the lab's files
guest_fill_image() {
	local root=$1 library
	image_make_root "$root"
	image_add_busybox "$root"
	image_add "$root" "$WORKLOAD_PROGRAMS" /lab/bin
	while read -r library; do
		image_add "$root" "$library"
	done < <(image_libraries "$WORKLOAD_PROGRAMS"/*)
	mkdir -p "$root/lab/modules"
	if [ -n "$GUEST_KERNEL_DIR" ]; then
		image_add_modules "$root" "$GUEST_KERNEL_DIR" "${ARCH_GUEST_MODULES[@]}"
	fi
	image_add "$root" "$LAB_ROOT/lab/guest/init" /init
}

# Set GUEST_KERNEL_FILE and GUEST_BASE_INITRD. The caller holds the cache's lock.
guest_prepare() {
	local inputs name=guest-$OPT_ARCH-own
	GUEST_KERNEL_DIR=
	GUEST_KERNEL_FILE=$OPT_GUEST_KERNEL
	inputs=("$(command -v busybox)" "$WORKLOAD_PROGRAMS" "$LAB_ROOT/lab/guest/init"
		"$LAB_ROOT"/lab/lib/{guest,image}.sh "$LAB_ROOT/lab/arch/$OPT_ARCH.sh")
	if kernel_suite "$OPT_GUEST_KERNEL" >/dev/null; then
		kernel_get "$OPT_GUEST_KERNEL"
		GUEST_KERNEL_DIR=$KERNEL_DIR
		GUEST_KERNEL_FILE=$KERNEL_DIR/vmlinuz
		name=guest-$OPT_ARCH-$OPT_GUEST_KERNEL
		inputs+=("$KERNEL_DIR/release")
	fi
	image_get "$name" "$(image_key "${inputs[@]}")" guest_fill_image
	GUEST_BASE_INITRD=$IMAGE_FILE
	guest_prepare_modules
}

# Set GUEST_MODULES to the files of what --guest-module names.
guest_prepare_modules() {
	local module
	GUEST_MODULES=()
	for module in "${OPT_GUEST_MODULE[@]}"; do
		[ -n "$GUEST_KERNEL_DIR" ] || die "--guest-module wants a kernel series, not a kernel of your own"
		module_get "$module"
		GUEST_MODULES+=("$MODULE_FILE:/lab/modules/90-${module##*/}.ko")
	done
}

# NUMBER DIR: the guest's initrd, made of the cached part, its workload and what the caller adds, as
# DIR/initrd
guest_make_initrd() {
	local number=$1 dir=$2 workload
	if [ -n "$OPT_GUEST_INITRD" ]; then
		cp "$OPT_GUEST_INITRD" "$dir/initrd"
		return
	fi
	workload=$(workload_of_guest "$number")
	mkdir -p "$LAB_RUN/workload/lab"
	cp "$workload" "$LAB_RUN/workload/lab/workload"
	image_add_files "$LAB_RUN/workload" "${GUEST_MODULES[@]}" "${OPT_GUEST_ADD[@]}"
	image_pack "$LAB_RUN/workload" "$LAB_RUN/workload.cpio"
	cat "$GUEST_BASE_INITRD" "$LAB_RUN/workload.cpio" >"$dir/initrd"
}

# NUMBER DIR: what the host needs for guestNUMBER, in DIR
guest_make() {
	local number=$1 dir=$2 name=guest$1 cmdline
	mkdir -p "$dir"
	guest_make_initrd "$number" "$dir"
	cmdline=$(arch_guest_cmdline)
	[ "$OPT_KASLR" = yes ] || cmdline+=" nokaslr"
	arch_guest_args
	[ "$OPT_STEADY" = no ] || ARCH_ARGS+=(-no-reboot)
	printf '%s\0' "/usr/bin/$ARCH_QEMU" -name "$name" "${ARCH_ARGS[@]}" \
		-smp "$OPT_GUEST_CPUS" -m "$OPT_GUEST_MEM" \
		-nodefaults -no-user-config -display none -serial file:console.log \
		-device virtio-serial-pci -chardev file,id=told,path=told.log -device virtserialport,chardev=told \
		-drive "file=truth.img,format=raw,if=virtio" -qmp unix:qmp.sock,server=on,wait=off \
		-kernel /lab/guests/kernel -initrd "/lab/guests/$name/initrd" \
		-append "$cmdline $OPT_GUEST_CMDLINE" >"$dir/args"
}
