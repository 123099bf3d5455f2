# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Checks that the machine has the programs that the lab needs. One message lists all missing ones,
# with the command that installs them.

need_check() {
	local program missing=()
	for program in "$ARCH_QEMU:$ARCH_QEMU_PACKAGE" busybox:busybox-static perf:linux-perf \
		"${CC:-gcc}:gcc" cpio:cpio depmod:kmod modprobe:kmod dpkg-deb:dpkg apt-get:apt \
		xz:xz-utils zstd:zstd socat:socat make:make flock:util-linux setpriv:util-linux; do
		command -v "${program%%:*}" >/dev/null ||
			missing+=("${program%%:*} (package ${program#*:})")
	done
	[ "${#missing[@]}" -eq 0 ] || {
		local list
		list=$(printf ', %s' "${missing[@]}")
		die "missing: ${list#, }. Install with: sudo scripts/setup"
	}
}
