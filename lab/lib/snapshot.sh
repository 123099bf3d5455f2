# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Hosts that have booted, with their guests, kept as states of the emulator: to go on from one takes a
# second, to boot one half a minute. A state belongs to one emulator and its arguments, and to all that
# was booted; what belongs to a run comes in afterwards (host/init). Guests are stopped in it.
#
# build/cache/snapshots/NAME.KEY.zst: NAME says what was asked for, KEY changes with what it is made of.
# More guests than a run asks for do no harm: those beyond are ended.

# COUNT: set SNAPSHOT_NAME and SNAPSHOT_KEY for a host with that many guests
snapshot_identify() {
	local count=$1 number kind files
	session_machine_args
	# The names of cached images change with what is in them.
	kind=("${MACHINE_ARGS[@]}" "${HOST_BASE_INITRD##*/}")
	files=("$(command -v "${EMULATOR[0]}")" "$LAB_ROOT/lab/host/init" "$HOST_KERNEL_FILE")
	SNAPSHOT_NAME=$OPT_ARCH-$OPT_HOST_KERNEL
	if [ "$count" -gt 0 ]; then
		SNAPSHOT_NAME+=-$OPT_GUEST_KERNEL-${OPT_GUEST_CPUS}cpu-$count
		kind+=("${GUEST_BASE_INITRD##*/}")
		files+=("$GUEST_KERNEL_FILE")
	fi
	for ((number = 1; number <= count; number++)); do
		guest_set_args "$number"
		kind+=("${GUEST_ARGS[@]}")
	done
	SNAPSHOT_NAME+=-$(printf '%s\0' "${kind[@]}" | sha256sum | cut -c1-8)
	SNAPSHOT_KEY=$(image_key "${files[@]}")
}

# Set SNAPSHOT to the state of a host to go on from, made if it is not there; empty where there cannot be one.
snapshot_get() {
	local count
	SNAPSHOT=
	IN_BLOCKS=$((($(stat -c %s "$LAB_RUN/in.img") + 65535) / 65536))
	[ "$OPT_GUESTS" = 0 ] || guest_waits || return 0
	# Without a guest the host is one whose KVM has had none.
	for ((count = OPT_GUESTS; count <= OPT_GUESTS + (OPT_GUESTS > 0); count++)); do
		snapshot_identify "$count"
		SNAPSHOT=$LAB_CACHE/snapshots/$SNAPSHOT_NAME.$SNAPSHOT_KEY.zst
		if [ -e "$SNAPSHOT" ]; then
			touch "$SNAPSHOT"
			return
		fi
	done
	snapshot_identify "$OPT_GUESTS"
	SNAPSHOT=$LAB_CACHE/snapshots/$SNAPSHOT_NAME.$SNAPSHOT_KEY.zst
	snapshot_make || SNAPSHOT=
}

# Make $SNAPSHOT. Two runs at once take turns.
snapshot_make() {
	local file=$SNAPSHOT mode=$LAB_MODE
	mkdir -p "${file%/*}"
	exec 9>"${file%/*}/lock"
	flock 9
	if [ ! -e "$file" ]; then
		SNAPSHOT=
		LAB_MODE=run # the terminal of a shell is for later
		host_make_initrd "$OPT_GUESTS" "$LAB_RUN/initrd"
		session_boot
		snapshot_save
		session_drain
		LAB_MODE=$mode
		[ -n "$SAVED" ] || { msg "the booted host cannot be saved: each run will boot"; exec 9>&-; return 1; }
		find "${file%/*}" -name '*.zst' \( -name "$SNAPSHOT_NAME.*" -o -mtime +3 \) -delete
		mv "$LAB_RUN/state" "$file"
		SNAPSHOT=$file
	fi
	exec 9>&-
}

# Set SAVED if the state of the host, which ends, is in $LAB_RUN/state.
snapshot_save() {
	local line
	SAVED=
	exec 6<>"$LAB_RUN/monitor.out"
	printf '{"execute":"%s"%s}\n' qmp_capabilities '' \
		migrate-set-parameters ',"arguments":{"max-bandwidth":100000000000}' \
		migrate-set-capabilities ',"arguments":{"capabilities":[{"capability":"events","state":true}]}' \
		migrate ',"arguments":{"uri":"exec:zstd -q -1 -T2 >state"}' >"$LAB_RUN/monitor.in"
	while IFS= read -r -t 120 -u 6 line; do
		case $line in
		*'"MIGRATION"'*'"completed"'*) SAVED=yes; break ;;
		*'"MIGRATION"'*'"failed"'* | *'"error"'*) break ;;
		esac
	done
	# zstd is QEMU's child, and done with the state when QEMU says that it was written.
	echo '{"execute":"quit"}' >"$LAB_RUN/monitor.in"
	timeout 60 tail --pid="$QEMU_PID" -f /dev/null
	exec 6<&-
	session_stop_host
	[ -z "$SAVED" ] || zstd -qt "$LAB_RUN/state" || SAVED=
}

# The state that this run goes on from may be what fails.
snapshot_forget() {
	[ -z "$SNAPSHOT" ] || rm -f "$SNAPSHOT"
	SNAPSHOT=
}
