#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What report does as stock perf without being told: rows with the same share are in perf's order,
# records that were lost are counted once, a pipe on standard input is the recording, and
# tracepoints are counted by what they say.
. tests/cli/common.sh

python3 - >ties.txt <<'END'
kernel = {name: int(address, 16) for address, kind, name in
          (line.split()[:3] for line in open("/proc/kallsyms")) if kind in "tT"}
start = kernel["_text"]
print("event type=1 config=0 sample=IP,TID,TIME,PERIOD")
print(f"kernel {start:#x} 0x2000000")
for pid, name in (10, "first"), (11, "second"), (12, "third"):
    print(f"comm {pid} {name}")
for pid in 10, 11: # the third has no file
    print(f"mmap {pid} 0x400000 0x1000 0 /usr/bin/nosuch")
time = 1000
for pid in 10, 11, 12:
    for ip, mode in [(kernel[name] + 1, 1) for name in ("do_exit", "kfree", "schedule")] + [
            (0xffffffffc0025d48, 1), (0xffffffffc0025d50, 1), (0xffffffffff000000, 1),
            (0x400010, 2), (0x400020, 2), (0x7000000, 2)]:
        time += 1000
        print(f"sample pid={pid} time={time} ip={ip:#x} period=1000 misc={mode}")
END
python3 "$tests/build_recording.py" ties.data <ties.txt
rows() {
	grep -v '^#' | grep '%' | sed 's/  */ /g; s/ *$//'
}
perf report -i ties.data --stdio 2>/dev/null | rows >perf.txt
"$perfvisor" report -i ties.data 2>/dev/null | rows >ours.txt
[ "$(wc -l <perf.txt)" = 27 ] || complain "ties: perf has $(wc -l <perf.txt) rows"
cmp -s perf.txt ours.txt || complain "ties: $(diff perf.txt ours.txt | head -n 6)"

# Rings of one page cannot take the copies of stacks. perf itself adds up LOST_SAMPLES alone.
perf_record -m 1 -F 20000 -e cpu-clock --call-graph dwarf,4096 -o lost.data \
	perl -e 'my $s = 0; $s += $_ for 1 .. 3000000'
perf report --stats -i lost.data 2>/dev/null |
	awk '/ LOST_SAMPLES events/ { if ($NF ~ /^[0-9]+$/) want = $NF } END { print want + 0 }' \
		>want.txt
"$perfvisor" report -i lost.data --json 2>/dev/null |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["lost"])' >got.txt
if [ "$(cat want.txt)" = 0 ]; then
	echo "skipped: lost records, because this kernel or perf does not count them by event"
else
	cmp -s want.txt got.txt || complain "lost: perf $(cat want.txt), ours $(cat got.txt)"
fi

# A pipe, although there is a file.
mkdir folder && cd folder || exit 1
cp ../lost.data perf.data
for command in 'report -s comm' 'script -F comm,ip'; do
	# shellcheck disable=SC2086
	cat ../ties.data | "$perfvisor" $command >ours.txt 2>/dev/null
	grep -q second ours.txt || complain "$command: the pipe is not read: $(head -n 3 ours.txt)"
	# shellcheck disable=SC2086
	"$perfvisor" $command <../ties.data >ours.txt 2>/dev/null
	! grep -q second ours.txt || complain "$command: a file on standard input is read"
done
cd ..

# Of tracepoints alone. Without a width, perf cuts what is longer than the texts before.
perf_record -e sched:sched_switch -o switches.data bash -c 'for i in 1 2 3 4; do sleep 0.01; done'
perf report -i switches.data --stdio -w 0,999 2>/dev/null | rows | sort >perf.txt
"$perfvisor" report -i switches.data 2>/dev/null | rows | sort >ours.txt
grep -q 'prev_comm=' perf.txt || complain "tracepoints: perf has other rows: $(head -n 3 perf.txt)"
cmp -s perf.txt ours.txt || complain "tracepoints: $(diff perf.txt ours.txt | head -n 6)"
exit $status
