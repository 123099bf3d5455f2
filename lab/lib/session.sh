# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# One run: its folder, the host's QEMU, what the host tells, and the end of it all.
#
# $LAB_RUN is a folder of this run alone. The host's ports are FIFOs there: tee relays
# COMMAND's output as it comes, the control lines are read here. The host boots, or goes on from a
# snapshot (snapshot.sh), which has it where it waits for what belongs to this run.

session_begin() {
	mkdir -p "$LAB_ROOT/build/lab"
	LAB_RUN=$(mktemp -d "$LAB_ROOT/build/lab/run.XXXXXX") || die "cannot make a folder in build/lab"
	JOB=
	QEMU_PID=
	RELAYS=
	TTY_STATE=
	trap session_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
}

# Whatever happens: nothing that was started stays.
session_end() {
	local status=$?
	trap '' INT TERM HUP
	if [ -n "$JOB" ]; then
		disown "$JOB"
		kill -KILL -- "-$JOB"
	fi
	session_stop_host
	if [ "$status" -gt 128 ]; then
		# shellcheck disable=SC2086 # a list of pids
		[ -z "$RELAYS" ] || kill $RELAYS 2>/dev/null
	fi
	session_drain
	[ -z "$TTY_STATE" ] || stty "$TTY_STATE"
	rm -rf "$LAB_RUN"
}

session_stop_host() {
	if [ -n "$QEMU_PID" ]; then
		kill -KILL "$QEMU_PID" 2>/dev/null
		wait "$QEMU_PID" 2>/dev/null
		QEMU_PID=
	fi
}

# Wait until all output has passed. The relays end with QEMU; one that still waits for a
# QEMU that never came is released by opening its FIFO.
session_drain() {
	if [ -n "$RELAYS" ]; then
		: 1<>"$LAB_RUN/stdout" 1<>"$LAB_RUN/stderr"
		# shellcheck disable=SC2086 # a list of pids
		wait $RELAYS 2>/dev/null
		RELAYS=
	fi
}

# Set QEMU_ARGS. What a snapshot goes on with has to be as it was when that was made; but for the ends of ports,
# and files that are read while it boots, by names in $LAB_RUN.
session_host_args() {
	local console=socket,id=console,path=console.sock,server=on,wait=off
	[ "$LAB_MODE" = run ] || console=stdio,id=console,signal=off
	session_machine_args
	QEMU_ARGS=("${EMULATOR[@]}" "${MACHINE_ARGS[@]}" -serial file:console.log -chardev "$console"
		-chardev pipe,id=control,path=control
		-chardev file,id=stdout,path=stdout -chardev file,id=stderr,path=stderr
		-chardev pipe,id=monitor,path=monitor -mon chardev=monitor,mode=control)
}

# Set MACHINE_ARGS: those that make the state of a host. The first of its CPUs is for the kernel alone
# (lab/host/init, leave_first_cpu).
session_machine_args() {
	local port
	arch_host_args
	MACHINE_ARGS=(-name perfvisor-lab "${ARCH_ARGS[@]}" -smp 3 -m "$LAB_HOST_MEM"
		-nodefaults -no-user-config -display none -no-reboot
		-device virtio-serial-pci -device virtconsole,chardev=console
		-drive "file=out.img,format=raw,if=virtio" -drive "file=in.img,format=raw,if=virtio"
		-kernel "$HOST_KERNEL_FILE" -initrd initrd -append "$(arch_host_cmdline)")
	for port in control stdout stderr; do
		MACHINE_ARGS+=(-device "virtserialport,chardev=$port,name=lab.$port")
	done
}

# OPTION…: the host's QEMU, with these OPTIONs as well
session_start_host() {
	local port console_output=qemu.log
	session_host_args
	# The kernel kills QEMU if this shell dies without its trap. A host to be kept outlives it.
	if [ "$OPT_KEEP" = yes ]; then
		QEMU_ARGS=(setsid "${QEMU_ARGS[@]}")
	else
		QEMU_ARGS=(setpriv --pdeathsig KILL "${QEMU_ARGS[@]}")
	fi
	cd "$LAB_RUN" || die "no $LAB_RUN"
	for port in control.in control.out stdout stderr monitor.in monitor.out; do
		rm -f "$port"
		mkfifo "$port"
	done
	rm -f out.img console.log
	truncate -s 4G out.img
	truncate -s 4G in.img
	if [ "$LAB_MODE" = shell ]; then
		TTY_STATE=$(stty -g)
		console_output=/dev/stdout
	fi
	# tee -p goes on reading when nobody reads what it writes; else the host would hang.
	tee -p /dev/null <stdout &
	RELAYS=$!
	tee -p /dev/null <stderr >&2 &
	RELAYS+=" $!"
	# Open in both directions: neither this nor QEMU's opening ever waits.
	exec 6<&0 7<>control.out 8<>control.in
	"${QEMU_ARGS[@]}" "$@" <&6 >>"$console_output" 2>>qemu.log 6<&- 7<&- 8<&- &
	QEMU_PID=$!
	exec 6<&-
	cd "$LAB_CWD" || die "no $LAB_CWD"
	STARTED=$SECONDS
}

# Show what the host died of, and the end of what it and its QEMU said.
session_show_host() {
	[ ! -e "$LAB_RUN/qemu.log" ] || tail -n 5 "$LAB_RUN/qemu.log" | sed 's/^/lab: qemu| /' >&2
	grep -saE 'BUG:|Oops|protection fault|RIP: 0010|Kernel panic' "$LAB_RUN/console.log" | tr -d '\r' |
		head -n 5 | sed 's/^/lab: host| /' >&2
	[ ! -e "$LAB_RUN/console.log" ] || tail -c 4000 "$LAB_RUN/console.log" | tr -d '\r' |
		tail -n 15 | sed 's/^/lab: host| /' >&2
}

# WANTED: read the host's control lines until it says so. Fails if the host dies or hangs before
# COMMAND was started, which then may be tried again. LIMIT: when a host that says nothing hangs;
# 0: never. ALIVE: when it said that all of its CPUs live, or that COMMAND runs; 0: neither yet. An emulated
# CPU that is lost is so for good (workloads/leave_guest.h).
session_follow() {
	local wanted=$1 line begun=
	ALIVE=0
	LIMIT=$((SECONDS + (LAB_READY_LIMIT < 120 ? LAB_READY_LIMIT : 120)))
	SAID=
	while [ "$SAID" != "$wanted" ]; do
		if IFS= read -r -t 1 -u 7 line; then
			session_heed "$begun$line"
			begun=
			continue
		fi
		begun+=$line # the second may have ended within a line
		if ! kill -0 "$QEMU_PID" 2>/dev/null; then
			session_lost_host "the host died" || return
		elif [ "$LIMIT" -ne 0 ] && [ "$SECONDS" -ge "$LIMIT" ]; then
			session_lost_host "the host hangs" || return
		elif [ "$ALIVE" -ne 0 ] && [ "$LAB_MODE" = run ] && [ $((SECONDS - ALIVE)) -ge "$LAB_SILENCE_LIMIT" ]; then
			session_lost_host "a CPU of the host hangs" || return
		elif [ -n "$PHASE" ]; then
			msg_tick "$PHASE: $((SECONDS - STARTED)) s"
		fi
	done
}

# WHY: the end of it if COMMAND was started, else failure
session_lost_host() {
	msg_tick_clear
	session_show_host
	[ -n "$PHASE" ] || session_lose "$1 before COMMAND ended; above: the end of its console"
	msg "$1 ($PHASE, $((SECONDS - STARTED)) s); above: the end of its console"
	return 1
}

# WHY: the emulation has failed; another run may do better, from another snapshot
session_lose() {
	snapshot_forget
	msg "lost: $1"
	exit 123
}

# LINE: one control line
session_heed() {
	SAID=${1%% *}
	if [ "$SAID" = alive ]; then
		ALIVE=$SECONDS
		return
	fi
	msg_tick_clear
	case $1 in
	up)
		msg "host up after $((SECONDS - STARTED)) s (Linux $(<"$HOST_KERNEL_DIR/release"))"
		# The host itself keeps the limit for its guests; this is for a host that hangs.
		LIMIT=$((SECONDS + LAB_READY_LIMIT + 30))
		PHASE="waiting for the guests"
		;;
	ready*) msg "${1#ready } runs its workload after $((SECONDS - STARTED)) s" ;;
	running)
		PHASE=
		ALIVE=$SECONDS # from now on it has to say so itself
		# The host itself keeps the limit; $OUT takes its time.
		LIMIT=$((OPT_LIMIT ? SECONDS + OPT_LIMIT + 60 : 0))
		;;
	out) session_take_out ;;
	exit*) STATUS=${1#exit } ;;
	lost*) session_lose "${1#lost }" ;;
	fail) exit 125 ;;
	esac
}

# Boot a host until it waits for what belongs to a run. An older QEMU's emulation may kill it (emulator.sh),
# mostly while a guest boots, when KVM switches its static keys. That is mended by another boot.
session_boot() {
	local tries=3
	PHASE="booting the host"
	session_start_host
	until session_follow waiting; do
		tries=$((tries - 1))
		if [ "$tries" -eq 0 ] || [ ! -s "$LAB_RUN/console.log" ]; then
			die "the host does not boot"
		fi
		msg "booting it again"
		PHASE="booting the host"
		session_stop_host
		session_drain
		session_start_host
	done
}

# From a host that waits until COMMAND has ended.
session_run() {
	local tries=3
	STATUS=
	session_wake
	until session_follow exit; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die "the host does not get to COMMAND"
		msg "trying it again"
		snapshot_forget
		session_stop_host
		session_drain
		session_wake
	done
}

# A host that waits, from a snapshot or booted, is told to go on.
session_wake() {
	if [ -n "$SNAPSHOT" ]; then
		PHASE="waiting for the guests"
		echo none >"$LAB_RUN/initrd" # QEMU wants one, though the host has long read it
		session_start_host -incoming "exec:zstd -qdc '$SNAPSHOT'"
	elif [ -z "$QEMU_PID" ]; then
		host_make_initrd "$OPT_GUESTS" "$LAB_RUN/initrd"
		session_boot
	fi
	echo "go $IN_BLOCKS" >&8
}

# Unpack what COMMAND left in $OUT.
session_take_out() {
	if ! mkdir -p "$LAB_OUT" || ! tar --no-same-owner -xf "$LAB_RUN/out.img" -C "$LAB_OUT"; then
		msg "not all of \$OUT came back to $LAB_OUT"
	fi
}

# Leave the host alone, and say how to find it.
session_keep() {
	# shellcheck disable=SC2086 # a list of pids
	kill $RELAYS
	trap - EXIT
	msg "the host stays. Connect (leave with Ctrl-]):"
	msg "  socat -,rawer,escape=0x1d unix-connect:$LAB_RUN/console.sock"
	msg "end it: kill $QEMU_PID; rm -r $LAB_RUN"
}

# COMMAND has ended.
session_finish() {
	if [ "$OPT_KEEP" = yes ]; then
		session_keep
	fi
	exit "$STATUS"
}
