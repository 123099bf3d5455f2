# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# in_lab SECONDS ARGUMENT…: run lab/run with the ARGUMENTs, for at most SECONDS.
#
# It is rerun, at most three times, only if the emulated machine was lost (a host that died or
# hangs, a guest that crashed), which says nothing about the tested code. lab/run then ends with
# status 123, and its last line gives the reason. Any other status is passed to the test, including
# that of a command that exceeded its limit. Each rerun prints a line "again: REASON", which
# tests/run repeats at its end. The files of lost attempts are kept in $OUT.lost-1, $OUT.lost-2…
#
# Leaks are looked for if LEAKS is 1: in emulation the search takes longer than most commands. One
# host of a test that runs many commands is enough.
LAB_LOST=123

in_lab() {
	local attempt status reason errors limit=$1
	shift
	local sanitizers=${ASAN_OPTIONS-}:detect_leaks=${LEAKS:-0}
	errors=$(mktemp)
	rm -rf "$OUT" "$OUT".lost-*
	for attempt in 1 2 3 4; do
		{
			ASAN_OPTIONS=$sanitizers lab/run --limit "$limit" "$@" 2>&1 >&3 3>&- |
				tee "$errors" >&2
			status=${PIPESTATUS[0]}
		} 3>&1
		[ $status = $LAB_LOST ] && [ $attempt != 4 ] || break
		reason=$(tail -n 1 "$errors")
		echo "again: ${reason#lab: lost: }"
		[ ! -e "$OUT" ] || mv "$OUT" "$OUT.lost-$attempt"
	done
	rm -f "$errors"
	return $status
}

# Options for lab/run: the scripts for recordings in the host, and a perfvisor without sanitizers to
# read them.
# shellcheck disable=SC2034
records=(--add tests/lab/host/waits.sh --add tests/lab/host/record_known.sh
	--add build/release/perfvisor:/usr/local/bin/perfvisor-release)
