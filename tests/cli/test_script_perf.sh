#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# For recordings that stock perf makes here, `perfvisor script` prints the same as `perf script`,
# byte for byte: default and chosen fields, with and without call chains, several events,
# tracepoints.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tools=$(realpath tests/cli)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0

perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }

cat >workload.sh <<'WORKLOAD'
for i in 1 2; do
	ls -laR /usr/share/doc >/dev/null
	perl -e 'my %h; $h{$_ % 997} += $_ for 1 .. 100000'
	(find /usr/include -name '*.h' | head -200 | xargs cat) | md5sum >/dev/null
	awk 'BEGIN { for (i = 0; i < 200000; i++) s += i }' &
	wait
done
WORKLOAD

record() { # NAME, ARGUMENTS OF perf record
	perf record -q -o "$@" sh workload.sh 2>record.err >/dev/null ||
		{ echo "perf record -o $*: $(cat record.err)"; status=1; }
}

compare() { # NAME, ARGUMENTS OF script
	local name=$1
	shift
	perf script -i "$name" "$@" >perf.txt 2>/dev/null
	"$perfvisor" script -i "$name" "$@" >ours.txt 2>ours.err || { cat ours.err; status=1; }
	sed -E -i -f "$tools/unnamed_plt.sed" ours.txt
	if [ "$(wc -l <perf.txt)" -lt 20 ]; then
		echo "$name $*: perf prints $(wc -l <perf.txt) lines: too few to compare"
		status=1
	fi
	if ! diff perf.txt ours.txt >differences; then
		echo "$name $*: $(grep -c '^<' differences) of $(wc -l <perf.txt) lines differ:"
		head -n 20 differences
		status=1
	fi
	grep -v ' samples are filtered out$' ours.err && { echo "$name: see above"; status=1; }
}

record plain -e cpu-clock -F 5000
compare plain
compare plain -F comm,pid,tid,time,event,ip,sym,dso
compare plain -F comm,tid,time,ip,sym,symoff
compare plain -F ip,dso
compare plain -F period,event
compare plain -F +pid
compare plain -F -period

record chains -e cpu-clock -F 3000 -g
compare chains
compare chains -F comm,pid,tid,time,event,ip,sym,dso
compare chains -F comm,ip,sym
compare chains --max-stack 3

# Without other programs of the machine: some of them are as addr2line is (unnamed_plt.sed).
own=(--comms sh,perl,awk,find,xargs,cat,md5sum,swapper)
record cpus -a -e cpu-clock -c 500000
compare cpus "${own[@]}"
compare cpus "${own[@]}" -F comm,cpu,time,ip,sym

record two-events -e cpu-clock -e task-clock:u -F 3000
compare two-events
record compressed -z -e cpu-clock -F 5000
compare compressed

if perf record -q -o try.data -e sched:sched_switch true 2>/dev/null; then
	record tracepoints -e sched:sched_switch -e sched:sched_process_exec -e sched:sched_waking
	compare tracepoints
	compare tracepoints -F comm,tid,time,event,trace
	record tracepoint-chains -g -e sched:sched_switch
	compare tracepoint-chains
else
	echo 'skipped: tracepoints, because perf cannot record them here'
fi

# Fields that the samples do not have are an error.
"$perfvisor" script -i plain -F cpu >out.txt 2>err.txt
[ $? = 1 ] && grep -q "cannot be printed" err.txt || { echo "-F cpu: $(cat err.txt)"; status=1; }
"$perfvisor" script -i plain -F nothing >out.txt 2>err.txt
[ $? = 2 ] || { echo "-F nothing: $(cat err.txt)"; status=1; }
exit $status
