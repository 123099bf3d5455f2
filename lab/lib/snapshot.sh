# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# Snapshots of booted hosts with their guests. Continuing from one takes a second, booting half a
# minute. A snapshot is a state of the emulator. It depends on the emulator and its arguments, and
# on everything that was booted. A run's own files are added later (host/init). The guests in it are
# stopped.
#
# build/cache/snapshots/NAME.KEY.zst: NAME describes the requested host, and KEY changes with its
# inputs. A snapshot with more guests than requested can be used as well: the surplus ones are
# ended.

# COUNT: set SNAPSHOT_NAME and SNAPSHOT_KEY for a host with COUNT guests
snapshot_identify() {
	local count=$1 number kind files
	session_machine_args
	# The names of cached images change with their contents.
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

# Set SNAPSHOT to the snapshot to continue from; make it if there is none. Set it to nothing if
# there cannot be one.
snapshot_get() {
	local count
	SNAPSHOT=
	IN_BLOCKS=$((($(stat -c %s "$LAB_RUN/in.img") + 65535) / 65536))
	[ "$OPT_GUESTS" = 0 ] || guest_waits || return 0
	# A host without guests must be one whose KVM never had a guest.
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

# Make $SNAPSHOT. Concurrent runs take turns.
snapshot_make() {
	local file=$SNAPSHOT mode=$LAB_MODE
	mkdir -p "${file%/*}"
	exec 9>"${file%/*}/lock"
	flock 9
	if [ ! -e "$file" ]; then
		SNAPSHOT=
		LAB_MODE=run # a shell's terminal is not needed yet
		host_make_initrd "$OPT_GUESTS" "$LAB_RUN/initrd"
		session_boot
		snapshot_save
		session_drain
		LAB_MODE=$mode
		[ -n "$SAVED" ] || {
			msg "the booted host cannot be saved: each run will boot"
			exec 9>&-
			return 1
		}
		find "${file%/*}" -name '*.zst' \( -name "$SNAPSHOT_NAME.*" -o -mtime +3 \) -delete
		mv "$LAB_RUN/state" "$file"
		SNAPSHOT=$file
	fi
	exec 9>&-
}

# End the host. Set SAVED if its state is in $LAB_RUN/state.
snapshot_save() {
	local line
	SAVED=
	exec 6<>"$LAB_RUN/monitor.out"
	printf '{"execute":"%s"%s}\n' qmp_capabilities '' \
		migrate-set-parameters ',"arguments":{"max-bandwidth":100000000000}' \
		migrate-set-capabilities \
			',"arguments":{"capabilities":[{"capability":"events","state":true}]}' \
		migrate ',"arguments":{"uri":"exec:zstd -q -1 -T2 >state"}' >"$LAB_RUN/monitor.in"
	while IFS= read -r -t 120 -u 6 line; do
		case $line in
		*'"MIGRATION"'*'"completed"'*) SAVED=yes; break ;;
		*'"MIGRATION"'*'"failed"'* | *'"error"'*) break ;;
		esac
	done
	# zstd is QEMU's child; when QEMU reports completion, zstd has written all of the state.
	echo '{"execute":"quit"}' >"$LAB_RUN/monitor.in"
	timeout 60 tail --pid="$QEMU_PID" -f /dev/null
	exec 6<&-
	session_stop_host
	[ -z "$SAVED" ] || zstd -qt "$LAB_RUN/state" || SAVED=
}

# Delete the snapshot that this run continues from, because it may be the cause of a failure.
snapshot_forget() {
	[ -z "$SNAPSHOT" ] || rm -f "$SNAPSHOT"
	SNAPSHOT=
}
