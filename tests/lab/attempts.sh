# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# attempts COMMAND…: up to three times, while it ends with 99, which says that the guest booted anew:
# under emulation it crashes now and then, under stock perf as well, and then is not the guest that
# the truth is of.
attempts() {
	local attempt ended
	for attempt in 1 2 3; do
		"$@"
		ended=$?
		[ $ended = 99 ] || return $ended
		echo "the guest booted anew (attempt $attempt)"
	done
	return $ended
}
