#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Messages give a reason only where it is known: recordings without samples of guests, or of
# nothing, that are cut
# off, and a host whose processes may not be looked at.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
golden=$(realpath tests/golden/perfdata)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
status=0
complain() {
	echo "$1"
	status=1
}
# run STATUS COMMAND…: what it says on stderr is in err
run() {
	local want=$1 got
	shift
	"$@" >out 2>err </dev/null
	got=$?
	[ $got = "$want" ] || complain "$*: exit status $got, not $want: $(cat err)"
}
says() {
	grep -qE -e "$1" err || complain "stderr does not say '$1': $(cat err)"
}
says_not() {
	! grep -qE -e "$1" err || complain "stderr says '$1': $(cat err)"
}

# Samples of the host say nothing of why there are none of guests
# (tests/unit/perfdata/write_example.c).
"$(dirname "$perfvisor")/tests/unit/write_example" host-only host-only >/dev/null ||
	complain 'write_example failed'
run 0 "$perfvisor" report -i host-only
says 'the profile is empty: 2961 samples fell on the host and 0 on guests .* 7 were lost'
says 'record --host'
says_not 'were idle|all samples were lost'

# What stock perf writes may hold no samples at all, or no event that samples.
perf record -q -e dummy -o dummy.data true 2>perf.err || complain "perf record: $(cat perf.err)"
perf stat record -e task-clock -o stat.data true 2>perf.err ||
	complain "perf stat record: $(cat perf.err)"
why='the recording has no samples|.*perf stat record.*takes no samples'
for file in dummy stat; do
	run 0 "$perfvisor" report -i $file.data
	says "the profile is empty: ($why)"
	says_not 'does not count'
done

# Of a file that is cut off it is not known what cut it off.
head -c $(($(stat -c %s "$golden/chains.data") * 2 / 3)) "$golden/chains.data" >cut.data
run 0 "$perfvisor" report -i cut.data
says "'cut.data' is incomplete"
says_not '(killed or the disk was full)|ends before its time: the recorder'

[ "$(id -u)" = 0 ] ||
	{ echo 'skipped: a user with fewer rights, because this is not root'; exit $status; }
chmod 755 .
cp "$perfvisor" perfvisor
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/perfvisor")
for command in ps stack symbols; do
	run 1 "${nobody[@]}" $command
	says 'no VM can be seen: [0-9]+ processes of other users may not be looked at'
	says_not 'runs no VM|no VM of KVM'
done
"${nobody[@]}" doctor >out 2>err
grep -q '^\[no\]  VMs  *none is visible$' out || complain "doctor: $(cat out)"
# In a pid namespace of its own nothing is hidden.
if unshare --pid --fork --mount-proc true; then
	run 1 unshare --pid --fork --mount-proc "$perfvisor" ps
	says 'no KVM VM was found'
else
	echo 'skipped: a container, because no pid namespace can be made here'
fi
exit $status
