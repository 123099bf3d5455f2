#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Groups of events: stock perf finds them in our recordings, with the counts that were written
# (tests/unit/perfdata/write_group.c) or that the kernel's own counts allow; report's column ipc is
# the ratio of what was written.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
write_group=$(dirname "$perfvisor")/tests/unit/write_group
. tests/cli/tinyvm.sh
command -v perf >/dev/null || { echo 'perf is not installed'; exit 77; }
[ -x "$write_group" ] || { echo "$write_group is not built"; exit 1; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export HOME=$folder # no perfconfig, no build-id cache
status=0
complain() {
	echo "$1"
	status=1
}

# EVENT IP COUNT, sorted: from the truth, and from what perf or we print of a recording.
sums() {
	awk '{ sums[$1 " " $2] += $3 } END { for (key in sums) print key, sums[key] }' |
		LC_ALL=C sort
}
shown() { # shown COMMAND…
	"$@" -F event,ip,period 2>warnings | awk '{ sub(":$", "", $2); print $2, $3, $1 }' | sums
}

"$write_group" read.data read >read.truth || complain 'write_group read fails'
"$write_group" sampled.data sampled >sampled.truth || complain 'write_group sampled fails'
"$write_group" apart.data apart >apart.truth || complain 'write_group apart fails'
"$write_group" - read >read.pipe 2>pipe.truth || complain 'write_group to a pipe fails'
for mode in read sampled; do
	sums <$mode.truth >want
	[ "$(wc -l <want)" = 6 ] || complain "$mode: $(cat want)"
	shown perf script -i $mode.data >got
	diff want got || complain "$mode: perf script counts otherwise: $(cat warnings)"
	shown "$perfvisor" script -i $mode.data >got
	diff want got || complain "$mode: script counts otherwise: $(cat warnings)"
	[ "$(perf evlist -g -i $mode.data 2>&1)" = 'work{cycles,instructions}' ] ||
		complain "$mode: perf evlist -g: $(perf evlist -g -i $mode.data 2>&1)"
	perf report --header-only -i $mode.data 2>/dev/null |
		grep -qx '# group: work{cycles,instructions}' || complain "$mode: perf's header"
	# ipc, of each piece of code, in the rows of both events.
	"$perfvisor" report -i $mode.data -F sym,ipc -t, --percent-limit 0 2>err |
		sed -n 's/^\[g\] 0x\([0-9a-f]*\),/\1 /p' | LC_ALL=C sort >got
	awk '{ sums[$2, $1] += $3; ips[$2] = 1 }
		END { for (ip in ips) for (i = 0; i < 2; i++)
			printf "%s %.2f\n", ip, sums[ip, "instructions"] / sums[ip, "cycles"] }' \
		$mode.truth | LC_ALL=C sort >want
	[ "$(wc -l <want)" = 6 ] && diff want got || complain "$mode: ipc: $(cat err)"
	"$perfvisor" report -i $mode.data -F +ipc --json 2>err |
		python3 -c 'import json, sys
for event in json.load(sys.stdin)["events"]:
    for row in event["rows"]:
        print("cycles", row["address"][2:], row["cycles"])
        print("instructions", row["address"][2:], row["instructions"])' |
		LC_ALL=C sort -u >got
	sums <$mode.truth | diff - got || complain "$mode: ipc in JSON: $(cat err)"
done
[ "$("$perfvisor" report -i read.data -F ipc --sort mode 2>/dev/null | grep -c '^ *0\.')" = 2 ] ||
	complain 'ipc without the key sym'
# perf 6.1 reads no groups from pipes by itself: it has them from perf inject.
perf script -F event,ip,period -i - <read.pipe 2>warnings |
	awk '{ sub(":$", "", $2); print $2, $3, $1 }' | sums >got
sums <read.truth | diff - got || complain "perf script of a pipe: $(cat warnings)"
"$perfvisor" report -i - -F +ipc <read.pipe >piped 2>err
"$perfvisor" report -i read.data -F +ipc >filed 2>err
diff <(sed 1,2d piped) <(sed 1,2d filed) || complain 'report of a pipe'
"$perfvisor" report -i apart.data -F +ipc >got 2>err
[ $? = 1 ] && grep -q 'no group of events in the recording has both cycles and instr' err ||
	complain "ipc without a group: $(cat err)"

# What perf records.
if perf record -q -e '{cpu-clock,page-faults}:S' -o perf.data true 2>/dev/null; then
	"$perfvisor" report -i perf.data -F ipc >got 2>err
	[ $? = 1 ] || complain 'ipc of software events'
fi

# Live, in a VM whose vCPUs go on and off a CPU.
start_tinyvm
trap 'stop_tinyvm; rm -rf "$folder"' EXIT
if ! "$perfvisor" record -q --guest --host -e cpu-clock -p $vm --duration 0.1 -o try 2>err; then
	echo "skipped: recording groups, because $(head -n 1 err)"
	exit $status
fi
switches() { # of the vCPUs' threads so far
	for tid in $threads; do cat /proc/$vm/task/$tid/status; done |
		awk '/ctxt_switches/ { sum += $2 } END { print sum }'
}
before=$(switches)
"$perfvisor" record -q --guest --host -p $vm -o live.data --duration 1 \
	-e '{cpu-clock,context-switches,page-faults}:S' -e 'own{task-clock,cs:u},dummy' 2>err ||
	complain "record of groups: $(cat err)"
after=$(switches)
perf evlist -g -i live.data >got 2>&1
printf '%s\n' '{cpu-clock,context-switches,page-faults}' 'own{task-clock,cs:u}' dummy |
	diff - got || complain 'perf finds other groups'
# Without the names of the few samples of the guest, which has no processes here.
fields=tid,cpu,time,period,event
perf script -F $fields -i live.data 2>warnings | sed 's/ *$//' >perf.txt
"$perfvisor" script -F $fields -i live.data 2>err | sed 's/ *$//' >ours.txt
[ "$(grep -c ' cpu-clock:' perf.txt)" -ge 20 ] && cmp perf.txt ours.txt ||
	complain "$(grep -c ' cpu-clock:' perf.txt) samples; $(diff perf.txt ours.txt | head -n 4)"
counted=$(awk '/ context-switches:/ { sum += $4 } END { print sum + 0 }' perf.txt)
[ "$counted" -ge 1 ] && [ "$counted" -le $((after - before)) ] ||
	complain "$counted context switches were counted, of $((after - before))"
# Only the leader takes samples: the others' are the leader's.
awk '/ cpu-clock:/ { print $3 }' perf.txt | sort -u >leader
awk '/ context-switches:/ { print $3 }' perf.txt | sort -u >member
[ -s member ] && [ -z "$(comm -23 member leader)" ] ||
	complain 'an event other than the leader takes samples'
# --control lists them as perf does.
mkfifo control
printf 'evlist -g\nstop\n' >control &
"$perfvisor" record --guest --host -p $vm -o listed.data --duration 60 --control fifo:control \
	-e '{cpu-clock,context-switches,page-faults}:S' -e 'own{task-clock,cs:u},dummy' 2>err ||
	complain "record --control: $(cat err)"
perf evlist -g -i listed.data 2>/dev/null >want
grep -cxFf want err | grep -qx 3 || complain "evlist -g: $(cat err)"
# A group without S: each event takes its own.
"$perfvisor" record -q --guest --host -p $vm -o plain.data --duration 0.5 \
	-e '{cpu-clock,context-switches}' 2>err || complain "a group without S: $(cat err)"
[ "$(perf evlist -g -i plain.data 2>&1)" = '{cpu-clock,context-switches}' ] ||
	complain "a group without S: $(perf evlist -g -i plain.data 2>&1)"
perf evlist -v -i plain.data 2>/dev/null | grep '^context-switches' | grep -q sample_freq ||
	complain 'in a group without S each event has a rate'
exit $status
