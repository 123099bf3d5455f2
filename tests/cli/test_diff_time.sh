#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# diff --weights time: the expected values are the times from which the recordings are built. A
# function whose share is the same while all are busier has a difference; it has none in shares.
. tests/cli/common.sh

# Samples of 1 ms of two functions, every STEP ms for 20 seconds: alpha has COUNT of PER_FIVE.
build() { # NAME EVENT STEP_MS ALPHA_OF_FIVE [FIELDS]
	python3 - "$2" "$3" "$4" "${5:-IP,TID,TIME,PERIOD}" <<'TEXT' |
import sys
event, step, alpha, fields = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
print(f"event {event} sample={fields}")
print("comm 11 load\ncomm 12 other")
for i in range(20000 // step):
    pid = 11 if i % 5 < alpha else 12
    print(f"sample pid={pid} ip=0x1000 time={10**12 + i * step * 10**6} period={10**6}")
# The last one ends the time: it is of neither.
print(f"sample pid=13 ip=0x1000 time={10**12 + 20 * 10**9} period=1")
TEXT
	python3 "$tests/build_recording.py" "$1"
}
clock='type=1 config=0'
build idle "$clock" 10 2
build busy "$clock" 5 2
build other "type=0 config=0" 5 2
build untimed "$clock" 5 2 IP,TID,PERIOD

rows() { # ARGUMENTS…: baseline, difference, whether it is certain, and the command
	"$perfvisor" diff -s comm -t '|' "$@" 2>err | grep -E '[|](load|other)$' | sort -t '|' -k 5
}
# 2000 samples of 1 ms in 20 s are 10 % of a CPU, of which load has 2 of 5; busy has twice that.
[ "$(rows idle busy | cut -d '|' -f 1,2,4,5 | tr -d +-)" = "40.00%|0.00%|no|load
60.00%|0.00%|no|other" ] || complain "shares: $(rows idle busy)"
[ "$(rows --weights time idle busy | cut -d '|' -f 1,2,4,5)" = "4.00%|+4.00%|yes|load
6.00%|+6.00%|yes|other" ] || complain "by time: $(rows --weights time idle busy)"
[ "$(rows --weights time busy idle | cut -d '|' -f 1,2,4,5)" = "8.00%|-4.00%|yes|load
12.00%|-6.00%|yes|other" ] || complain "by time: $(rows --weights time busy idle)"
[ "$(rows --weights time -c ratio idle busy | cut -d '|' -f 2,4)" = "2.000000|load
2.000000|other" ] || complain "ratio: $(rows --weights time -c ratio idle busy)"
# Half of the time has half of the samples: the same cost.
[ "$(rows --weights time --time 0%-50% idle busy | cut -d '|' -f 1,2)" = "4.00%|+4.00%
6.00%|+6.00%" ] || complain "half: $(rows --weights time --time 0%-50% idle busy)"
# A command that the filter leaves takes no less time because others are left out.
[ "$(rows --weights time -C load idle busy | cut -d '|' -f 1,2,5)" = "4.00%|+4.00%|load" ] ||
	complain "one command: $(rows --weights time -C load idle busy)"
"$perfvisor" diff --weights time -s comm idle busy >out 2>err
grep -qF '[0] idle, 2001 samples, 20.0 s, 0.100 CPUs (Baseline)' out || complain "head: $(cat out)"
grep -qF '[1] busy, 4001 samples, 20.0 s, 0.200 CPUs' out || complain "head: $(cat out)"

fails() { # STATUS PATTERN ARGUMENTS…
	local want=$1 pattern=$2
	shift 2
	"$perfvisor" diff "$@" >out 2>err
	[ $? = "$want" ] || complain "$*: not exit status $want: $(cat err)"
	grep -qE "$pattern" err || complain "$*: no '$pattern': $(cat err)"
}
fails 1 "other: event 'cycles[^']*' counts something else than time" --weights time other other
fails 1 'record -e cpu-clock' --weights time idle other
fails 1 'untimed: its samples do not say how long it took' --weights time untimed untimed
fails 2 "takes samples or time, not 'cpu'" --weights cpu idle busy
fails 2 'excludes -c wdiff' --weights time -c wdiff:1,2 idle busy
fails 2 'exclude each other' --weights time --flamegraph idle busy
exit $status
