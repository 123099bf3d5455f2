#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What script prints of times and modes, of samples without their call chains, and of one kind of
# event, is what stock perf prints.
. tests/cli/common.sh

perf_record -g -k CLOCK_MONOTONIC -e cpu-clock -c 200000 -o chains.data \
	sh -c 'ls -R /usr/share/doc; ls -R /usr/include'
perf_record -e cpu-clock -c 100000 -o plain.data ls -R /usr/share/doc

for fields in comm,tid,tod,time,event misc,time,ip,sym tod,misc; do
	compare_script fields 20 chains.data -G -F $fields
	compare_script fields 20 chains.data -G --ns -F $fields
done
compare_script chains 100 chains.data --ns -F +misc
grep -q '[0-9]\.[0-9]\{9\}:' ours.txt || complain "no nanoseconds: $(head -n 3 ours.txt)"
for times in --reltime --deltatime '--reltime --ns' '--deltatime --ns'; do
	for what in '' '--show-mmap-events --show-task-events' '-F +misc --show-mmap-events'; do
		# shellcheck disable=SC2086 # words
		compare_script times 20 plain.data $times $what
	done
done
compare_script 'without chains' 20 chains.data -G
compare_script 'without chains' 20 chains.data --hide-call-graph -F ip,sym

# Of one kind of event.
compare_script kinds 20 plain.data -F sw:comm,tid
compare_script kinds 20 plain.data -F comm -F sw:time
compare_script kinds 20 plain.data -F sw:+tid,-period
if perf record -q -e sched:sched_switch -o try.data true 2>/dev/null; then
	perf_record -e sched:sched_switch -e cpu-clock -c 100000 -o both.data \
		sh -c 'for i in 1 2 3 4 5; do sleep 0.01; ls -R /usr/share/doc; done'
	compare_script kinds 20 both.data -F trace:time,event,trace -F sw:comm,period
	compare_script kinds 20 both.data -F trace:-comm,+pid
else
	echo 'skipped: kinds of events, because perf cannot record tracepoints here'
fi

"$perfvisor" script -i plain.data -F tod >out 2>err
[ $? = 1 ] && grep -q 'hint: record with -k' err || complain "tod of no clock: $(cat err)"
"$perfvisor" script -i plain.data -F nosuch:comm >out 2>err
[ $? = 2 ] && grep -q "unknown kind of event 'nosuch'" err || complain "a kind: $(cat err)"
"$perfvisor" script -i plain.data --reltime --deltatime >out 2>err
[ $? = 2 ] || complain "--reltime --deltatime: $(cat err)"
exit "$status"
