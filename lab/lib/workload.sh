# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Workloads: scripts that a guest's init runs, by name (lab/workloads/NAME.sh) or a file of
# the caller's, and the programs that the named ones need.

# The names, for messages
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

# NUMBER: print the workload file of guestNUMBER; the last of a list serves all after it
workload_of_guest() {
	local list
	IFS=, read -ra list <<<"$OPT_GUEST_WORKLOAD"
	if [ "$1" -le "${#list[@]}" ]; then
		workload_file "${list[$1 - 1]}"
	else
		workload_file "${list[-1]}"
	fi
}

# Check what --guest-workload says.
workload_check() {
	local list name
	IFS=, read -ra list <<<"$OPT_GUEST_WORKLOAD"
	[ "${#list[@]}" -gt 0 ] || usage_error "--guest-workload names none"
	for name in "${list[@]}"; do
		workload_file "$name" >/dev/null ||
			usage_error "no workload '$name': $(workload_names), or a readable script"
	done
}

# NAME: how that program is linked (and for which mode), one argument per line. Each has a
# build-id; nm tells the run-time addresses of those that are not position-independent.
workload_link_arguments() {
	case $1 in
	dynamic) printf '%s\n' -fPIE -pie ;;
	user32) printf '%s\n' -ffreestanding -m32 -fno-pie -no-pie -static -nostdlib ;;
	*) printf '%s\n' -static -no-pie ;;
	esac
	echo -Wl,--build-id
}

# Set WORKLOAD_PROGRAMS to a folder with the programs, compiled once for host and guests, so
# that addresses that nm tells in the host are true in the guests. The caller holds the
# cache's lock.
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
