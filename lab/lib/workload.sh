# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Workloads: scripts that a guest's init runs, given by name (lab/workloads/NAME.sh) or as a file,
# and the programs that the named ones need.

# Print the names, for messages.
workload_names() {
	local file names=
	for file in "$LAB_ROOT"/lab/workloads/*.sh; do
		file=${file##*/}
		names+=", ${file%.sh}"
	done
	echo "${names#, }"
}

# W: print the file of a workload, or fail
workload_file() {
	if [ -f "$LAB_ROOT/lab/workloads/$1.sh" ]; then
		echo "$LAB_ROOT/lab/workloads/$1.sh"
	else
		[ -f "$1" ] && [ -r "$1" ] && echo "$1"
	fi
}

# NUMBER: print the workload file of guestNUMBER; the last entry of a list is also used for all
# later guests
workload_of_guest() {
	local list
	IFS=, read -ra list <<<"$OPT_GUEST_WORKLOAD"
	if [ "$1" -le "${#list[@]}" ]; then
		workload_file "${list[$1 - 1]}"
	else
		workload_file "${list[-1]}"
	fi
}

# Check the value of --guest-workload.
workload_check() {
	local list name
	IFS=, read -ra list <<<"$OPT_GUEST_WORKLOAD"
	[ "${#list[@]}" -gt 0 ] || usage_error "--guest-workload names no workload"
	for name in "${list[@]}"; do
		workload_file "$name" >/dev/null ||
			usage_error "unknown workload '$name': use $(workload_names)," \
				"or a readable script"
	done
}

# NAME: print the arguments for linking this program (and for choosing its mode), one per line. Each
# program has a build-id. If it is not position-independent, nm shows its run-time addresses.
workload_link_arguments() {
	case $1 in
	dynamic) printf '%s\n' -fPIE -pie ;;
	user32) printf '%s\n' -ffreestanding -m32 -fno-pie -no-pie -static -nostdlib ;;
	*) printf '%s\n' -static -no-pie ;;
	esac
	echo -Wl,--build-id
}

# Set WORKLOAD_PROGRAMS to a folder with the programs. They are compiled once for host and guests,
# so addresses that nm prints in the host are valid in the guests. The caller holds the cache's
# lock.
workload_prepare() {
	local compiler source name arguments work=$LAB_CACHE/programs.work
	compiler=$(command -v "${CC:-gcc}")
	WORKLOAD_PROGRAMS=$LAB_CACHE/programs.$(image_key "$compiler" \
		"$LAB_ROOT"/lab/workloads/*.[ch] "$LAB_ROOT/lab/lib/workload.sh")
	[ ! -d "$WORKLOAD_PROGRAMS" ] || return 0
	rm -rf "$work"
	mkdir -p "$work"
	for source in "$LAB_ROOT"/lab/workloads/*.c; do
		name=${source##*/}
		mapfile -t arguments < <(workload_link_arguments "${name%.c}")
		"$compiler" -std=gnu11 -O2 -g "${arguments[@]}" -o "$work/${name%.c}" "$source" ||
			die "cannot compile lab/workloads/$name"
	done
	mv "$work" "$WORKLOAD_PROGRAMS"
}
