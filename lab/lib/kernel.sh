# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Kernels by the name of their series. A series is a suite of Debian's archive; the real
# package is what the metapackage there depends on. Packages are fetched with apt through a
# private configuration (its own lists, an empty status file), so that nothing on the
# machine changes and apt verifies signatures and hashes as usual; then they are unpacked,
# never installed.
#
# A kernel in the cache is a folder $LAB_CACHE/kernels/ARCH/SERIES with
#   vmlinuz  config  release (the version's text)  tree/lib/modules/RELEASE/ (after depmod)
# It is put there by one rename when it is complete, so that what was interrupted leaves
# nothing, and never fetched again while it is there.

# SERIES -> its suite, or failure
kernel_suite() {
	case $1 in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	sid) echo sid ;;
	*) return 1 ;;
	esac
}

KERNEL_SERIES="5.10 6.1 6.12 sid"

# Where to look for a suite: the mirror that this machine's apt uses already, then Debian's.
kernel_mirrors() {
	{
		# shellcheck disable=SC2016 # a format of apt's
		apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
			grep -E '/debian/?$'
		echo http://deb.debian.org/debian/
	} | awk '!seen[$0]++'
}

# DIR SUITE MIRROR: write an apt configuration that lives in DIR. It is given to apt by -c,
# which is read after the machine's own (proxies and the like stay in force).
kernel_write_apt_conf() {
	local dir=$1 suite=$2 mirror=$3
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	: >"$dir/status"
	: >"$dir/empty"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" \
		>"$dir/sources.list"
	cat >"$dir/apt.conf" <<-EOF
		Dir::State "$dir";
		Dir::State::status "$dir/status";
		Dir::State::Lists "$dir/lists";
		Dir::Cache "$dir/cache";
		Dir::Etc::SourceList "$dir/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::preferences "$dir/empty";
		Dir::Etc::preferencesparts "/dev/null";
		APT::Architecture "$ARCH_DEBIAN";
		APT::Architectures { "$ARCH_DEBIAN"; };
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "2";
		APT::Update::Error-Mode "any";
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
	EOF
}

# DIR: the packages behind the metapackage, one per line
kernel_packages() {
	apt-cache -c "$1/apt.conf" depends --recurse --important "$ARCH_KERNEL_METAPACKAGE" |
		grep -Ex ' *(Pre)?Depends: linux-(image|base|binary|modules)-[0-9][^ ]*' |
		sed 's/.*: //' | sort -u
}

# DIR: download and unpack into DIR/tree
kernel_download() {
	local dir=$1 packages
	apt-get -c "$dir/apt.conf" -qq update || return
	mapfile -t packages < <(kernel_packages "$dir")
	if [ "${#packages[@]}" -eq 0 ]; then
		echo "no package behind $ARCH_KERNEL_METAPACKAGE"
		return 1
	fi
	mkdir -p "$dir/debs" "$dir/unpacked"
	(cd "$dir/debs" && apt-get -c "$dir/apt.conf" -qq download "${packages[@]}") || return
	local deb
	for deb in "$dir"/debs/*.deb; do
		dpkg-deb -x "$deb" "$dir/unpacked" || return
	done
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

# SUITE WORK: from the first mirror that has it
kernel_fetch() {
	local suite=$1 work=$2 mirror
	while read -r mirror; do
		rm -rf "$work"
		kernel_write_apt_conf "$work" "$suite" "$mirror"
		if kernel_download "$work" && kernel_arrange "$work"; then
			return 0
		fi
	done < <(kernel_mirrors)
	return 1
}

# SERIES: set KERNEL_DIR to the kernel's folder in the cache; fetch it if it is not there.
# The caller holds the cache's lock.
kernel_get() {
	local series=$1 suite work=$LAB_CACHE/fetch
	suite=$(kernel_suite "$series") || die "no kernel series '$series'"
	KERNEL_DIR=$LAB_CACHE/kernels/$ARCH_DEBIAN/$series
	[ ! -e "$KERNEL_DIR/vmlinuz" ] || return 0
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
