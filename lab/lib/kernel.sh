# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Kernels, by the name of their series. A series is a suite of Debian's archive; the package is the
# one on which the suite's metapackage depends. Kernels are of the cloud flavour, which is small;
# SERIES-full has the drivers of real machines.
#
# A kernel in the cache is a folder $LAB_CACHE/kernels/ARCH/SERIES with
#   vmlinuz  config  release (the version's text)  tree/lib/modules/RELEASE/ (after depmod)
# A complete kernel is moved there by one rename, so an interrupted run leaves nothing behind. It is
# never fetched again while it is there.

# SERIES: print its suite, or fail
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

# SERIES: print the name of its metapackage
kernel_metapackage() {
	case $1 in
	*-full) echo "$ARCH_KERNEL_METAPACKAGE_FULL" ;;
	*) echo "$ARCH_KERNEL_METAPACKAGE" ;;
	esac
}

# DIR: print the packages on which the metapackage KERNEL_METAPACKAGE depends, one per line
kernel_packages() {
	apt-cache -c "$1/apt.conf" depends --recurse --important "$KERNEL_METAPACKAGE" |
		grep -Ex ' *(Pre)?Depends: linux-(image|base|binary|modules)-[0-9][^ ]*' |
		sed 's/.*: //' | sort -u
}

# DIR: arrange the unpacked files as in the cache, in DIR/kernel
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
	suite=$(kernel_suite "$series") || die "unknown kernel series '$series'"
	KERNEL_DIR=$LAB_CACHE/kernels/$ARCH_DEBIAN/$series
	[ ! -e "$KERNEL_DIR/vmlinuz" ] || return 0
	KERNEL_METAPACKAGE=$(kernel_metapackage "$series")
	msg_while "$LAB_RUN/fetch.log" "fetching the $series kernel from Debian's $suite" \
		kernel_fetch "$suite" "$work" ||
		die "cannot fetch the $series kernel: is Debian's archive reachable?" \
			"A fetched kernel stays in build/cache, and then no network is needed"
	mkdir -p "${KERNEL_DIR%/*}"
	mv "$work/kernel" "$KERNEL_DIR"
	rm -rf "$work"
}

# DIR MODULE…: print the files of the modules and their dependencies, in the order of loading.
# Modules that are built in or do not exist in this kernel are left out.
kernel_module_files() {
	local dir=$1 release module
	release=$(<"$dir/release")
	shift
	for module; do
		modprobe -d "$dir/tree" -S "$release" --show-depends "$module" 2>/dev/null
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}
