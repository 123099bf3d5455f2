#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stock perf reads recordings of our writer: every sample as it was written, with its VM and vCPU,
# the features, guest symbols below --guestmount; and the file of a killed recorder. The truth is
# what tests/unit/perfdata/write_example.c reports to have written.
set -u
perfvisor=${PERFVISOR:-build/release/perfvisor}
write_example=$(dirname "$perfvisor")/tests/unit/write_example
command -v perf >/dev/null || { echo 'perf is not installed'; exit 77; }
[ -x "$write_example" ] || { echo "$write_example is not built"; exit 1; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export HOME=$folder # no perfconfig, no build-id cache
status=0
complain() {
	echo "$1"
	status=1
}

write() { # write NAME MODE: write the recording NAME.data and the truth NAME.truth
	"$write_example" "$folder/$1.data" "$2" >"$folder/$1.truth" ||
		complain "$2: write_example failed"
}

# The samples that perf script shows, in the format and order of the truth.
perf_samples() {
	local fields='([0-9]+)/([0-9]+) +\[0*([0-9]+)\] +([0-9.]+): +([0-9]+) +(\S+): +([0-9a-f]+)'
	perf script -i "$1" --ns -F pid,tid,cpu,time,period,event,ip,machine_pid,vcpu \
		2>"$folder/warnings" |
		sed -E 's/^ *VM: *([0-9]+) VCPU: *0*([0-9]+) /\1 \2 /; t; s/^/- - /' |
		sed -E "s,^(\S+ \S+) +$fields\$,\2 \3 \4 \5 \6 \7 \1 \8,"
}

same_samples() { # same_samples NAME
	perf_samples "$folder/$1.data" >"$folder/$1.perf"
	[ -s "$folder/$1.truth" ] || complain "$1: no samples were written"
	diff -u "$folder/$1.truth" "$folder/$1.perf" ||
		complain "$1: perf script shows other samples"
	grep -iE 'unknown|unprocessable|not present|out of order|invalid|property terminated' \
		"$folder/warnings" && complain "$1: perf warns"
}

wants() { # wants WHAT PATTERN <<<TEXT
	grep -qE -- "$2" || complain "$1: nothing matches '$2'"
}

write whole finish
same_samples whole
[ "$(wc -l <"$folder/whole.truth")" = 450 ] || complain 'write_example wrote other than 450 samples'

header=$(perf report --header-only -I -i "$folder/whole.data" 2>&1)
uname=$(uname -n)
for line in "hostname : $uname" "os release : $(uname -r)" 'perf version : perfvisor [0-9.]+' \
	"arch : $(uname -m)" "nrcpus online : $(nproc --all)" 'nrcpus avail : [0-9]+' \
	"total memory : $(awk '/MemTotal/{print $2}' /proc/meminfo) kB" \
	'cmdline : perfvisor record -e cpu-clock' \
	'event : name = cpu-clock, .*id = \{ 1, 2, 3, 4 \}, .*type = 1' \
	'event : name = cycles:G, .*id = \{ 5, 6 \}.*exclude_host = 1' \
	'time of first sample : 1000\.000000$' 'time of last sample : 1000\.449000$'; do
	wants header "^# $line" <<<"$header"
done
if grep -q '^model name' /proc/cpuinfo; then
	wants header "^# cpudesc : \S" <<<"$header"
else
	echo 'skipped: the name of the CPU, because /proc/cpuinfo has none'
fi
perf buildid-list -i "$folder/whole.data" |
	wants buildid-list '^abcd010203040506070809[0-9a-f]{18} /usr/bin/example-host$'

# Counts per event, separately for host, guest kernel and guest user, with every kind of report.
by_mode() { # by_mode LETTER FILE: samples of that level ([g] …), from the column of counts
	awk -v level="[$1]" '$3 == level { n += $1 } END { print n + 0 }'
}
report() { # report COMMAND…: rows "COUNT COMM [LEVEL] …"
	"$@" -i "$folder/whole.data" --stdio -n -F sample,sym 2>&1 | sed 's/^\( *[0-9]*\) /\1 - /'
}
for command in 'perf report' 'perf kvm --guest --host report'; do
	rows=$(report $command)
	guest_kernel=$(by_mode g <<<"$rows")
	guest_user=$(by_mode u <<<"$rows")
	host=$(by_mode . <<<"$rows")
	want="$(awk '$9 ~ /^f/' "$folder/whole.truth" | wc -l) $(awk '$9 !~ /^f/ && $7 != "-"' \
		"$folder/whole.truth" | wc -l) $(awk '$7 == "-"' "$folder/whole.truth" | wc -l)"
	[ "$guest_kernel $guest_user $host" = "$want" ] ||
		complain "$command counts $guest_kernel $guest_user $host samples, not $want"
done
rows=$(report perf kvm --guest report)
[ "$(by_mode g <<<"$rows") $(by_mode . <<<"$rows")" = "$(awk '$9 ~ /^f/' "$folder/whole.truth" |
	wc -l) 0" ] || complain 'perf kvm --guest report counts other than the guest samples'
perf report -i "$folder/whole.data" --stdio -F sample,comm,pid 2>&1 |
	wants 'comm of a vCPU' 'CPU 1/KVM +6002:CPU 1/KVM'
perf report -i "$folder/whole.data" --stdio --sort sym 2>&1 | grep 'kptr_restrict' &&
	complain 'perf warns of a missing kernel map'
perf script -i "$folder/whole.data" --show-lost-events 2>&1 | wants 'lost records' 'lost 7$'

# Each guest has its own symbols.
for pid in 5000 6000; do
	mkdir -p "$folder/mount/$pid/proc"
	: >"$folder/mount/$pid/proc/modules"
	printf '%s\n' 'ffffffff81000000 T _text' 'ffffffff81000000 T _stext' \
		"ffffffff81001000 T first_of_$pid" "ffffffff81002000 T second_of_$pid" \
		'ffffffff81003000 T _etext' >"$folder/mount/$pid/proc/kallsyms"
done
write maps guest-maps
same_samples maps
symbols=$(perf kvm --guest --guestmount="$folder/mount" report -i "$folder/maps.data" --stdio \
	-n -F sample,sym 2>&1 | awk '$2 == "[g]" { print $1, $3 }' | sort)
want=$(awk '$9 ~ /^f/ { print ($9 ~ /1002...$/ ? "second" : "first") "_of_" $7 }' \
	"$folder/maps.truth" | sort | uniq -c | awk '{ print $1, $2 }' | sort)
[ "$symbols" = "$want" ] || complain "guest symbols: $symbols; wanted: $want"

# Guest samples with the pid and tid of guest processes: perf shows the guest's comm and the file
# that is mapped in the guest, even if two guests have the same pid, or if a pid is reused.
write processes guest-processes
same_samples_of_processes() {
	local fields='(\S+) +(\S+) +([0-9-]+)/([0-9-]+) +([0-9a-f]+) \((.*)\)'
	perf script -i "$folder/processes.data" -F comm,pid,tid,ip,dso,machine_pid \
		2>"$folder/warnings" |
		sed -E 's/^ *VM: *([0-9]+) /\1 /; t; s/^/- /' |
		sed -E "s,^$fields\$,\3 \4 \1 \5 \2 \6," >"$folder/processes.perf"
	awk '{ print $1, $2, $7, $9, $10, $11 == "-" ? "[unknown]" : $11 }' \
		"$folder/processes.truth" |
		diff -u - "$folder/processes.perf" || complain 'perf names other guest processes'
}
same_samples_of_processes
[ "$(awk '{ print $10 }' "$folder/processes.truth" | sort -u | wc -l)" = 8 ] ||
	complain 'write_example wrote other than 8 comms'
perf report -i "$folder/processes.data" --stdio -F sample,comm,dso,pid 2>&1 |
	wants 'perf report of a guest process' ' 25 +editor +editor +321:editor'

# A recorder that was killed: the file has what was flushed, and nothing later; perfvisor knows the
# VMs' names, and says that the recording was cut off.
for mode in kill kill-late; do
	write $mode $mode
	same_samples $mode
	"$perfvisor" report -i "$folder/$mode.data" --sort vm >"$folder/vms" 2>&1
	wants "the VMs of $mode" '^ .* first$' <"$folder/vms"
	wants "the VMs of $mode" '^ .* second$' <"$folder/vms"
	wants "$mode" "recording '.*' was cut off at $(date +%Y)-.*, [0-9.]+ s after it began" \
		<"$folder/vms"
	wants "the header of $mode" '^# Command line: perfvisor record -e cpu-clock$' <"$folder/vms"
done
"$perfvisor" report -i "$folder/processes.data" 2>&1 | grep 'cut off' &&
	complain 'a recording that was finished was not cut off'

# Compressed records.
write compressed compressed
same_samples compressed
perf report --header-only -i "$folder/compressed.data" 2>&1 |
	wants 'header of compressed' '^# compressed : Zstd, level = 1, ratio = [0-9]+$'
perf report -i "$folder/compressed.data" --stats 2>/dev/null |
	wants 'compressed records' '^ +COMPRESSED events: +[1-9]'
grep -aq 'hostthread' "$folder/compressed.data" && complain 'records are not compressed'
[ "$(stat -c %s "$folder/compressed.data")" -lt $(($(stat -c %s "$folder/processes.data") / 2)) ] ||
	complain 'what is compressed is not smaller'
write compressed-kill compressed-kill
"$perfvisor" script -i "$folder/compressed-kill.data" -F ip 2>"$folder/warnings" | grep -c . |
	wants 'samples of a compressed recording that was cut off' '^450$'
wants 'compressed and cut off' 'was cut off at ' <"$folder/warnings"

# The pipe form: what perf and perfvisor say of it is what they say of the file.
piped() { # piped MODE: the recording MODE.pipe, the truth MODE.truth
	"$write_example" - "$1" >"$folder/$1.pipe" 2>"$folder/$1.truth" ||
		complain "$1: no pipe was written"
}
for mode in finish kill compressed; do
	piped $mode
	# What perf reads from a pipe.
	perf_samples - <"$folder/$mode.pipe" >"$folder/$mode.perf"
	[ -s "$folder/$mode.truth" ] || complain "$mode: no samples were written to the pipe"
	diff -u "$folder/$mode.truth" "$folder/$mode.perf" ||
		complain "$mode: perf script shows other samples"
	grep -iE 'unknown|unprocessable|not present|out of order|invalid|property terminated' \
		"$folder/warnings" && complain "$mode: perf warns of the pipe"
done
header=$(perf report --stdio --header -i - <"$folder/finish.pipe" 2>&1)
for line in "hostname : $uname" "os release : $(uname -r)" 'perf version : perfvisor [0-9.]+' \
	"arch : $(uname -m)" 'cmdline : perfvisor record -e cpu-clock' \
	'time of first sample : 1000\.000000$' 'time of last sample : 1000\.449000$'; do
	wants 'header of the pipe' "^# $line" <<<"$header"
done
perf buildid-list -i - <"$folder/finish.pipe" 2>/dev/null |
	wants 'buildid-list of the pipe' \
		'^abcd010203040506070809[0-9a-f]{18} /usr/bin/example-host$'
piped guest-processes
same_as_file() { # same_as_file COMMAND…: with -i FILE it prints what it prints of the pipe
	"$@" -i "$folder/processes.data" 2>"$folder/warnings" |
		grep -v '^# Recording' >"$folder/of_file"
	"$@" -i - <"$folder/guest-processes.pipe" 2>>"$folder/warnings" |
		grep -v '^# Recording' >"$folder/of_pipe"
	[ -s "$folder/of_file" ] || complain "$*: nothing"
	diff -u "$folder/of_file" "$folder/of_pipe" || complain "$*: other than of the file"
	grep -v 'name them with --guestkallsyms' "$folder/warnings" && complain "$*: warns"
}
same_as_file "$perfvisor" report --sort vm,gcomm,dso,sym
same_as_file "$perfvisor" script
"$perfvisor" report --sort vm -i - <"$folder/kill.pipe" 2>&1 |
	wants 'a pipe that broke off' 'was cut off at '

# An existing file is kept.
cp "$folder/whole.truth" "$folder/older.truth"
write whole finish
mv "$folder/whole.data.old" "$folder/older.data"
same_samples older
exit $status
