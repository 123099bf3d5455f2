#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --switch-output, --switch-max-files and --overwrite: files are named and kept as by stock
# perf (record__switch_output() in tools/perf/builtin-record.c), each can be read alone, by stock
# perf, too, and together they have every sample once.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
. tests/cli/looping_guest.sh
folder=$(mktemp -d)
guest= recorder=
trap 'kill $guest $recorder 2>/dev/null; wait; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
status=0
complain() {
	echo "$1"
	status=1
}
start_looping_guest
mkfifo control
exec {to}<>control

# NAME OPTION…: start a recorder in the background, with messages in err
start() {
	local name=$1
	shift
	rm -rf "$name" "$name".*
	: >err
	"${record[@]}" -o "$name" --control fifo:control "$@" 2>err &
	recorder=$!
	wait_for grep -qE '^perfvisor: recording' err || { cat err; exit 1; }
}
finish() {
	wait $recorder
	local got=$?
	recorder=
	[ $got = 0 ] || complain "exit status $got: $(cat err)"
}
says() {
	grep -qE -e "$1" err || complain "it does not say '$1': $(cat err)"
}
# NAME COUNT: that many files are there, with perf's names, and nothing else
has_files() {
	local names
	names=$(printf '%s\n' "$1"*)
	[ "$(grep -cxE "$1\.20[0-9]{14}" <<<"$names")" = "$2" ] &&
		[ "$(wc -l <<<"$names")" = "$2" ] ||
		complain "$1: not $2 files: $names"
}
# COUNT: that many files of data are complete
has_at_least() {
	[ "$(compgen -G 'data.20*' | wc -l)" -ge "$1" ]
}
# FILE: times of samples, by stock perf
times_in() {
	perf script -i "$1" -F time 2>>perf.err | tr -d ' :'
}
# NAME: the samples of all files are those of which QEMU was asked, each once and in order: there is
# one vCPU. A file alone says in its header how many samples it has, of which VM.
check_files() {
	local file count total=0
	: >times
	for file in "$1".20*; do
		times_in "$file" >these
		cat these >>times
		count=$(wc -l <these)
		total=$((total + count))
		[ "$(samples_in "$file")" = "$count" ] || complain "$file: not $count samples"
		"$perfvisor" report -i "$file" >report 2>report.err ||
			complain "report of $file: $(cat report.err)"
		grep -qE "Totals: $count samples?: host not sampled, $count guest kernel," report ||
			complain "$file: not $count samples in $(cat report)"
		[ "$("$perfvisor" script -i "$file" --vm looping -F ip 2>/dev/null |
			grep -c .)" = "$count" ] || complain "$file does not name its VM"
		grep -qE "^perfvisor: wrote $file: .* $count samples?" err ||
			complain "$file: the recorder told something else: $(cat err)"
	done
	LC_ALL=C sort -uc times || complain "$1: samples are doubled or out of order"
	[ "$total" -gt 0 ] || complain "$1: no samples"
	grep -qE "QEMU answered .* \($total of " err ||
		complain "$1: $total samples, but $(grep answered err)"
}

# SIGUSR2.
start data -F 100 --switch-output
for count in 1 2 3; do
	sleep 0.7
	kill -USR2 $recorder
	wait_for has_at_least $count || exit 1
done
[ -f data ] || complain 'the recording in progress has another name'
echo stop >&$to
finish
has_files data 4
check_files data
says '4 files have [0-9]+ samples; 0 were lost$'

# Time, of which the last N files are kept; a folder is a file, too; compressed.
start data -F 100 --switch-output=1s --duration 3.5
finish
check_files data
[ "$(printf '%s\n' data.20* | wc -l)" -ge 3 ] || complain "1s: $(echo data*)"
start data -F 100 --switch-output=1s --switch-max-files=2 --duration 4.5 -z
finish
has_files data 2
[ "$(grep -c '^perfvisor: wrote ' err)" -ge 3 ] || complain "2 of: $(cat err)"
start data -F 100 --switch-output --switch-max-files 1 --dir
sleep 0.5
kill -USR2 $recorder
wait_for has_at_least 1 || exit 1
echo stop >&$to
finish
has_files data 1
[ "$(samples_in data.20*)" -gt 0 ] && [ -f data.20*/"kcore_dir__$guest/kallsyms" ] ||
	complain "--dir: $(find data*)"

# Size: SIGUSR2 is ignored. A sample takes 64 bytes; what each file repeats does not count.
start data -F 500 --switch-output=4K
kill -USR2 $recorder
wait_for has_at_least 3 || exit 1
echo stop >&$to
finish
check_files data
for file in $(printf '%s\n' data.20* | head -n -1); do
	count=$(samples_in "$file")
	[ "$count" -ge 30 ] && [ "$count" -le 1000 ] || complain "$file of 4K: $count samples"
done

# A flight recorder: only the newest samples of 4 KiB, when it is asked for them and at the end.
# They are not in the next file, and what was overwritten is counted. A slow machine takes fewer
# samples in a round, whose own records then have a larger share of the 4 KiB.
start data -F 500 --overwrite --switch-output -m 1
sleep 4
[ "$(samples_in data)" = 0 ] || complain '--overwrite writes samples at once'
asked=$(awk '{ print $1 }' /proc/uptime)
kill -USR2 $recorder
wait_for has_at_least 1 || exit 1
sleep 0.3
echo stop >&$to
finish
has_files data 2
says '[1-9][0-9]* older samples were overwritten by newer ones'
overwritten=$(sed -nE 's/.* ([0-9]+) older samples were.*/\1/p' err)
for file in data.20*; do
	times_in "$file"
done >times
LC_ALL=C sort -uc times || complain '--overwrite: samples are doubled or out of order'
grep -qE "QEMU answered .* \($(($(wc -l <times) + overwritten)) of " err ||
	complain "--overwrite: $(wc -l <times) samples and $overwritten: $(cat err)"
times_in "$(compgen -G 'data.20*' | head -n 1)" | awk -v asked="$asked" '
	{ count++; last = $1 }
	END { if (count < 10 || last < asked - 2) { print count " samples, to " last; exit 1 } }' ||
	status=1
file=$(compgen -G 'data.20*' | head -n 1)
"$perfvisor" report -i "$file" 2>report.err >report
grep -q "Totals: $(samples_in "$file") samples: " report || complain "its counts: $(cat report)"

# What is at -o: only a recording makes room by itself; a folder may be named with a slash.
echo 'my notes' >notes
"${record[@]}" -o notes --duration 0.1 2>err
[ $? = 1 ] && [ "$(cat notes)" = 'my notes' ] || complain "notes: $(cat err)"
says "hint: name another with -o, or --force"
"${record[@]}" -o notes --duration 0.1 --force 2>err
[ $? = 0 ] && [ "$(cat notes.old)" = 'my notes' ] && perf script -i notes >/dev/null 2>&1 ||
	complain "--force: $(cat err; ls)"
for old in '' .old; do
	"${record[@]}" --dir -o folder// --duration 0.1 2>err || complain "folder//: $(cat err)"
	[ -f folder/data ] && [ -f "folder$old/data" ] || complain "folder//: $(find folder*)"
done

# Threads in the kernel's rings: the kernel's count of the periods.
if [ -w /dev/kvm ] && [ -x "${tinyvm:=$OLDPWD/build/release/lab/tinyvm/tinyvm}" ]; then
	"$tinyvm" --seconds 120 --vcpus 2 >tinyvm.log 2>&1 &
	kill $guest
	guest=$!
	"$perfvisor" record --host --guest -e cpu-clock -c 1000000 -p $guest --duration 4 -v \
		--switch-output=1s -o rings 2>err || complain "rings: $(cat err)"
	sum=0
	for file in rings.20*; do
		"$perfvisor" report -i "$file" >report 2>/dev/null
		read -r count lost < <(sed -nE \
			's/^# Totals: ([0-9]+) samples: .* ([0-9]+) lost,.*/\1 \2/p' report)
		[ "$(perf script -i "$file" -F time 2>/dev/null | wc -l)" = $((count - lost)) ] ||
			complain "$file: not the samples of its totals: $(cat report)"
		sum=$((sum + count))
	done
	due=$(sed -nE 's/.* ([0-9]+) samples were due .*/\1/p' err)
	# A period that a thread does not complete before it is descheduled is counted, too. What
	# is in the rings for a moment would be more than a fiftieth.
	[ "${due:-0}" -gt 0 ] && [ $((50 * (due - sum))) -le "$due" ] && [ "$sum" -le "$due" ] ||
		complain "rings: $sum samples of ${due:-an unknown number}: $(cat err)"
	says "files have $sum samples; 0 were lost"
else
	echo 'skipped: the rings of the kernel, because no VM runs here'
fi

# What cannot be.
expect() { # PATTERN OPTION…
	local pattern=$1 got
	shift
	"$perfvisor" record "$@" >out 2>err </dev/null
	got=$?
	[ $got = 2 ] || complain "$*: exit status $got"
	says "$pattern"
}
for mode in 1 0K 1x x -1s 1ms 99999999999999999999s 999999999999d; do
	expect "--switch-output takes signal, a size .*, not '$mode'" "--switch-output=$mode"
done
expect "it excludes -o -" --switch-output -o -
expect "it excludes --switch-output=SIZE" --switch-output=1M --overwrite
expect "--switch-max-files belongs to --switch-output" --switch-max-files 3
expect "--switch-max-files must be at least 1" --switch-output --switch-max-files 0
exit $status
