#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The columns of `perfvisor report`, its separator, widths and header are those of `perf report` of
# recordings that stock perf makes here.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0
complain() {
	echo "$1"
	status=1
}

perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }
cat >workload.sh <<'WORKLOAD'
ls -laR /usr/share/doc >/dev/null
perl -e 'my %h; $h{$_ % 997} += $_ for 1 .. 200000'
awk 'BEGIN { for (i = 0; i < 300000; i++) s += i }'
WORKLOAD
perf record -q -e cpu-clock -F 5000 -o plain sh workload.sh 2>/dev/null >&2
perf record -q --sample-cpu -e cpu-clock -F 2000 -o cpus sh workload.sh 2>/dev/null >&2
perf record -q -e cpu-clock -F 2000 -g -o chains sh workload.sh 2>/dev/null >&2

# Titles and rows; blanks at the end of a line, and lines of dots, are not compared.
table() {
	sed -n '/^# Event count/,$p' | sed '1d' | grep . |
		grep -v '^# \?\(\.\|(\|$\)\|no entry >=' | sed 's/ *$//'
}
compare() { # RECORDING, OPTIONS OF BOTH
	local file=$1
	shift
	perf report -i "$file" --stdio -g none "$@" 2>/dev/null | table >perf.txt
	"$perfvisor" report -i "$file" -g none "$@" 2>ours.err | table >ours.txt
	[ "$(wc -l <perf.txt)" -gt 3 ] ||
		complain "$file $*: perf shows $(wc -l <perf.txt) lines"
	# perf has callers above whom they call with -g caller alone, which shows chains.
	# Callers without a name are addresses, which perf has of the process and not of the file.
	[ "$file" = plain ] || for side in perf ours; do
		grep -v '\[[.k]\] \(0x\)\?[0-9a-f]\{16\}' $side.txt | LC_ALL=C sort >sorted &&
			mv sorted $side.txt
	done
	# perf has 000 for CPU 0.
	[ "$file" != cpus ] || for side in perf ours; do
		sed -E 's/ +/ /g; s/ 0+([0-9])/ \1/' $side.txt | LC_ALL=C sort >sorted &&
			mv sorted $side.txt
	done
	# perf cuts times after 12 characters, on machines that have been up for more than a day.
	if grep -qE '\b[0-9]{6,}\.[0-9]' perf.txt; then
		perl -i -pe 's/\b\d{6,}\.\d+/substr($&, 0, 12)/ge; s/ +/ /g' perf.txt ours.txt
	fi
	diff perf.txt ours.txt >differences ||
		complain "$file $*: $(head -n 8 differences) $(cat ours.err)"
}
compare plain -w 0,16
compare plain -n -w 0,0,16
compare plain -F overhead,sample,period,comm,sym -w 0,0,0,16
compare plain -F +sample,period -w 0,0,0,16
compare plain -F dso,overhead,sample
compare plain -w 10,4,6,26
compare plain -w 0,16,8
compare plain -s time --time-quantum 5ms
compare plain -F time,overhead,sample --time-quantum 5ms
compare plain -s time,dso
compare cpus -s cpu,dso
compare cpus -F cpu,overhead,dso
compare chains -n -w 0,0,0,16
compare chains -F overhead_children,overhead,period,sym
compare chains -w 0,0,6,6,26

# Trees: perf's line of dots and its blanks at the ends of lines are not compared.
compare plain --hierarchy -s comm,dso,sym
compare plain --hierarchy -s dso,comm -n
compare plain --hierarchy -s dso
compare plain --hierarchy -s comm,dso --percent-limit 3

# perf pads what it separates; its manual says that it does not.
separated() { # SEPARATOR, OPTIONS OF BOTH
	local separator=$1
	shift
	perf report -i plain --stdio -t "$separator" "$@" 2>/dev/null |
		grep . | grep -v '^#' |
		sed "s/ *[$separator] */$separator/g; s/^ *//; s/ *$//" >perf.txt
	"$perfvisor" report -i plain -t "$separator" "$@" | grep . | grep -v '^#' >ours.txt
	[ -s perf.txt ] && diff perf.txt ours.txt >differences ||
		complain "-t $separator $*: $(head -n 8 differences)"
}
separated , -n
separated '|' -F overhead,period,comm,dso
separated x -s dso,sym # x becomes a point where it is in names
"$perfvisor" report -i plain -t, -n >separated.txt
grep -q '^# Overhead,Samples,Command,Shared Object,Symbol$' separated.txt ||
	complain 'titles with -t'

# The header: test_header_perf compares it line by line.
"$perfvisor" report -i plain --header-only | grep -q Totals && complain '--header-only shows more'

for wrong in '-F nothing' '-F comm,' \
	'-t ab' '-t .' '-w x' '-w 1,' '-w 99999999' '--time-quantum 0' '--time-quantum 1h' \
	'--time-quantum x' '--hierarchy -t,' '--time-quantum 99999999999999s'; do
	# shellcheck disable=SC2086
	"$perfvisor" report -i plain $wrong >/dev/null 2>err.txt
	[ $? = 2 ] || complain "$wrong: $(cat err.txt)"
done
exit $status
