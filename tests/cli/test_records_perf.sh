#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Records other than samples, in the text and the order of stock perf: --show-mmap-events and its
# kin, with recordings that perf made here and with one of records that are rare.
. tests/cli/common.sh

all='--show-task-events --show-mmap-events --show-switch-events --show-namespace-events
	--show-cgroup-events --show-lost-events --show-bpf-events --show-text-poke-events'

cat >work.sh <<'WORK'
unshare -u true
bash -c 'exec -a another ls -lR /usr/share/doc' >/dev/null
(ls /; sleep 0.01) | cat >/dev/null
WORK
perf_record -a --namespaces --switch-events -e cpu-clock -F 500 -o all.data bash work.sh
compare_script 'all CPUs' 500 all.data $all
for kind in COMM FORK EXIT MMAP MMAP2 SWITCH_CPU_WIDE NAMESPACES; do
	grep -q "PERF_RECORD_$kind" perf.txt || complain "perf recorded no $kind"
done
for option in $all; do
	compare_script 'one kind' 5 all.data "$option"
done
compare_script 'one CPU' 50 all.data $all --cpu 0
compare_script 'few fields' 500 all.data $all -F comm,pid,tid,ip
perf_record --buildid-mmap --switch-events -g -e cpu-clock,page-faults -o one.data bash work.sh
compare_script 'two events with chains' 100 one.data $all
grep -q 'PERF_RECORD_MMAP2.* <[0-9a-f]\{40\}>' perf.txt || complain 'perf recorded no build-id'
perf_record -e cpu-clock --no-inherit -o plain.data bash work.sh
compare_script 'one event' 10 plain.data $all

# Records whose body is HEX; all are as of the time of the sample before them.
hex() { # FORMAT VALUE…
	python3 -c 'import struct, sys
data = struct.pack("=" + sys.argv[1], *[int(word, 0) for word in sys.argv[2:]])
print(data.hex())' "$@"
}
text() { # padded to 8 bytes
	python3 -c 'import sys
text = sys.argv[1].encode("latin-1").decode("unicode_escape").encode("latin-1")
print(text.ljust(len(text) // 8 * 8 + 8, b"\0").hex())' "$1"
}
start=$(awk '$3 == "_text" { print "0x" $1; exit }' /proc/kallsyms)
function=$(awk '$3 == "do_exit" { print "0x" $1; exit }' /proc/kallsyms)
changed=$(printf '0x%x' $((function + 5)))
{
	echo event sample=IP,TID,TIME,CPU,PERIOD
	echo comm 1 first
	echo "kernel $start 0x2000000"
	echo sample pid=1 time=1000000 ip=0x1000
	echo record 19 0 "$(hex Q 77)" "$(text /a/cgroup)"
	echo record 2 0 "$(hex QQ 0 1234)"
	echo record 17 1 "$(hex QIHH "$function" 64 1 0)" "$(text bpf_prog_x)"
	echo sample pid=1 time=2000000 ip=0x1000
	echo record 17 1 "$(hex QIHH "$function" 64 1 1)" "$(text bpf_prog_x)"
	echo record 18 1 "$(hex HHIQ 1 0 4711 0)"
	echo record 20 1 "$(hex QHHIQQIBHB "$changed" 5 20 1 2 3 4 9 0 0)"
	echo record 20 1 "$(hex QHHI 0x4000 0 4 0x11223344)"
	echo record 16 0 "$(hex IIQ 1 1 9)" "$(hex QQQQQQQQQQQQQQQQQQ 1 2 3 4 5 6 7 8 9 10 11 12 \
		13 14 15 16 17 18)"
	echo sample pid=1 time=3000000 ip=0x1000
	echo record 14 0 ''
	echo record 14 0x2000 ''
	echo record 14 0x6000 ''
	echo record 15 0x2000 "$(hex II 5 6)"
	echo sample pid=2 time=3500000 ip=0x1000
	echo record 3 0x2000 "$(hex II 1 1)" "$(text second)"
	echo record 7 0 "$(hex IIIIQ 5 1 5 1 3500000)"
	echo record 4 0 "$(hex IIIIQ 5 1 5 1 3500000)"
	echo record 1 0x2002 "$(hex IIQQQ 1 1 0x10000 0x1000 0)" "$(text /a/file)"
	echo sample pid=1 time=4000000 ip=0x1000
} | python3 "$tests/build_recording.py" rare.data
compare_script 'rare records' 30 rare.data $all
for kind in CGROUP LOST KSYMBOL BPF_EVENT TEXT_POKE SWITCH NAMESPACES EXIT; do
	grep -q "PERF_RECORD_$kind" perf.txt || complain "perf does not print $kind"
done
grep -q " ${changed#0x} do_exit+0x5 old len 5" perf.txt ||
	complain "perf does not name what was changed: $(grep TEXT_POKE perf.txt)"

# Text of a recording does not reach the terminal as it is.
{
	echo event sample=IP,TID,TIME,CPU,PERIOD
	echo record 19 0 "$(hex Q 77)" "$(text '/a\x1b[31m')"
	echo record 3 0 "$(hex II 1 1)" "$(text 'x\x1b]0;y\x07')"
	echo sample pid=1 time=1000000 ip=0x1000
} | python3 "$tests/build_recording.py" hostile.data
"$perfvisor" script -i hostile.data $all >ours.txt 2>ours.err || complain "$(cat ours.err)"
[ "$(grep -c PERF_RECORD ours.txt)" = 2 ] || complain "hostile names: $(cat ours.txt)"
LC_ALL=C grep -q '[^[:print:][:space:]]' ours.txt && complain 'control characters are printed'
exit $status
