# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Packages of any suite of Debian's archive, whatever the machine itself runs. They are fetched with
# apt and a private configuration (its own lists, an empty status file), so nothing on the machine
# changes, and apt verifies signatures and hashes as usual. They are unpacked, never installed.

# Print the mirrors to try: those that this machine's apt uses, then Debian's.
archive_mirrors() {
	{
		# shellcheck disable=SC2016 # a format string of apt
		apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
			grep -E '/debian/?$'
		echo http://deb.debian.org/debian/
	} | awk '!seen[$0]++'
}

# DIR SUITE MIRROR: write an apt configuration in DIR. It is passed to apt with -c and read after
# the machine's own configuration, so proxies and similar settings stay in force.
archive_write_apt_conf() {
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

# DIR PACKAGE…: download and unpack into DIR/unpacked
archive_download() {
	local dir=$1 deb
	shift
	mkdir -p "$dir/debs" "$dir/unpacked"
	(cd "$dir/debs" && apt-get -c "$dir/apt.conf" -qq download "$@") || return
	for deb in "$dir"/debs/*.deb; do
		dpkg-deb -x "$deb" "$dir/unpacked" || return
	done
}

# SUITE DIR LISTER: fetch the packages that LISTER DIR prints, one per line, into DIR/unpacked, from
# the first mirror that has them. LISTER may run apt with DIR/apt.conf.
archive_fetch() {
	local suite=$1 dir=$2 lister=$3 mirror packages
	while read -r mirror; do
		rm -rf "$dir"
		archive_write_apt_conf "$dir" "$suite" "$mirror"
		apt-get -c "$dir/apt.conf" -qq update || continue
		mapfile -t packages < <("$lister" "$dir")
		if [ "${#packages[@]}" -eq 0 ]; then
			echo "$mirror has no such package in $suite"
		elif archive_download "$dir" "${packages[@]}"; then
			return 0
		fi
	done < <(archive_mirrors)
	return 1
}
