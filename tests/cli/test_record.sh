#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perfvisor record's errors for wrong usage and for things that do not exist: one line, a hint, and
# exit status 2 or 1, before any file is touched.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
status=0
complain() {
	echo "$1"
	status=1
}
# expect STATUS PATTERN ARGUMENT…
expect() {
	local want=$1 pattern=$2 got
	shift 2
	timeout 60 "$perfvisor" record "$@" >out 2>err </dev/null
	got=$?
	[ $got = "$want" ] || complain "record $*: exit status $got, not $want: $(cat err)"
	grep -qE -e "$pattern" err || complain "record $*: stderr is: $(cat err)"
	[ "$(grep -c '^perfvisor: ' err)" = 1 ] ||
		complain "record $*: more than one line: $(cat err)"
	[ -s out ] && complain "record $*: writes to stdout"
}
expect 2 '-F and -c exclude each other' -F 100 -c 100
expect 2 '-a records every VM' -a --vm web
expect 2 '-a records every VM' -a -p 1
expect 2 '--dir writes a folder: it excludes -o -' -o - --dir
script -qefc "'$perfvisor' record -o -" terminal >/dev/null </dev/null
[ $? = 2 ] && grep -q 'a recording is not written to a terminal' terminal ||
	complain "record -o - to a terminal: $(cat terminal)"
rm -f terminal
expect 2 "--freq must be at least 1" -F 0
expect 2 "--freq takes a whole number or max, not '-1'" -F -1
expect 2 "--freq takes a whole number or max, not '18446744073709551615'" -F 18446744073709551615
expect 2 "-F is limited to 1000" --engine qmp --vm web -F max
expect 2 '--engine qmp excludes --vcpu and -t' --engine qmp --vm web --vcpu 0
expect 2 '--engine qmp excludes -m' --engine qmp --vm web -m 8
expect 2 "--vcpu takes numbers and ranges such as 0-3,7, not '3-1'" --vcpu 3-1
expect 2 "--vcpu takes numbers and ranges such as 0-3,7, not ''" --vcpu ''
expect 2 '--engine qmp excludes -C' --engine qmp --vm web -C 0
expect 2 "--cpu takes numbers and ranges such as 0-3,7, not '1-'" -C 1-
expect 1 'CPU 8192 is not online' -C 0,8192
expect 1 'CPU [0-9]+ is not online' -C 0-18446744073709551615
expect 2 "--clockid takes monotonic, .* not 'sundial'" -k sundial
expect 2 "--clockid takes .* not '2'" -k 2
expect 2 "--mmap-pages takes a number of pages, .*, not '0'" -m 0
expect 2 "--mmap-pages takes one size: perfvisor records no AUX area" -m 8,8
expect 2 "--mmap-pages takes .* at most 1G, not '2G'" -m 2G
expect 2 "--mmap-pages takes .*, not '99999999999999999999'" -m 99999999999999999999
expect 2 "--max-size takes a size such as 100M, not '18446744073709551615G'" \
	--max-size 18446744073709551615G
expect 2 "--max-size takes a size such as 100M, not '10 M'" --max-size '10 M'
expect 2 '-t also chooses the VMs' -t 1 --vm web
expect 2 '-a records every VM' -a -t 1
expect 1 'there is no thread 2147483647' -t 2147483647
expect 2 '--delay takes milliseconds, -1, or ranges' -D 99999999999
expect 2 "--count takes a whole number" -c 1k
expect 2 "--count takes a whole number" -c 99999999999999999999
expect 2 "--call-graph takes dwarf, dwarf,SIZE or fp, not 'sleep'" --call-graph sleep 1
expect 2 'hint: before a command, name the mode, or use -g, which takes none' --call-graph sleep 1
expect 2 "not 'lbr'" --call-graph lbr
expect 2 "not 'dwar'" --call-graph dwar
expect 2 "not 'fp,8192'" --call-graph fp,8192
expect 2 "takes 1 to 32768 bytes, not '65528'" --call-graph dwarf,65528
expect 2 "takes 1 to 32768 bytes, not ''" --call-graph dwarf,
expect 2 "takes 1 to 32768 bytes, not '8k'" --call-graph dwarf,8k
expect 2 "takes 1 to 32768 bytes, not '0'" --call-graph dwarf,0
expect 2 "--unwind takes exact or scan, not 'perf'" --unwind perf -p 1
expect 2 "--engine takes auto or qmp, not 'perf'" --engine perf -p 1
expect 2 '--engine qmp records one VM' --engine qmp
expect 2 'hint: choose it with --vm NAME, or with -p PID' --engine qmp -p 1 -p 2
expect 2 '--engine qmp excludes --host' --engine qmp --vm web --host
expect 2 '--engine qmp excludes -e' --engine qmp --vm web -e cycles
expect 2 '--engine qmp excludes -c' --engine qmp --vm web -c 1000
expect 2 '-F is limited to 1000' --engine qmp --vm web -F 1001
expect 1 "process $$ has no VM and is not a QEMU" --engine qmp -p $$
expect 1 'there is no process 2147483647' --engine qmp -p 2147483647
# The options below are valid; the error comes from a later one.
expect 1 "unknown event 'cpu-clok'" --call-graph dwarf -e cpu-clok
expect 1 "unknown event 'cpu-clok'" --call-graph=dwarf,16384 -e cpu-clok -- sleep 1
expect 1 "unknown event 'cpu-clok'" --call-graph -e cpu-clok
expect 1 "unknown event 'cpu-clok'" -ge cpu-clok sleep 1
expect 2 "unknown option '--g'" --g
expect 2 "unknown option '--g'" --vm web -p 1 -e cycles --g
expect 2 '--duration takes seconds' --duration -1
expect 2 "-p takes a process id, not 'web'" -p web
expect 2 "-p takes a process id, not ''" -p ''
expect 1 "unknown event 'cpu-clok'" -e cpu-clok
expect 1 "hint: similar names: cpu-clock;" -e cpu-clok
expect 2 "'\{cycles' is not a group of events" -e '{cycles'
expect 2 "'instructions:S': S is for a group" -e '{cycles,instructions:S}'
expect 1 "unknown event 'cpu-clok'" -e '{cpu-clock,cpu-clok}:S'
expect 2 "invalid event modifiers 'q'" -e cpu-clock:q
expect 1 "this host has no PMU 'gpu'" -e gpu/event=1/
expect 2 'empty event name' -e ''

# The other cases need an event that can be opened.
if timeout 60 "$perfvisor" record -e cpu-clock -p 1 2>&1 |
	grep -qE 'no permission|cannot sample'; then
	echo 'skipped: what needs an event, because none can be sampled here'
	exit $status
fi
sleep 0 &
wait $!
expect 1 "there is no process $!" -e cpu-clock -p $!
expect 1 "hint: 'perfvisor list'" -e cpu-clock -p $!
expect 1 "process $$ \(.*\) has no VM" -e cpu-clock -p $$
expect 1 "there is no VM .*no-such-vm" -e cpu-clock --vm no-such-vm
expect 1 "has no VM" -e cpu-clock --dir -p $$
echo nonsense >bad
expect 1 "bad" -e cpu-clock --guestkallsyms bad -p $$
expect 1 "guestkallsyms 'missing': No such file" -e cpu-clock --guestkallsyms missing -p $$
timeout 60 "$perfvisor" record -e cpu-clock -F 4000000000 -p $$ 2>&1 |
	grep -q 'warning: the kernel allows at most [0-9]* samples per second' ||
	complain 'there is no message about a rate above the limit'
[ -z "$(find . -name 'perf.data*')" ] || complain "a file was made: $(ls)"
exit $status
