# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# The QEMU that emulates the host. Multi-threaded emulation before QEMU 8.1 can run an old copy
# of kernel code that is just being patched: a kernel then dies of an `int3` or a double fault,
# about one boot in thirty. (8.1 has "accel/tcg: Always lock pages before translation".) With 10.0.2, about
# one run of a minute in fifteen lost a host or a guest (README.md, Limits). Where the machine's
# QEMU is older than what was seen to be better, a later one of Debian's is fetched, with the libraries that it was
# built for.

EMULATOR_SUITE=trixie-backports
EMULATOR_LEAST=11.1

# PROGRAM: is it new enough, and does it run here?
emulator_is_new() {
	local version
	version=$("$1" --version 2>/dev/null | sed -nE '1s/.*version ([0-9]+\.[0-9]+).*/\1/p')
	[ -n "$version" ] &&
		[ "$(printf '%s\n' "$EMULATOR_LEAST" "$version" | sort -V | head -n 1)" = "$EMULATOR_LEAST" ]
}

# As archive_fetch wants it: QEMU, firmware, and all libraries.
emulator_packages() {
	apt-cache -c "$1/apt.conf" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances "$ARCH_QEMU_PACKAGE" | grep -xE '(lib|qemu-|seabios|zlib1g).*' | sort -u
}

# FOLDER: its QEMU shall take the loader and the libraries in there, not the machine's, which are older.
emulator_bind() {
	local libraries loader
	libraries=$(echo "$1"/usr/lib/*-linux-gnu)
	loader=$(echo "$libraries"/ld-linux*.so.*)
	patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$1/usr/bin/$ARCH_QEMU"
}

# WORK: fetch it, and leave it in the cache if it runs here
emulator_fetch() {
	archive_fetch "$EMULATOR_SUITE" "$1" emulator_packages || return
	rm -rf "$1"/unpacked/usr/share/{doc,locale,man} "$EMULATOR_DIR"
	mkdir -p "${EMULATOR_DIR%/*}"
	mv "$1/unpacked" "$EMULATOR_DIR"
	emulator_bind "$EMULATOR_DIR" && emulator_is_new "$EMULATOR_DIR/usr/bin/$ARCH_QEMU"
}

# Set EMULATOR: the program and the options that come first. The caller holds the cache's lock.
emulator_prepare() {
	local work=$LAB_CACHE/fetch
	EMULATOR=("$ARCH_QEMU")
	if emulator_is_new "$ARCH_QEMU"; then
		return
	fi
	EMULATOR_DIR=$LAB_CACHE/emulator/$ARCH_DEBIAN
	if ! emulator_is_new "$EMULATOR_DIR/usr/bin/$ARCH_QEMU" && ! msg_while "$LAB_RUN/fetch.log" \
		"fetching a later QEMU from Debian's $EMULATOR_SUITE" emulator_fetch "$work"; then
		msg "going on with the QEMU that is installed; hosts may crash (lab/README.md, Limits)"
		return
	fi
	rm -rf "$work"
	EMULATOR=("$EMULATOR_DIR/usr/bin/$ARCH_QEMU" -L "$EMULATOR_DIR/usr/share/qemu"
		-L "$EMULATOR_DIR/usr/share/seabios")
}
