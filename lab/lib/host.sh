# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# The host's initrd: a cached part (QEMU, perf, bash, busybox, modules, firmware), init and the
# guests. Also the files that it gets after booting: perfvisor, tinyvm, and COMMAND with its files.

# NAME: print the path of this firmware file of this machine's QEMU, or fail
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
	image_add_program "$root" "$(command -v socat)" /usr/bin/socat
	image_add_program "$root" "$(command -v flock)" /usr/bin/flock
	image_add_busybox "$root"
	for rom in "${ARCH_ROMS[@]}"; do
		file=$(host_find_rom "$rom") ||
			die "QEMU's $rom is not installed; run scripts/setup"
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
	inputs=("$(command -v "$ARCH_QEMU")" "$(command -v perf)" "$(command -v bash)"
		"$(command -v socat)" "$(command -v flock)")
	mapfile -t libraries < <(image_libraries "${inputs[@]}")
	inputs+=("${libraries[@]}" "$(command -v busybox)" "$WORKLOAD_PROGRAMS"
		"$KERNEL_DIR/release" "$LAB_ROOT"/lab/lib/{host,image}.sh
		"$LAB_ROOT/lab/arch/$OPT_ARCH.sh")
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
		msg "no perfvisor at $perfvisor (make builds it): continuing without it"
	fi
	if [ -x "$tinyvm/tinyvm" ]; then
		image_add_program "$root" "$tinyvm/tinyvm" /usr/local/bin/tinyvm
		image_add "$root" "$tinyvm/unikernel.elf" /usr/share/perfvisor-lab/unikernel.elf
	fi
}

# COUNT: print the names of COUNT guests
host_guest_names() {
	local number names=()
	for ((number = 1; number <= $1; number++)); do
		names+=("guest$number")
	done
	echo "${names[*]}"
}

# ROOT: the run's settings for lab/host/init
host_add_config() {
	local root=$1
	mkdir -p "$root/lab"
	cat >"$root/lab/config" <<-EOF
		LAB_MODE=$LAB_MODE
		LAB_GUESTS="$(host_guest_names "$OPT_GUESTS")"
		LAB_COMMAND_LIMIT=$OPT_LIMIT
		LAB_STEADY=$OPT_STEADY
		LAB_SILENCE_LIMIT=$LAB_SILENCE_LIMIT
		LAB_STTY="$LAB_STTY"
		LAB_NOW=$(date +%s)
		ASAN_OPTIONS="$(host_sanitizer_options "${ASAN_OPTIONS-}")"
		UBSAN_OPTIONS="$(host_sanitizer_options "${UBSAN_OPTIONS-}")"
	EOF
	printf '%s\0' "${COMMAND[@]}" >"$root/lab/command"
}

# OPTIONS: print a sanitizer's OPTIONS for the host, which collects the reports itself
host_sanitizer_options() {
	local option
	for option in ${1//:/ }; do
		[[ $option == log_path=* ]] || printf '%s:' "$option"
	done
	echo log_path=/run/lab/sanitizer/report
}

# COUNT FILE: make the initrd of a host with COUNT guests
host_make_initrd() {
	local count=$1 file=$2 root=$LAB_RUN/root
	mkdir -p "$root/lab/guests"
	install -m 755 "$LAB_ROOT/lab/host/init" "$root/init"
	cat >"$root/lab/boot" <<-EOF
		LAB_GUESTS="$(host_guest_names "$count")"
		LAB_READY_LIMIT=$LAB_READY_LIMIT
		LAB_STEADY=no
	EOF
	[ "$count" = 0 ] || guest_make_all "$root" "$count"
	image_pack "$root" "$LAB_RUN/boot.cpio"
	cat "$HOST_BASE_INITRD" "$LAB_RUN/boot.cpio" >"$file"
	rm -rf "$root" "$LAB_RUN/boot.cpio"
}

# ROOT: remove the libraries that the host already has. Processes in the host have them mapped, and
# replacing them would leave deleted files in these mappings.
host_drop_libraries() {
	(cd "$1" && find usr/lib* -type f 2>/dev/null) | sed 's|^|./|' |
		grep -xF -f "$HOST_BASE_INITRD.files" | (cd "$1" && xargs -r rm)
}

# FILE: what the booted host gets for this run, as a tar archive at the beginning of a disk
host_make_delivery() {
	local file=$1 root=$LAB_RUN/root number
	mkdir -p "$root"/{lab/work,usr/lib,usr/lib64}
	ln -s usr/lib usr/lib64 "$root/" # as in the host
	host_add_programs "$root"
	image_add_files "$root" "${OPT_ADD[@]}"
	host_drop_libraries "$root"
	host_add_config "$root"
	for ((number = 1; number <= OPT_GUESTS; number++)); do
		! guest_waits || guest_make_work "$number" "$root/lab/work/guest$number"
	done
	rm "$root/lib" "$root/lib64"
	tar -C "$root" --owner=0 --group=0 --sort=name -cf "$file" .
	rm -rf "$root"
}
