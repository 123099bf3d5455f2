# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Messages of the lab: one line each, on stderr, prefixed with "lab:"; stdout has only COMMAND's
# output. Progress is shown in a line that rewrites itself, only on terminals.

msg() {
	printf 'lab: %s\n' "$*" >&2
}

# The lab's own failures end with status 125, to distinguish them from COMMAND's.
die() {
	msg "$*"
	exit 125
}

usage_error() {
	msg "$*"
	msg "try: $LAB_NAME --help"
	exit 2
}

# Rewrite the progress line on a terminal; do nothing elsewhere.
msg_tick() {
	if [ -t 2 ]; then
		printf '\r\033[Klab: %s' "$*" >&2
	fi
}

msg_tick_clear() {
	if [ -t 2 ]; then
		printf '\r\033[K' >&2
	fi
}

# LOG TEXT COMMAND…: run a COMMAND that may take a while. Its output goes to LOG, whose end is shown
# if it fails. It runs in its own process group, whose id is in JOB, so that a signal ends all of
# its processes (session_end).
msg_while() {
	local log=$1 text=$2 start=$SECONDS status=0
	shift 2
	msg "$text"
	set -m
	"$@" >"$log" 2>&1 </dev/null &
	JOB=$!
	set +m
	while [ -t 2 ] && kill -0 "$JOB" 2>/dev/null; do
		sleep 0.5
		msg_tick "$text: $((SECONDS - start)) s"
	done
	msg_tick_clear
	wait "$JOB" || status=$?
	JOB=
	if [ "$status" -ne 0 ]; then
		tail -n 5 "$log" | sed 's/^/lab:   /' >&2
	fi
	return "$status"
}
