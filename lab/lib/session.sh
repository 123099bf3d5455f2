# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# One run: its folder, the host's QEMU, the host's reports, and the cleanup.
#
# $LAB_RUN is a folder for this run only. The host's ports are FIFOs in it: tee relays COMMAND's
# output as it comes, and the control lines are read here. The host boots or continues from a
# snapshot (snapshot.sh), in which it waits for this run's files.

session_begin() {
	mkdir -p "$LAB_ROOT/build/lab"
	LAB_RUN=$(mktemp -d "$LAB_ROOT/build/lab/run.XXXXXX") ||
		die "cannot make a folder in build/lab"
	JOB=
	QEMU_PID=
	RELAYS=
	TTY_STATE=
	trap session_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
}

# However the run ends, nothing that was started is left running.
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

# Wait until all output was relayed. The relays end with QEMU; one that still waits for a QEMU that
# never started is released by opening its FIFO.
session_drain() {
	if [ -n "$RELAYS" ]; then
		: 1<>"$LAB_RUN/stdout" 1<>"$LAB_RUN/stderr"
		# shellcheck disable=SC2086 # a list of pids
		wait $RELAYS 2>/dev/null
		RELAYS=
	fi
}

# Set QEMU_ARGS. A host that continues from a snapshot needs the same arguments as when the snapshot
# was made, except for the ends of ports and for files that are read during the boot, which are
# named relative to $LAB_RUN.
session_host_args() {
	local console=socket,id=console,path=console.sock,server=on,wait=off
	[ "$LAB_MODE" = run ] || console=stdio,id=console,signal=off
	session_machine_args
	QEMU_ARGS=("${EMULATOR[@]}" "${MACHINE_ARGS[@]}"
		-serial file:console.log -chardev "$console"
		-chardev pipe,id=control,path=control
		-chardev file,id=stdout,path=stdout -chardev file,id=stderr,path=stderr
		-chardev pipe,id=monitor,path=monitor -mon chardev=monitor,mode=control)
}

# Set MACHINE_ARGS: the arguments on which the state of a host depends. The host's first CPU is only
# for the kernel (lab/host/init, leave_first_cpu).
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

# OPTION…: start the host's QEMU with these additional OPTIONs
session_start_host() {
	local port console_output=qemu.log
	session_host_args
	# If this shell dies without running its trap, the kernel kills QEMU. A host with --keep
	# survives.
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
	# tee -p keeps reading even if nobody reads its output; otherwise the host would hang.
	tee -p /dev/null <stdout &
	RELAYS=$!
	tee -p /dev/null <stderr >&2 &
	RELAYS+=" $!"
	# FIFOs opened in both directions never block, neither here nor in QEMU.
	exec 6<&0 7<>control.out 8<>control.in
	"${QEMU_ARGS[@]}" "$@" <&6 >>"$console_output" 2>>qemu.log 6<&- 7<&- 8<&- &
	QEMU_PID=$!
	exec 6<&-
	cd "$LAB_CWD" || die "no $LAB_CWD"
	STARTED=$SECONDS
}

# Show why the host died, and the last output of the host and its QEMU.
session_show_host() {
	[ ! -e "$LAB_RUN/qemu.log" ] || tail -n 5 "$LAB_RUN/qemu.log" | sed 's/^/lab: qemu| /' >&2
	grep -saE 'BUG:|Oops|protection fault|RIP: 0010|Kernel panic' "$LAB_RUN/console.log" |
		tr -d '\r' | head -n 5 | sed 's/^/lab: host| /' >&2
	[ ! -e "$LAB_RUN/console.log" ] || tail -c 4000 "$LAB_RUN/console.log" | tr -d '\r' |
		tail -n 15 | sed 's/^/lab: host| /' >&2
}

# WANTED: read the host's control lines until there is a line WANTED. Fails if the host dies or
# hangs before COMMAND was started; the caller may then try again. LIMIT: the time at which a silent
# host counts as hanging; 0: never. ALIVE: the time at which it last reported that all of its CPUs
# are alive, or that COMMAND runs; 0: neither yet. A lost emulated CPU never recovers
# (workloads/leave_guest.h).
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
		begun+=$line # read may time out within a line
		if ! kill -0 "$QEMU_PID" 2>/dev/null; then
			session_lost_host "the host died" || return
		elif [ "$LIMIT" -ne 0 ] && [ "$SECONDS" -ge "$LIMIT" ]; then
			session_lost_host "the host hangs" || return
		elif [ "$ALIVE" -ne 0 ] && [ "$LAB_MODE" = run ] &&
			[ $((SECONDS - ALIVE)) -ge "$LAB_SILENCE_LIMIT" ]; then
			session_lost_host "a CPU of the host hangs" || return
		elif [ -n "$PHASE" ]; then
			msg_tick "$PHASE: $((SECONDS - STARTED)) s"
		fi
	done
}

# WHY: end the run if COMMAND was started, otherwise fail
session_lost_host() {
	msg_tick_clear
	session_show_host
	[ -n "$PHASE" ] || session_lose "$1 before COMMAND ended; above: the end of its console"
	msg "$1 ($PHASE, $((SECONDS - STARTED)) s); above: the end of its console"
	return 1
}

# WHY: the emulation has failed; another run, from another snapshot, may succeed
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
		# The host enforces the limit for its guests; this one is for a host that hangs.
		LIMIT=$((SECONDS + LAB_READY_LIMIT + 30))
		PHASE="waiting for the guests"
		;;
	ready*) msg "${1#ready } runs its workload after $((SECONDS - STARTED)) s" ;;
	running)
		PHASE=
		ALIVE=$SECONDS # from now on the host has to report it
		# The host enforces COMMAND's limit; copying $OUT takes more time.
		LIMIT=$((OPT_LIMIT ? SECONDS + OPT_LIMIT + 60 : 0))
		;;
	out) session_take_out ;;
	exit*) STATUS=${1#exit } ;;
	lost*) session_lose "${1#lost }" ;;
	fail) exit 125 ;;
	esac
}

# Boot a host until it waits for a run's files. An older QEMU's emulation may kill the host
# (emulator.sh), mostly while a guest boots and KVM switches its static keys. Then boot it again.
session_boot() {
	local tries=3
	PHASE="booting the host"
	session_start_host
	until session_follow waiting; do
		tries=$((tries - 1))
		if [ "$tries" -eq 0 ] || [ ! -s "$LAB_RUN/console.log" ]; then
			die "the host does not boot"
		fi
		msg "booting again"
		PHASE="booting the host"
		session_stop_host
		session_drain
		session_start_host
	done
}

# Wake a waiting host, and follow it until COMMAND has ended.
session_run() {
	local tries=3
	STATUS=
	session_wake
	until session_follow exit; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die "the host does not start COMMAND"
		msg "trying again"
		snapshot_forget
		session_stop_host
		session_drain
		session_wake
	done
}

# Get a waiting host, from a snapshot or by booting it, and tell it to continue.
session_wake() {
	if [ -n "$SNAPSHOT" ]; then
		PHASE="waiting for the guests"
		echo none >"$LAB_RUN/initrd" # QEMU needs one, although the host has already read it
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
		msg "could not copy all of \$OUT to $LAB_OUT"
	fi
}

# Leave the host running, and print how to connect to it.
session_keep() {
	# shellcheck disable=SC2086 # a list of pids
	kill $RELAYS
	trap - EXIT
	msg "the host keeps running. To connect (Ctrl-] disconnects):"
	msg "  socat -,rawer,escape=0x1d unix-connect:$LAB_RUN/console.sock"
	msg "To end it: kill $QEMU_PID; rm -r $LAB_RUN"
}

# COMMAND has ended.
session_finish() {
	if [ "$OPT_KEEP" = yes ]; then
		session_keep
	fi
	exit "$STATUS"
}
