# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Parses the options of lab/run and lab/shell into OPT_* variables.

options_help() {
	cat <<-EOF
		usage: lab/run [OPTION]… -- COMMAND [ARG]…
		       lab/shell [OPTION]…

		Boots a KVM host (a stock Debian kernel in QEMU's emulation) with guests in it,
		waits until the guests' workloads run, and runs COMMAND (lab/shell: a shell) as root
		in the host. perfvisor and perf are on its PATH, and what it writes to \$OUT is
		copied back. The booted host is saved in build/cache/snapshots; the next run that
		needs such a host starts from there.

		  --arch ARCH             architecture of host and guests (x86_64)
		  --host-kernel K         the host's kernel: $KERNEL_SERIES (6.1)
		  --guests N              number of guests, named guest1, guest2, … (1)
		  --no-guest              no guests
		  --guest-cpus N          vCPUs of each guest (2)
		  --guest-mem MB          memory of each guest (512)
		  --guest-kernel K|FILE   a series, or your own kernel image (6.1); K-full is the
		                          series with the drivers of real machines
		  --guest-initrd CPIO     your own initrd; it must print "lab: workload runs" on the
		                          console when it is ready
		  --guest-cmdline "…"     append to the guests' kernel command line
		  --guest-workload W      $(workload_names), or a shell script; W,W,… has one for
		                          each guest (mixed)
		  --guest-add FILE[:DEST] copy a file or folder into the guests (DEST: /root/NAME)
		  --guest-module DIR      load a kernel module when a guest starts; DIR has the
		                          Kbuild and the sources of a module of the same name
		  --no-kaslr              guests without KASLR
		  --no-la57               guests with four-level page tables
		  --add FILE[:DEST]       copy a file or folder into the host (DEST: /root/NAME)
		  --limit SECONDS         end COMMAND after this time (no limit)
		  --steady                fail if a guest crashes, instead of rebooting it
		  --keep                  leave the host running after COMMAND
		  --help

		environment:
		  OUT               folder for what COMMAND leaves in \$OUT (build/lab/out)
		  PERFVISOR         the perfvisor to run (build/release/perfvisor)
		  LAB_READY_LIMIT   seconds for the guests to get ready (300)
		  LAB_SILENCE_LIMIT seconds after which a silent host or guest counts as lost (60)
		  LAB_HOST_MEM      the host's memory in MB (3072, more for large guests)

		exit status: COMMAND's; 99 if a sanitizer reported an error in the host; 123 if the
		emulated host, or with --steady a guest, was lost while COMMAND ran, so that its
		result means nothing; 124 if COMMAND exceeded its limit; 125 if the lab could not be
		set up; 2 for wrong usage.

		examples:
		  lab/run -- perfvisor list
		  lab/run --guest-kernel 6.12 --guest-workload kernel -- \\
		      perf kvm --guest record -e cpu-clock -o /out/perf.data -a sleep 5
		  lab/run --guests 2 --guest-workload user7525,idle -- \\
		      sh -c 'cat /run/lab/guest1/version'
		  OUT=/tmp/x lab/run -- \\
		      sh -c 'perfvisor record --duration 5 -o \$OUT/perf.data.guest'
		  lab/shell --host-kernel sid

		lab/README.md describes what COMMAND finds in the host.
	EOF
}

# NAME VALUE LEAST: check that an option's value is a number
options_number() {
	if ! [[ $2 =~ ^[0-9]{1,7}$ ]] || [ "$2" -lt "$3" ]; then
		usage_error "$1 needs a number of at least $3, not '$2'"
	fi
}

options_set_defaults() {
	OPT_ARCH=x86_64
	OPT_HOST_KERNEL=6.1
	OPT_GUESTS=1
	OPT_GUEST_CPUS=2
	OPT_GUEST_MEM=512
	OPT_GUEST_KERNEL=6.1
	OPT_GUEST_INITRD=
	OPT_GUEST_CMDLINE=
	OPT_GUEST_WORKLOAD=mixed
	OPT_KASLR=yes
	OPT_LA57=yes
	OPT_LIMIT=0
	OPT_STEADY=no
	OPT_KEEP=no
	OPT_ADD=()
	OPT_GUEST_ADD=()
	OPT_GUEST_MODULE=()
	COMMAND=()
}

options_parse() {
	options_set_defaults
	while [ $# -gt 0 ]; do
		case $1 in
		--help | -h) options_help; exit 0 ;;
		--no-guest) OPT_GUESTS=0 ;;
		--no-kaslr) OPT_KASLR=no ;;
		--no-la57) OPT_LA57=no ;;
		--steady) OPT_STEADY=yes ;;
		--keep) OPT_KEEP=yes ;;
		--) shift; COMMAND=("$@"); break ;;
		--*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
		--*)
			[ $# -ge 2 ] || usage_error "$1 is unknown or has no value"
			options_take "$1" "$2"
			shift
			;;
		*) usage_error "COMMAND must follow --, not '$1'" ;;
		esac
		shift
	done
	options_check
}

options_take() {
	case $1 in
	--arch) OPT_ARCH=$2 ;;
	--host-kernel) OPT_HOST_KERNEL=$2 ;;
	--guests) OPT_GUESTS=$2 ;;
	--guest-cpus) OPT_GUEST_CPUS=$2 ;;
	--guest-mem) OPT_GUEST_MEM=$2 ;;
	--guest-kernel) OPT_GUEST_KERNEL=$2 ;;
	--guest-initrd) OPT_GUEST_INITRD=$2 ;;
	--guest-cmdline) OPT_GUEST_CMDLINE=$2 ;;
	--guest-workload) OPT_GUEST_WORKLOAD=$2 ;;
	--add) OPT_ADD+=("$2") ;;
	--guest-add) OPT_GUEST_ADD+=("$2") ;;
	--guest-module) OPT_GUEST_MODULE+=("${2%/}") ;;
	--limit) OPT_LIMIT=$2 ;;
	*) usage_error "unknown option $1" ;;
	esac
}

options_check() {
	options_number --guests "$OPT_GUESTS" 0
	options_number --guest-cpus "$OPT_GUEST_CPUS" 1
	options_number --guest-mem "$OPT_GUEST_MEM" 64
	options_number --limit "$OPT_LIMIT" 0
	if [ ! -r "$LAB_ROOT/lab/arch/$OPT_ARCH.sh" ]; then
		usage_error "unknown architecture '$OPT_ARCH'; known ones:$(options_arches)"
	fi
	kernel_suite "$OPT_HOST_KERNEL" >/dev/null ||
		usage_error "unknown kernel series '$OPT_HOST_KERNEL'; known ones: $KERNEL_SERIES"
	kernel_suite "$OPT_GUEST_KERNEL" >/dev/null || [ -r "$OPT_GUEST_KERNEL" ] ||
		usage_error "'$OPT_GUEST_KERNEL' is neither a kernel series ($KERNEL_SERIES)" \
			"nor a readable file"
	[ -z "$OPT_GUEST_INITRD" ] || [ -r "$OPT_GUEST_INITRD" ] ||
		usage_error "cannot read the initrd $OPT_GUEST_INITRD"
	local add module
	for add in "${OPT_ADD[@]}" "${OPT_GUEST_ADD[@]}"; do
		[ -e "${add%%:*}" ] || usage_error "cannot add ${add%%:*}: no such file"
	done
	for module in "${OPT_GUEST_MODULE[@]}"; do
		[ -r "$module/Kbuild" ] || usage_error "--guest-module: there is no $module/Kbuild"
	done
	workload_check
	if [ "$LAB_MODE" = run ] && [ "${#COMMAND[@]}" -eq 0 ]; then
		usage_error "COMMAND is missing (for a shell, use lab/shell)"
	fi
}

options_arches() {
	local file
	for file in "$LAB_ROOT"/lab/arch/*.sh; do
		file=${file##*/}
		printf ' %s' "${file%.sh}"
	done
}
