# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# in_lab SECONDS ARGUMENT…: lab/run with the ARGUMENTs, for SECONDS at most.
#
# It is run again, three times at most, only where the emulated machine itself is seen to be gone (a host that
# died or hangs, a guest that crashed): lab/run ends with 123 then, and its last line says why. That says
# nothing about what is tested. Any other status is what the test gets: a command past its limit, too. Each
# repetition is told in a line "again: REASON", which tests/run shows at its end, and what the lost attempts
# left is kept: $OUT.lost-1, $OUT.lost-2…
LAB_LOST=123

in_lab() {
	local attempt status reason errors limit=$1
	shift
	errors=$(mktemp)
	rm -rf "$OUT" "$OUT".lost-*
	for attempt in 1 2 3 4; do
		{
			lab/run --limit "$limit" "$@" 2>&1 >&3 3>&- | tee "$errors" >&2
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

# For lab/run: what scripts in the host make recordings with, and a perfvisor without sanitizers to look at them.
# shellcheck disable=SC2034
records=(--add tests/lab/host/waits.sh --add tests/lab/host/record_known.sh
	--add build/release/perfvisor:/usr/local/bin/perfvisor-release)
