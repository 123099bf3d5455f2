# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# What a guest boots: its kernel and the lab's initrd for that kernel; its workload, which most
# guests get only after they have booted; and the QEMU command line with which the host starts it.

# ROOT: the part of a guest's initrd that depends only on the kernel (GUEST_KERNEL_DIR; empty for
# the user's own kernel, which has its drivers built in) and on the lab's files
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

# Set GUEST_MODULES to the files of the modules that --guest-module names.
guest_prepare_modules() {
	local module
	GUEST_MODULES=()
	for module in "${OPT_GUEST_MODULE[@]}"; do
		[ -n "$GUEST_KERNEL_DIR" ] ||
			die "--guest-module needs a kernel series, not a kernel of your own"
		module_get "$module"
		GUEST_MODULES+=("$MODULE_FILE:/lab/more-modules/${module##*/}.ko")
	done
}

# True if guests wait for their work after booting (guest/init). A user's own kernel may have no
# disk driver, and a user's own initrd has its own workload.
guest_waits() {
	[ -n "$GUEST_KERNEL_DIR" ] && [ -z "$OPT_GUEST_INITRD" ]
}

# NUMBER ROOT: put the guest's files for this run into ROOT: its workload and what the user adds
guest_fill_work() {
	local number=$1 root=$2 workload
	workload=$(workload_of_guest "$number")
	mkdir -p "$root/lab"
	cp "$workload" "$root/lab/workload"
	image_add_files "$root" "${GUEST_MODULES[@]}" "${OPT_GUEST_ADD[@]}"
}

# NUMBER FILE: the work of a guest that waits for it, as a tar archive
guest_make_work() {
	local root=$LAB_RUN/work
	guest_fill_work "$1" "$root"
	tar -C "$root" --owner=0 --group=0 -cf "$2" .
	rm -rf "$root"
}

# NUMBER DIR: the initrd of a guest that does not wait, including its work, as DIR/initrd
guest_make_initrd() {
	local number=$1 dir=$2 root=$LAB_RUN/work
	if [ -n "$OPT_GUEST_INITRD" ]; then
		cp "$OPT_GUEST_INITRD" "$dir/initrd"
		return
	fi
	guest_fill_work "$number" "$root"
	image_pack "$root" "$LAB_RUN/work.cpio"
	cat "$GUEST_BASE_INITRD" "$LAB_RUN/work.cpio" >"$dir/initrd"
	rm -rf "$root" "$LAB_RUN/work.cpio"
}

# NUMBER: set GUEST_ARGS to the QEMU command line with which the host starts the guest
guest_set_args() {
	local name=guest$1 cmdline initrd=/lab/guests/initrd
	guest_waits || initrd=/lab/guests/$name/initrd
	cmdline=$(arch_guest_cmdline)
	[ "$OPT_KASLR" = yes ] || cmdline+=" nokaslr"
	arch_guest_args
	GUEST_ARGS=("/usr/bin/$ARCH_QEMU" -name "$name" "${ARCH_ARGS[@]}"
		-smp "$OPT_GUEST_CPUS" -m "$OPT_GUEST_MEM"
		-nodefaults -no-user-config -display none -serial file:console.log
		-device virtio-serial-pci
		-chardev file,id=told,path=told.log -device virtserialport,chardev=told
		-chardev pipe,id=ask,path=ask -device virtserialport,chardev=ask
		-drive "file=truth.img,format=raw,if=virtio"
		-drive "file=work.img,format=raw,if=virtio"
		-qmp unix:qmp.sock,server=on,wait=off
		-kernel /lab/guests/kernel -initrd "$initrd" -append "$cmdline $OPT_GUEST_CMDLINE")
}

# ROOT COUNT: everything that the host needs to boot COUNT guests
guest_make_all() {
	local root=$1 count=$2 number
	image_add "$root" "$GUEST_KERNEL_FILE" /lab/guests/kernel
	! guest_waits || image_add "$root" "$GUEST_BASE_INITRD" /lab/guests/initrd
	for ((number = 1; number <= count; number++)); do
		mkdir -p "$root/lab/guests/guest$number"
		guest_waits || guest_make_initrd "$number" "$root/lab/guests/guest$number"
		guest_set_args "$number"
		printf '%s\0' "${GUEST_ARGS[@]}" >"$root/lab/guests/guest$number/args"
	done
}
