# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# A lab guest in QEMU's emulation on this machine, for tests that need no KVM.
#
# tcg_guest WORKLOAD CPUS DIR: boot a guest and wait for its workload. QEMU_PID is then its QEMU,
# and DIR has console.log, qmp.sock and the guest's /proc files (kallsyms, version …). The guest
# ends with this shell.
LAB_NAME=tests/lab
LAB_MODE=run
LAB_ROOT=$PWD
. lab/lib/main.sh

tcg_start() {
	local cpus=$1 dir=$2
	truncate -s 64M "$dir/truth.img"
	"${EMULATOR[@]}" -name tcg -accel tcg,thread=multi -machine q35 -cpu Nehalem \
		-smp "$cpus" -m 512 -nodefaults -no-user-config -display none -no-reboot \
		-serial "file:$dir/console.log" -drive "file=$dir/truth.img,format=raw,if=virtio" \
		-qmp "unix:$dir/qmp.sock,server=on,wait=off" \
		-kernel "$GUEST_KERNEL_FILE" -initrd "$dir/initrd" -append "$(arch_guest_cmdline)" \
		</dev/null &
	QEMU_PID=$!
}

tcg_guest() {
	local workload=$1 cpus=$2 dir=$3
	options_parse --guest-workload "$workload" -- true
	. "lab/arch/$OPT_ARCH.sh"
	need_check
	session_begin
	exec 9>"$LAB_CACHE/lock"
	flock 9
	emulator_prepare
	workload_prepare
	guest_prepare
	exec 9>&-
	rm -rf "$dir"
	mkdir -p "$dir"
	guest_make_initrd 1 "$dir"
	tcg_start "$cpus" "$dir"
	for _ in $(seq 300); do
		grep -qsa "lab: workload runs" "$dir/console.log" && break
		sleep 0.2
	done
	grep -qsa "lab: workload runs" "$dir/console.log" ||
		die "the guest does not boot: $dir/console.log"
	tar -C "$dir" -xf "$dir/truth.img"
}
