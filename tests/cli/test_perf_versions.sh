#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings by every perf that is here, the installed one and those in build/cache/perf
# (scripts/fetch-perfs): script and report print of them what the perf that made them prints.
. tests/cli/common.sh
cache=$OLDPWD/build/cache/perf
fields=comm,tid,time,event,period,ip,sym,symoff,dso

perf_record -e cpu-clock -o try.data true
# Versions of perf differ in what they call entries of PLTs.
gcc -O2 -fno-plt -fno-omit-frame-pointer -o workload "$tests/dwarf_workload.c" -ldl || exit 1

frames() { # addresses of frames are absolute in some versions and in a file in others
	sed -E 's/^[[:space:]]+//; s/[[:space:]]+/ /g; s/[^ ]*@plt(\+0x[0-9a-f]+)?/[unknown]/
		/^f{16} /b; s/^[0-9a-f]+ ([^ ]+ \()/0 \1/'
}

compare_samples() { # WHAT FILE
	"$perf" script --no-inline -F "$fields" -i "$2" 2>perf.err | frames >perf.txt
	"$perfvisor" script -F "$fields" -i "$2" 2>ours.err | frames >ours.txt
	[ ! -s ours.err ] || complain "$1: script: $(cat ours.err)"
	# With libunwind, perf looks up the byte before what a signal's handler returns to.
	grep -q __restore_rt perf.txt || sed -i 's/__restore_rt+0x0/[unknown]/' ours.txt
	if grep -q '^$' perf.txt; then # chains
		python3 "$tests/dwarf_chains.py" perf.txt ours.txt 50 >differences ||
			complain "$1: script: $(cut -c1-300 differences)"
		return
	fi
	[ "$(wc -l <perf.txt)" -ge 50 ] ||
		complain "$1: perf script: $(head -n 3 perf.txt perf.err)"
	cmp -s perf.txt ours.txt || complain "$1: script: $(diff perf.txt ours.txt | head -n 6)"
}

# perf 7.2 writes [.] of the kernel's functions that only call; the order of ties is arbitrary.
# Entries of PLTs have a name, another one in other versions of perf, or none.
rows() {
	grep -v '^#' | grep '%' | grep -vE '@plt|0x[0-9a-f]+ *$' |
		sed -E 's/ +/ /g; s/ \[[.k]\] / /; s/ $//' | sort
}

compare_rows() { # WHAT FILE ARGUMENTS OF perf report…
	"$perf" report --stdio --no-inline -i "$2" -w 0,99 -s comm,dso,sym "${@:3}" 2>/dev/null |
		rows >perf.txt
	"$perfvisor" report -i "$2" -s comm,dso,sym -g none 2>ours.err | rows >ours.txt
	[ ! -s ours.err ] || complain "$1: report: $(cat ours.err)"
	[ "$(wc -l <perf.txt)" -ge 5 ] || complain "$1: perf report: $(head -n 3 perf.txt)"
	cmp -s perf.txt ours.txt || complain "$1: report: $(diff perf.txt ours.txt | head -n 6)"
}

declare -A tried=([chains]=0 [dwarf]=0 [build-ids]=0 [group]=0 [pipe]=0)

record() { # FORM ARGUMENTS: makes FORM.data; false if this perf does not have all options
	local option
	for option in "${@:2}"; do
		case $option in
		-z | --*) grep -qE -- "(^| )${option%%=*}\b" options || return ;;
		esac
	done
	tried[$1]=$((tried[$1] + 1))
	"$perf" record -q "${@:2}" -o "$1.data" ./workload >/dev/null 2>record.err ||
		complain "$version: perf record ${*:2}: $(tail -n 1 record.err)"
}

try() { # PERF
	perf=$1
	version=$("$perf" --version)
	"$perf" record -h >options 2>&1
	if record chains -g -e cpu-clock -F 2000; then
		compare_samples "$version, chains" chains.data
		compare_rows "$version, chains" chains.data -g none
	fi
	if record dwarf --call-graph=dwarf,4096 -e cpu-clock:u -F 2000; then
		compare_samples "$version, dwarf" dwarf.data
	fi
	if record build-ids --buildid-mmap -e cpu-clock -F 2000; then
		compare_samples "$version, build-ids" build-ids.data
		compare_rows "$version, build-ids" build-ids.data
	fi
	# perf shows a group as one row with several columns.
	if record group -z -e '{cpu-clock,task-clock}:S' -F 1000; then
		compare_samples "$version, a compressed group" group.data
		compare_rows "$version, a compressed group" group.data --no-group
	fi
	"$perf" record -q -e cpu-clock -F 2000 -o - -- sh -c './workload >/dev/null' >pipe.data \
		2>record.err || complain "$version: perf record -o -: $(tail -n 1 record.err)"
	tried[pipe]=$((tried[pipe] + 1))
	compare_samples "$version, a pipe" pipe.data
	compare_rows "$version, a pipe" pipe.data
}

try perf
others=0
for suite in "$cache"/*/perf; do
	[ -x "$suite" ] || continue
	others=$((others + 1))
	try "$suite"
done
[ $others != 0 ] ||
	echo "skipped: other versions of perf, because 'make setup' could not fetch them"
for form in "${!tried[@]}"; do
	[ "${tried[$form]}" != 0 ] || complain "no perf has recorded $form"
done
exit $status
