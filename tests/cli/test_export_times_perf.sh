#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# export in the formats that have times: each sample with its thread, time and functions is what
# `perf script` prints of the recording. The Firefox Profiler's format is checked column by column
# as its types are documented; Chrome's is read by the reader of its developer tools. Folded stacks
# are those of fold.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
write_chains=$(realpath "$(dirname "$perfvisor")/tests/unit/write_chains")
write_example=$(realpath "$(dirname "$perfvisor")/tests/unit/write_example")
tools=$(realpath tests/cli)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here # of npm
status=0
complain() {
	echo "FAILED: $1"
	status=1
}

"$write_chains" chains >truth || exit 1
"$write_example" example guest-processes >/dev/null || exit 1
recordings=(chains example)
if perf record -q -e cpu-clock -o try.data true 2>/dev/null; then
	gcc -O1 -fno-omit-frame-pointer -static -o workload "$tools/chain_workload.c" || exit 1
	perf record -q -g -e cpu-clock -F 2000 -o stock -- sh -c './workload & ./workload; wait' \
		>/dev/null 2>&1 || complain 'perf record'
	recordings+=(stock)
else
	echo "skipped: a recording by perf, because perf cannot record here"
fi

reader=
if command -v npm >/dev/null && command -v node >/dev/null &&
	timeout 120 npm pack --silent @paulirish/trace_engine >/dev/null 2>&1 &&
	tar xzf paulirish-trace_engine-*.tgz; then
	reader=$here/package/models/trace/handlers/SamplesHandler.js
else
	echo "skipped: the reader of Chrome's developer tools, because npm cannot fetch it"
fi

for recording in "${recordings[@]}"; do
	for format in folded firefox chrome; do
		"$perfvisor" export -i "$recording" -f $format -o "$recording.$format" 2>err ||
			complain "$recording as $format: $(cat err)"
		"$perfvisor" export -i "$recording" -f $format 2>/dev/null |
			cmp - "$recording.$format" || complain "$format differs on standard output"
	done
	"$perfvisor" fold -i "$recording" 2>/dev/null >fold
	[ -s fold ] && cmp fold "$recording.folded" || complain "$recording: folded is not fold"
	perf script -i "$recording" --ns --no-inline \
		-F machine_pid,vcpu,comm,pid,tid,time,event,ip,sym,dso >script 2>/dev/null
	functions=script
	[ "$recording" != chains ] || functions=truth
	[ "$recording" != example ] || functions=none
	python3 -B "$tools/timed_profiles.py" firefox "$recording.firefox" script $functions ||
		complain "firefox of $recording"
	[ -n "$reader" ] || continue
	node "$tools/read_chrome.mjs" "$reader" "$recording.chrome" >read ||
		complain "Chrome's reader: $recording"
	python3 -B "$tools/timed_profiles.py" chrome read script $functions ||
		complain "chrome of $recording"
done

# Without times there is nothing to show.
printf '%s\n' 'event type=1 config=0 sample=IP,TID,PERIOD' 'comm 7 untimed' \
	'sample pid=7 time=0 ip=0x401000 period=1' | python3 -B "$tools/build_recording.py" untimed
"$perfvisor" export -i untimed -f firefox >out 2>err && complain 'a recording without times'
[ ! -s out ] && grep -q 'samples have no times' err || complain "no reason: $(cat out err)"
"$perfvisor" export -i untimed -f folded 2>/dev/null | grep -q '^untimed;' ||
	complain 'folded needs no times'
exit $status
