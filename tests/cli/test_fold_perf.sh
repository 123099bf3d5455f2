#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# For recordings that stock perf makes here, `perfvisor fold` prints the same as `perf script` piped
# into stackcollapse-perf.pl, which collapse.py reimplements, and the same as `perfvisor script`
# piped into it. Guests' chains are compared with what write_chains reports to have written.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
write_chains=$(dirname "$perfvisor")/tests/unit/write_chains
tools=$(realpath tests/cli)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export LC_ALL=C
status=0

same() { # WHAT: want and got are equal
	[ -s want ] || { echo "$1: nothing to compare"; status=1; }
	diff want got >differences || {
		echo "$1: $(grep -c '^<' differences) of $(wc -l <want) lines differ:"
		head -n 20 differences
		status=1
	}
}

# Guests: command, frames, period; two VMs have the same chain.
"$write_chains" vm.data >truth || exit 1
python3 "$tools/collapse.py" --escaped --vms <truth >want
"$perfvisor" fold -i vm.data 2>err.txt | sort >got
same 'guests'
[ -s err.txt ] && { echo "guests: $(cat err.txt)"; status=1; }
python3 "$tools/collapse.py" --escaped <truth >want
"$perfvisor" script -i vm.data | python3 "$tools/collapse.py" >got
same 'script of guests'
grep '	db	' truth | python3 "$tools/collapse.py" --escaped >want
"$perfvisor" fold -i vm.data --vm db | sort >got
same 'one VM'

perf record -q -e cpu-clock -g -o try.data true 2>/dev/null || {
	echo 'skipped: recordings of this host, because perf cannot make any here'
	exit $status
}
gcc -O1 -fno-omit-frame-pointer -static -o workload "$tools/chain_workload.c" || exit 1
collapse() {
	python3 "$tools/collapse.py" | grep -v '^addr2line;' # see unnamed_plt.sed
}
compare() { # NAME, ARGUMENTS OF perf record
	perf record -q -o "$@" >/dev/null 2>record.err || { cat record.err; status=1; return; }
	perf script --no-inline -i "$1" 2>/dev/null | collapse >want
	"$perfvisor" fold -i "$1" 2>fold.err | grep -v '^addr2line;' | sort >got
	same "$1"
	"$perfvisor" script -i "$1" | collapse >got
	same "script of $1"
}
compare chains -e cpu-clock -F 5000 -g ./workload
compare system -e cpu-clock -F 3000 -g -a -- sh -c 'ls -laR /usr/share/doc >/dev/null
	perl -e "my %h; \$h{\$_ % 997} += \$_ for 1 .. 200000"; ./workload'
[ "$(wc -l <want)" -gt 100 ] || { echo "system: $(wc -l <want) stacks are too few"; status=1; }
grep -q . fold.err && { echo "fold: $(cat fold.err)"; status=1; }
compare events -e cpu-clock -e task-clock -F 3000 -g ./workload
grep -q "showing only 'cpu-clock'" fold.err || { echo "two events: $(cat fold.err)"; status=1; }
for event in cpu-clock task-clock; do
	want=$(perf script -i events -F event,period -G 2>/dev/null |
		awk -v event="$event:" '$2 == event { n += $1 } END { print n }')
	got=$("$perfvisor" fold -i events -e $event 2>fold.err |
		awk '{ n += $NF } END { print n }')
	[ -n "$want" ] && [ "$got" = "$want" ] ||
		{ echo "-e $event: $got of $want; $(cat fold.err)"; status=1; }
	[ -s fold.err ] && { echo "-e $event: $(cat fold.err)"; status=1; }
	"$perfvisor" flamegraph -i events -e $event -o - 2>/dev/null |
		grep -q "\"event\": *\"$event\"" ||
		{ echo "the page is not of $event"; status=1; }
done
"$perfvisor" fold -i events -e cycles >got 2>&1
[ $? = 1 ] && grep -q 'it has cpu-clock, task-clock' got ||
	{ echo "-e cycles: $(cat got)"; status=1; }
exit $status
