# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# in_lab SECONDS ARGUMENT…: lab/run with the ARGUMENTs, up to four times where the emulation fails:
# a host that dies or hangs, a guest that crashes, a command that takes longer than SECONDS (one
# of the host's CPUs may hang). That says nothing about what is tested, and each is told: tests/run
# counts the lines that begin with "again:". $OUT is made anew each time.
in_lab() {
	local attempt status limit=$1
	shift
	for attempt in 1 2 3 4; do
		rm -rf "$OUT"
		lab/run --limit "$limit" "$@"
		status=$?
		[ $status = 124 ] || [ $status = 125 ] || return $status
		[ $attempt = 4 ] || echo "again: lab/run ended with $status"
	done
	return $status
}

# For lab/run: what scripts in the host make recordings with, and a perfvisor without sanitizers to look at them.
# shellcheck disable=SC2034
records=(--add tests/lab/waits.sh --add tests/lab/record_known.sh
	--add build/release/perfvisor:/usr/local/bin/perfvisor-release)
