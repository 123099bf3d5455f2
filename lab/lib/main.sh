# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# lab/run and lab/shell (LAB_MODE is run or shell): parse options, prepare everything under the
# cache's lock, get a booted host, run one session.

LAB_CWD=$PWD
LAB_CACHE=$LAB_ROOT/build/cache
LAB_OUT=${OUT:-$LAB_ROOT/build/lab/out}
LAB_READY_LIMIT=${LAB_READY_LIMIT:-300}
LAB_SILENCE_LIMIT=${LAB_SILENCE_LIMIT:-60}
PATH=$PATH:/usr/sbin:/sbin

for part in msg options need archive emulator kernel image module workload guest host session \
	snapshot; do
	# shellcheck source=/dev/null
	. "$LAB_ROOT/lab/lib/$part.sh"
done

# Concurrent runs take turns here.
main_prepare() {
	mkdir -p "$LAB_CACHE" || die "cannot make $LAB_CACHE"
	exec 9>"$LAB_CACHE/lock"
	flock -n 9 || { msg "waiting for another run to finish its preparations"; flock 9; }
	emulator_prepare
	workload_prepare
	host_prepare
	if [ "$OPT_GUESTS" -gt 0 ]; then
		guest_prepare
	fi
	host_make_delivery "$LAB_RUN/in.img"
	exec 9>&-
}

# 3 GB are enough for 300 tinyvms. Guests in QEMU need their memory plus 128 MB each.
main_set_memory() {
	local least=$((1024 + OPT_GUESTS * (OPT_GUEST_MEM + 128)))
	[ "$least" -ge 3072 ] || least=3072
	LAB_HOST_MEM=${LAB_HOST_MEM:-$least}
}

# The shell's terminal in the host gets the size of the user's terminal.
main_set_terminal() {
	local rows cols
	LAB_STTY=sane
	if [ "$LAB_MODE" = shell ]; then
		[ -t 0 ] || die "lab/shell needs a terminal; scripts can use lab/run"
		read -r rows cols < <(stty size)
		LAB_STTY="sane rows $rows cols $cols"
	fi
}

main() {
	options_parse "$@"
	# shellcheck source=lab/arch/x86_64.sh
	. "$LAB_ROOT/lab/arch/$OPT_ARCH.sh"
	need_check
	main_set_memory
	main_set_terminal
	session_begin
	main_prepare
	snapshot_get
	session_run
	session_finish
}
