# SPDX-License-Identifier: GPL-2.0-or-later
# What tests of the command line have in common. They source it from the root of the tree, and are
# then in a folder of their own, which is removed at the end; nothing of the user's is read.
#
#	$perfvisor	the program that is tested
#	$tests		this folder
#	$here		the test's folder
#	$status		what the test exits with: 0 until there is a complaint
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tests=$(realpath tests/cli)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here XDG_CACHE_HOME=$here/cache
status=0

complain() {
	echo "$*"
	status=1
}

# Makes a recording with stock perf; the test is skipped where perf cannot.
perf_record() { # ARGUMENTS…
	perf record -q "$@" >/dev/null 2>record.err ||
		{ echo "perf cannot record here: $(tail -n 1 record.err)"; exit 77; }
}

# script prints what stock perf prints, which is at least MINIMUM lines.
compare_script() { # WHAT MINIMUM FILE ARGUMENTS…
	perf script -i "$3" "${@:4}" >perf.txt 2>perf.err
	"$perfvisor" script -i "$3" "${@:4}" >ours.txt 2>ours.err ||
		complain "$1 ${*:4}: $(cat ours.err)"
	sed -E -i -f "$tests/unnamed_plt.sed" ours.txt
	[ "$(wc -l <perf.txt)" -ge "$2" ] ||
		complain "$1 ${*:4}: perf prints $(head -n 3 perf.txt perf.err)"
	cmp -s perf.txt ours.txt || complain "$1 ${*:4}: $(diff perf.txt ours.txt | head -n 6)"
}
