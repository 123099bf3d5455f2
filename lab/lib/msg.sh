# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the lab says: everything on stderr, one line each, prefixed "lab:", so that
# stdout stays COMMAND's alone. A line that rewrites itself is shown to terminals only.

msg() {
	printf 'lab: %s\n' "$*" >&2
}

# The lab's own failures end with 125, so that they differ from COMMAND's.
die() {
	msg "$*"
	exit 125
}

usage_error() {
	msg "$*"
	msg "try: $LAB_NAME --help"
	exit 2
}

# A rewriting line for terminals; nothing elsewhere.
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

# LOG TEXT COMMAND…: run what may take a while. Its output goes to LOG, the end of which is
# shown if it fails. It runs in a process group of its own, whose id is in JOB while it runs,
# so that a signal ends all of it (session_end).
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
