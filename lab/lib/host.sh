# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# The host's initrd: a cached part (QEMU, perf, bash, busybox, modules, firmware) and this
# run's (init, perfvisor, tinyvm, COMMAND, the guests).

# NAME: print the path of a firmware file of this machine's QEMU, or fail
host_find_rom() {
	local dir
	while read -r dir; do
		if [ -e "$dir/$1" ]; then
			echo "$dir/$1"
			return
		fi
	done < <("$ARCH_QEMU" -L help)
	return 1
}

# ROOT: fill the cached part; HOST_KERNEL_DIR is the kernel's
host_fill_image() {
	local root=$1 rom file
	image_make_root "$root"
	image_add_program "$root" "$(command -v "$ARCH_QEMU")" "/usr/bin/$ARCH_QEMU"
	image_add_program "$root" "$(command -v perf)" /usr/bin/perf
	image_add_program "$root" "$(command -v bash)" /usr/bin/bash
	image_add_busybox "$root"
	for rom in "${ARCH_ROMS[@]}"; do
		file=$(host_find_rom "$rom") || die "QEMU's $rom is not installed; run scripts/setup"
		image_add "$root" "$file" "/usr/share/qemu/$rom"
	done
	image_add "$root" "$WORKLOAD_PROGRAMS" /usr/share/perfvisor-lab
	image_add_modules "$root" "$HOST_KERNEL_DIR" "${ARCH_HOST_MODULES[@]}"
	echo 'root:x:0:0:root:/root:/bin/bash' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	echo '127.0.0.1 localhost lab-host' >"$root/etc/hosts"
}

# Set HOST_KERNEL_FILE and HOST_BASE_INITRD. The caller holds the cache's lock.
host_prepare() {
	local inputs libraries
	kernel_get "$OPT_HOST_KERNEL"
	HOST_KERNEL_DIR=$KERNEL_DIR
	HOST_KERNEL_FILE=$KERNEL_DIR/vmlinuz
	inputs=("$(command -v "$ARCH_QEMU")" "$(command -v perf)" "$(command -v bash)")
	mapfile -t libraries < <(image_libraries "${inputs[@]}")
	inputs+=("${libraries[@]}" "$(command -v busybox)" "$WORKLOAD_PROGRAMS" "$KERNEL_DIR/release"
		"$LAB_ROOT"/lab/lib/{host,image}.sh "$LAB_ROOT/lab/arch/$OPT_ARCH.sh")
	image_get "host-$OPT_ARCH-$OPT_HOST_KERNEL" "$(image_key "${inputs[@]}")" host_fill_image
	HOST_BASE_INITRD=$IMAGE_FILE
}

# ROOT: the programs under test, from the build tree
host_add_programs() {
	local root=$1 perfvisor=${PERFVISOR:-$LAB_ROOT/build/release/perfvisor}
	local tinyvm=$LAB_ROOT/build/release/lab/tinyvm
	if [ -x "$perfvisor" ]; then
		image_add_program "$root" "$perfvisor" /usr/local/bin/perfvisor
	else
		msg "no perfvisor at $perfvisor (make builds it): going on without"
	fi
	if [ -x "$tinyvm/tinyvm" ]; then
		image_add_program "$root" "$tinyvm/tinyvm" /usr/local/bin/tinyvm
		image_add "$root" "$tinyvm/unikernel.elf" /usr/share/perfvisor-lab/unikernel.elf
	fi
}

# ROOT: the run's settings for lab/host/init
host_add_config() {
	local root=$1 number names=()
	for ((number = 1; number <= OPT_GUESTS; number++)); do
		names+=("guest$number")
	done
	mkdir -p "$root/lab"
	cat >"$root/lab/config" <<-EOF
		LAB_MODE=$LAB_MODE
		LAB_GUESTS="${names[*]}"
		LAB_READY_LIMIT=$LAB_READY_LIMIT
		LAB_COMMAND_LIMIT=$OPT_LIMIT
		LAB_STEADY=$OPT_STEADY
		LAB_STTY="$LAB_STTY"
	EOF
	printf '%s\0' "${COMMAND[@]}" >"$root/lab/command"
}

# Write the host's initrd of this run to $LAB_RUN/initrd.
host_make_initrd() {
	local root=$LAB_RUN/root number
	mkdir -p "$root/lab/guests"
	install -m 755 "$LAB_ROOT/lab/host/init" "$root/init"
	host_add_programs "$root"
	image_add_files "$root" "${OPT_ADD[@]}"
	host_add_config "$root"
	if [ "$OPT_GUESTS" -gt 0 ]; then
		image_add "$root" "$GUEST_KERNEL_FILE" /lab/guests/kernel
	fi
	for ((number = 1; number <= OPT_GUESTS; number++)); do
		guest_make "$number" "$root/lab/guests/guest$number"
	done
	image_pack "$root" "$LAB_RUN/run.cpio"
	cat "$HOST_BASE_INITRD" "$LAB_RUN/run.cpio" >"$LAB_RUN/initrd"
	rm -rf "$root" "$LAB_RUN/run.cpio"
}
