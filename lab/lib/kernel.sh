# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Kernels by the name of their series. A series is a suite of Debian's archive; the real
# package is what the metapackage there depends on. Kernels are of the cloud flavour, which is
# small; SERIES-full has the drivers of real machines.
#
# A kernel in the cache is a folder $LAB_CACHE/kernels/ARCH/SERIES with
#   vmlinuz  config  release (the version's text)  tree/lib/modules/RELEASE/ (after depmod)
# It is put there by one rename when it is complete, so that what was interrupted leaves
# nothing, and never fetched again while it is there.

# SERIES -> its suite, or failure
kernel_suite() {
	case ${1%-full} in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	sid) echo sid ;;
	*) return 1 ;;
	esac
}

KERNEL_SERIES="5.10 6.1 6.12 sid"

# SERIES -> the name of its metapackage
kernel_metapackage() {
	case $1 in
	*-full) echo "$ARCH_KERNEL_METAPACKAGE_FULL" ;;
	*) echo "$ARCH_KERNEL_METAPACKAGE" ;;
	esac
}

# DIR: the packages behind the metapackage KERNEL_METAPACKAGE, one per line
kernel_packages() {
	apt-cache -c "$1/apt.conf" depends --recurse --important "$KERNEL_METAPACKAGE" |
		grep -Ex ' *(Pre)?Depends: linux-(image|base|binary|modules)-[0-9][^ ]*' |
		sed 's/.*: //' | sort -u
}

# DIR: bring what was unpacked into the cache's form, in DIR/kernel
kernel_arrange() {
	local from=$1/unpacked to=$1/kernel modules release
	mkdir -p "$to/tree/lib/modules"
	for modules in "$from"/lib/modules/* "$from"/usr/lib/modules/*; do
		[ -d "$modules/kernel" ] || continue
		release=${modules##*/}
		mv "$modules" "$to/tree/lib/modules/"
	done
	echo "$release" >"$to/release"
	modules=$to/tree/lib/modules/$release
	mv "$from/boot/$ARCH_KERNEL_IMAGE-$release" "$to/vmlinuz" 2>/dev/null ||
		mv "$modules/$ARCH_KERNEL_IMAGE" "$to/vmlinuz" || return
	mv "$from/boot/config-$release" "$to/config" 2>/dev/null ||
		mv "$modules/config" "$to/config" || return
	depmod -b "$to/tree" "$release"
}

# SUITE WORK
kernel_fetch() {
	archive_fetch "$1" "$2" kernel_packages && kernel_arrange "$2"
}

# SERIES: set KERNEL_DIR to the kernel's folder in the cache; fetch it if it is not there.
# The caller holds the cache's lock.
kernel_get() {
	local series=$1 suite work=$LAB_CACHE/fetch
	suite=$(kernel_suite "$series") || die "no kernel series '$series'"
	KERNEL_DIR=$LAB_CACHE/kernels/$ARCH_DEBIAN/$series
	[ ! -e "$KERNEL_DIR/vmlinuz" ] || return 0
	KERNEL_METAPACKAGE=$(kernel_metapackage "$series")
	msg_while "$LAB_RUN/fetch.log" "fetching the $series kernel from Debian's $suite" \
		kernel_fetch "$suite" "$work" ||
		die "cannot fetch the $series kernel: is Debian's archive reachable? Once fetched" \
			"it stays in build/cache, and no network is needed"
	mkdir -p "${KERNEL_DIR%/*}"
	mv "$work/kernel" "$KERNEL_DIR"
	rm -rf "$work"
}

# DIR MODULE…: the files of the modules and what they need, in the order of loading.
# What is built in or does not exist in this kernel is left out.
kernel_module_files() {
	local dir=$1 release module
	release=$(<"$dir/release")
	shift
	for module; do
		modprobe -d "$dir/tree" -S "$release" --show-depends "$module" 2>/dev/null
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}
