# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# In the lab's host. record_known OPTION…: perfvisor record, again, up to five times, where the guest's
# kernel was not known before sampling began: a busy host takes longer for that than it waits, and what
# was sampled before has neither process nor call chain. As often as is asked for: samples are dear under
# emulation.
record_known() {
	local said=/tmp/record_known.err
	for _ in 1 2 3 4 5; do
		perfvisor record -v --max-overhead 100 "$@" 2>$said || { cat $said; return 1; }
		awk '/ runs Linux / { known = 1 } /^perfvisor: recording / { exit !known }' $said && break
		echo "the guest's kernel was not known in time"
	done
	tail -n 1 $said
}
