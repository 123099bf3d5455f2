# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# The user's own kernel modules (--guest-module DIR), built for the guest's kernel with the
# installed compiler. The kernels were built with older and newer compilers; the interface between
# kernel and modules does not depend on this.
#
# The headers package of a kernel is unpacked into the kernel's folder in the cache, as `headers`.

# A LISTER for archive_fetch: the packages that are needed to build a module for MODULE_RELEASE
module_packages() {
	local headers=linux-headers-$MODULE_RELEASE
	apt-cache -c "$1/apt.conf" show "$headers" >/dev/null 2>&1 || return
	printf '%s\n' "$headers" libc6
	apt-cache -c "$1/apt.conf" depends "$headers" |
		sed -nE 's/^ *Depends: (linux-(headers|kbuild)-.*)/\1/p'
}

# HEADERS: let tools that need a later C library than the machine's run with the one of their suite
module_wrap_tools() {
	local tool loader folder
	loader=$(find "$1" -name 'ld-linux*.so.*' -path '*/lib/*' | head -n 1)
	while read -r tool; do
		ldd "$tool" 2>&1 | grep -q 'not found' || continue
		folder=$(realpath --relative-to "${tool%/*}" "${loader%/*}")
		mv "$tool" "$tool.bin"
		cat >"$tool" <<-EOF
			#!/bin/sh
			here=\$(dirname "\$(readlink -f "\$0")")
			library=\$here/$folder
			exec "\$library/${loader##*/}" --library-path "\$library" \\
			    "\$here/${tool##*/}.bin" "\$@"
		EOF
		chmod +x "$tool"
	done < <(find "$1/usr/lib" -path '*/linux-kbuild-*' -type f -perm -u+x)
}

# SUITE WORK
module_fetch_headers() {
	archive_fetch "$1" "$2" module_packages && module_wrap_tools "$2/unpacked"
}

# Fetch the headers of the kernel in GUEST_KERNEL_DIR if they are not there.
module_get_headers() {
	local work=$LAB_CACHE/fetch
	[ ! -d "$GUEST_KERNEL_DIR/headers" ] || return 0
	MODULE_RELEASE=$(<"$GUEST_KERNEL_DIR/release")
	msg_while "$LAB_RUN/fetch.log" "fetching the headers of Linux $MODULE_RELEASE" \
		module_fetch_headers "$(kernel_suite "$OPT_GUEST_KERNEL")" "$work" ||
		die "cannot fetch linux-headers-$MODULE_RELEASE: if the archive has a later" \
			"release, fetch the kernel again, by removing" \
			"build/cache/kernels/$ARCH_DEBIAN/$OPT_GUEST_KERNEL"
	mv "$work/unpacked" "$GUEST_KERNEL_DIR/headers"
	rm -rf "$work"
}

# WORK COMPILER: build the module in WORK, with its Kbuild
module_build() {
	local work=$1 compiler=$2 source release folder arguments
	source=$GUEST_KERNEL_DIR/headers/usr/src
	release=$(<"$GUEST_KERNEL_DIR/release")
	folder=$source/linux-headers-$release
	# A module's BTF would need pahole and the kernel's BTF.
	arguments=(KBUILD_OUTPUT="$folder" M="$work" CC="$compiler" CONFIG_DEBUG_INFO_BTF_MODULES=)
	# The only setting taken from the kernel's compiler is how functions are aligned.
	"$compiler" -fmin-function-alignment=16 -E -x c /dev/null >/dev/null 2>&1 ||
		arguments+=(CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=)
	# The Makefile in FOLDER includes this one by its path when installed.
	make -C "$folder" -f "$(echo "$source"/linux-headers-*-common/Makefile)" \
		"${arguments[@]}" modules
}

# DIR: set MODULE_FILE to the module that is named like DIR, built from the files in DIR. The caller
# holds the cache's lock.
module_get() {
	local name=${1##*/} compiler work=$LAB_CACHE/modules/work
	compiler=$(command -v "${CC:-gcc}")
	module_get_headers
	MODULE_FILE=$LAB_CACHE/modules/$name-$ARCH_DEBIAN-$OPT_GUEST_KERNEL
	MODULE_FILE+=.$(image_key "$compiler" "$1"/* "$GUEST_KERNEL_DIR/release" \
		"$LAB_ROOT/lab/lib/module.sh").ko
	[ ! -e "$MODULE_FILE" ] || return 0
	rm -rf "$work"
	mkdir -p "$work"
	cp "$1"/* "$work/"
	msg_while "$LAB_RUN/module.log" "building the module $name for Linux $OPT_GUEST_KERNEL" \
			module_build "$work" "$compiler" ||
		die "cannot build $1 for Linux $OPT_GUEST_KERNEL"
	mv "$work/$name.ko" "$MODULE_FILE" || die "$1 did not build a module of that name"
	rm -rf "$work"
	find "${MODULE_FILE%/*}" -name "$name-*.ko" -mtime +3 -delete
}
