#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor top` of recordings: one screen of all of it has the rows that `perf report` has, from a
# file and as it comes through a pipe; many screens have what came in between, and what decays does
# so as in perf top. Whatever comes, it ends.
. tests/cli/common.sh

cat >workload.sh <<'WORKLOAD'
for i in 1 2 3; do
	ls -laR /usr/share/doc >/dev/null
	perl -e 'my %h; $h{$_ % 997} += $_ for 1 .. 200000'
	(find /usr/include -name '*.h' | head -200 | xargs cat) | md5sum >/dev/null
	awk 'BEGIN { for (i = 0; i < 300000; i++) s += i }'
done
WORKLOAD

rows() { grep -v '^#' | grep . | sed 's/ *$//; s/  */ /g'; }

# All in one screen: an interval that no recording here is as long as.
all_of_it="-d 100000 -E 1000000 --sort comm,dso,sym"

compare() { # NAME FILE
	perf report -i "$2" --stdio -g none --no-children -w 0,16 2>/dev/null | rows >perf.rows
	[ "$(wc -l <perf.rows)" -ge "$3" ] || complain "$1: perf shows $(wc -l <perf.rows) rows"
	# shellcheck disable=SC2086
	"$perfvisor" top -i "$2" $all_of_it >ours.txt 2>ours.err || complain "$1: $(cat ours.err)"
	rows <ours.txt >ours.rows
	diff perf.rows ours.rows >differences ||
		complain "$1: $(grep -c '^<' differences) rows differ: $(head -n 8 differences)"
	[ -s ours.err ] && complain "$1: $(cat ours.err)"
}

# Files, whose names are all known from the start, and as a pipe.
perf_record -o plain -e cpu-clock -F 10000 sh workload.sh
compare plain plain 50
perf_record -o two-events -e cpu-clock -e task-clock -F 5000 sh workload.sh
compare "two events" two-events 50
perf_record -o compressed -e cpu-clock -F 10000 -z sh workload.sh
compare compressed compressed 50
perf record -q -e cpu-clock -F 10000 -o - sh workload.sh 2>record.err >pipe.data ||
	complain "perf record -o -: $(cat record.err)"
compare "a pipe's file" pipe.data 50
perf report -i pipe.data --stdio -g none --no-children -w 0,16 2>/dev/null | rows >perf.rows
# In pieces of any size: a record may be cut anywhere.
python3 -c '
import random, sys
data, at, random = open("pipe.data", "rb").read(), 0, random.Random(14)
while at < len(data):
    size = random.choice((1, 7, 100, 5000, 100000, 300000))
    sys.stdout.buffer.write(data[at:at + size])
    sys.stdout.buffer.flush()
    at += size' |
	"$perfvisor" top -i - $all_of_it 2>ours.err | rows >ours.rows
diff perf.rows ours.rows >differences ||
	complain "in pieces: $(head -n 8 differences; cat ours.err)"
mkfifo fifo
cat pipe.data >fifo &
"$perfvisor" top -i fifo $all_of_it 2>ours.err | rows >ours.rows
wait
diff -q perf.rows ours.rows >/dev/null || complain "a FIFO: $(cat ours.err)"

# Call chains: the shares of report, which other tests compare with perf's.
perf_record -o chains -e cpu-clock -F 5000 -g sh workload.sh
# The order of equal shares is that in which functions come, which is not the file's.
"$perfvisor" report -i chains --sort comm,dso,sym --percent-limit 1 >report.txt
"$perfvisor" top -i chains $all_of_it -g --percent-limit 1 >ours.txt
[ "$(grep -c . report.txt)" -ge 50 ] || complain "chains: too few lines to compare"
python3 "$tests/chains.py" report.txt ours.txt >differences ||
	complain "-g: $(head -n 8 differences)"
"$perfvisor" top -i chains $all_of_it -g --percent-limit 2 >ours.txt
python3 "$tests/chains.py" report.txt ours.txt >/dev/null && complain "nothing was compared"

# The filters are report's.
for filter in "--comms perl" "--dsos libc.so.6" "--symbol-filter read" "--mode user"; do
	"$perfvisor" report -i plain --sort comm,dso,sym -g none $filter 2>/dev/null |
		rows >report.rows
	"$perfvisor" top -i plain $all_of_it $filter 2>/dev/null | rows >ours.rows
	[ -s report.rows ] || complain "$filter: nothing to compare"
	diff report.rows ours.rows >differences || complain "$filter: $(head -n 4 differences)"
done

# Ten seconds with one function that runs all the time, and another one in the first second alone:
# 100 samples a second, of period 1000. After each screen of a second, what is counted is multiplied
# by 7/8, rounded down.
{
	echo "event type=1 config=0 sample=IP,TID,TIME,PERIOD"
	echo "comm 10 early"
	echo "comm 11 always"
	for ((i = 0; i < 1000; i++)); do
		time=$((1000000000 + i * 10000000))
		((i < 100)) && echo "sample pid=10 time=$time ip=0x1000 period=1000"
		echo "sample pid=11 time=$time ip=0x2000 period=1000"
	done
} >known.txt
python3 "$tests/build_recording.py" known.data <known.txt
"$perfvisor" top -i known.data -d 1 -s comm -n >ours.txt 2>ours.err ||
	complain "known: $(cat ours.err)"
python3 - >want.txt <<'WANT'
early = always = 0
for screen in range(10):
    early += 100 if screen == 0 else 0
    always += 100
    print("always", always)
    print("early", early)
    early, always = (1 if early < 2 else early * 7 // 8), always * 7 // 8
WANT
awk '!/^#/ && NF { print $3, $2 }' ours.txt >got.txt
# Both have 100 at first.
diff <(sed 1,2d want.txt) <(sed 1,2d got.txt) >differences ||
	complain "decay: $(head -n 8 differences)"
[ "$(grep -c '^# 100 samples in ' ours.txt)" = 9 ] && grep -q '^# 200 samples in ' ours.txt ||
	complain "rates: $(grep ' samples in ' ours.txt)"
"$perfvisor" top -i known.data -d 1 -s comm -n -z | awk '!/^#/ && NF { print $3, $2 }' >got.txt
{ echo always 100; echo early 100; yes always 100 | head -n 9; } | sort >want.txt
sort got.txt | diff want.txt - >differences || complain "-z: $(head -n 8 differences)"
[ "$("$perfvisor" top -i known.data -d 100 -s comm -E 1 | rows | wc -l)" = 1 ] || complain "-E 1"

# A stream that is damaged, cut off, or none.
head -c 30001 pipe.data >cut.data
"$perfvisor" top -i - $all_of_it <cut.data >ours.txt 2>ours.err ||
	complain "cut off: $(cat ours.err)"
cat cut.data | "$perfvisor" top -i - $all_of_it >piped.txt 2>piped.err ||
	complain "cut off, piped: $(cat piped.err)"
grep -q "ends within a record" piped.err || complain "cut off: no word of it: $(cat piped.err)"
diff <(rows <ours.txt) <(rows <piped.txt) >/dev/null || complain "cut off: not the same"
{ head -c 30001 pipe.data; head -c 100000 /dev/zero; } | "$perfvisor" top -i - >ours.txt 2>ours.err
grep -q "bad record size" ours.err || complain "zeros: $(cat ours.err)"
for what in /dev/null plain "$tests/common.sh"; do
	cat "$what" | "$perfvisor" top -i - >ours.txt 2>ours.err && complain "$what was taken"
	grep -q "^perfvisor: 'standard input'" ours.err || complain "$what: $(cat ours.err)"
done
"$perfvisor" top -i nowhere 2>ours.err && complain "a file that is not there"
grep -q "could not open 'nowhere'" ours.err || complain "nowhere: $(cat ours.err)"
"$perfvisor" top -i plain --vm web >ours.txt 2>ours.err && complain "a VM that is not there"
grep -q "no VM 'web'" ours.err || complain "--vm: $(cat ours.err)"
"$perfvisor" top -i plain -F 99 2>ours.err
[ $? = 2 ] || complain "-F with -i: $(cat ours.err)"

# Who reads the screens may go, and so may the user.
"$perfvisor" top -i known.data -d 0.01 -s comm 2>ours.err | head -n 1 >/dev/null
[ "${PIPESTATUS[0]}" = 0 ] && [ ! -s ours.err ] || complain "head: $(cat ours.err)"
perf record -q -e cpu-clock -F 10000 -o - sh -c 'echo $$ >loop.pid; exec perl -e "1 while 1"' \
	>fifo 2>/dev/null &
recorder=$!
"$perfvisor" top -i fifo -d 0.2 -s comm >ours.txt 2>ours.err &
top=$!
for ((i = 0; i < 300; i++)); do
	grep -q perl ours.txt && break
	sleep 0.1
done
grep -q perl ours.txt || complain "no screen while the stream goes on"
kill -INT "$top"
wait "$top" || complain "Ctrl-C: status $?: $(cat ours.err)"
kill "$(cat loop.pid)" 2>/dev/null
wait "$recorder"
exit $status
