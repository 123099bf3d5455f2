# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# The QEMU that emulates the host. Multi-threaded emulation before QEMU 8.1 can run an old copy of
# kernel code that is just being patched. The kernel then dies of an `int3` or a double fault, in
# about one of thirty boots. (8.1 has "accel/tcg: Always lock pages before translation".) If the
# machine's QEMU is older, a later one built for Debian 12 is fetched.

EMULATOR_SUITE=bookworm-backports

# PROGRAM: true if it is QEMU 8.1 or later and runs here
emulator_is_new() {
	local version
	version=$("$1" --version 2>/dev/null | sed -nE '1s/.*version ([0-9]+\.[0-9]+).*/\1/p')
	[ -n "$version" ] && [ "$(printf '%s\n' 8.1 "$version" | sort -V | head -n 1)" = 8.1 ]
}

# A LISTER for archive_fetch
emulator_packages() {
	printf '%s\n' "$ARCH_QEMU_PACKAGE" qemu-system-common qemu-system-data seabios
}

# WORK: fetch QEMU, and put it into the cache if it runs here
emulator_fetch() {
	archive_fetch "$EMULATOR_SUITE" "$1" emulator_packages &&
		emulator_is_new "$1/unpacked/usr/bin/$ARCH_QEMU" &&
		mkdir -p "${EMULATOR_DIR%/*}" && mv "$1/unpacked" "$EMULATOR_DIR"
}

# Set EMULATOR: the program and its first options. The caller holds the cache's lock.
emulator_prepare() {
	local work=$LAB_CACHE/fetch
	EMULATOR=("$ARCH_QEMU")
	if emulator_is_new "$ARCH_QEMU"; then
		return
	fi
	EMULATOR_DIR=$LAB_CACHE/emulator/$ARCH_DEBIAN
	if [ ! -e "$EMULATOR_DIR" ] && ! msg_while "$LAB_RUN/fetch.log" \
		"fetching a later QEMU from Debian's $EMULATOR_SUITE" emulator_fetch "$work"; then
		msg "using the installed QEMU instead; hosts may crash (lab/README.md, Limits)"
		return
	fi
	rm -rf "$work"
	EMULATOR=("$EMULATOR_DIR/usr/bin/$ARCH_QEMU" -L "$EMULATOR_DIR/usr/share/qemu"
		-L "$EMULATOR_DIR/usr/share/seabios")
}
