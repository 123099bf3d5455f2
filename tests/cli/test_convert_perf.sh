#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor convert --native`: for each sample, stock perf shows the same of the converted file as
# perfvisor shows of the guest in the original, and nothing of this machine. When folded, both equal
# what write_chains reports to have written. Other tools than perf can read the files next to it.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
written=$(dirname "$perfvisor")/tests/unit
tools=$(realpath tests/cli)
golden=$(realpath tests/golden/perfdata)
corpus=$(realpath tests/fuzz/corpus)
command -v perf >/dev/null || { echo 'perf is not installed'; exit 77; }
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export LC_ALL=C HOME=$here # no perfconfig, no build-id cache
status=0
complain() {
	echo "$1"
	status=1
}
same() { # WHAT LINES: want and got are equal, and have at least LINES lines
	[ "$(wc -l <want)" -ge "$2" ] || complain "$1: only $(wc -l <want) lines"
	diff want got >differences || {
		complain "$1: $(grep -c '^<' differences) of $(wc -l <want) lines differ:"
		head -n 12 differences
	}
}
refused() { # STATUS PATTERN OPTION…: convert fails so
	local wanted=$1 pattern=$2
	shift 2
	"$perfvisor" convert "$@" 2>err.txt
	[ $? = "$wanted" ] && grep -q "$pattern" err.txt || complain "convert $*: $(cat err.txt)"
}
convert() { # OPTION…: convert to the folder native
	"$perfvisor" convert --native -o native "$@" 2>convert.err ||
		complain "convert $*: $(cat convert.err)"
}
perf_script() {
	perf --buildid-dir native/debug script --no-inline -i native "$@" 2>perf.err
}
fields=comm,pid,tid,time,period,event,ip,sym,symoff,dso
# compare WHAT RECORDING PID LINES: compare the guest with the converted one, in perf and perfvisor
compare() {
	"$perfvisor" script -i "$2" -F $fields,machine_pid,vcpu 2>/dev/null |
		python3 "$tools/guest_samples.py" guest "$3" | sed 's/ cycles:G: / cycles: /' >want
	perf_script -F $fields,cpu | python3 "$tools/guest_samples.py" native >got
	same "$1: perf script" "$4"
	"$perfvisor" script -i native -F $fields,cpu 2>script.err |
		python3 "$tools/guest_samples.py" native >got
	same "$1: perfvisor script" "$4"
	grep -v 'kernel is shown as addresses' script.err && complain "$1: it complains"
}
rows() { # of a report, without headings
	grep -v '^#' | grep . |
		sed -E 's/^ +[0-9]/ &/; s/\[(guest\.)?kernel\.kallsyms\]/KERNEL/
			s/\[g\]/[k]/; s/\[u\]/[.]/; s/ +/ /g; s/ $//'
}

"$written/write_chains" vm.data programs >truth || exit 1
refused 2 'it has web <1> (5000), db (6000)' --native -i vm.data
refused 2 'hint: --native' -i vm.data
refused 1 "no VM 'none'" --native -i vm.data --vm none
[ -e perf.data.native ] && complain 'a failure leaves files behind'
by_name=(-g none --no-children --sort)
while IFS=: read -r name pid lines; do
	convert --vm "$name" -i vm.data
	compare "$name" vm.data "$pid" "$lines"
	grep "	$name	" truth | python3 "$tools/collapse.py" --truth >want
	perf_script | python3 "$tools/collapse.py" >got
	same "$name: perf script, folded" 1
	"$perfvisor" fold -i native 2>fold.err | sort >got
	same "$name: perfvisor fold" 1
	"$perfvisor" report -i vm.data --vm "$name" "${by_name[@]}" gcomm,dso,sym 2>/dev/null |
		rows >want
	"$perfvisor" report -i native "${by_name[@]}" comm,dso,sym 2>/dev/null | rows >got
	same "$name: perfvisor report" 1
	sed -i 's/\[extra\]/KERNEL/' want
	sort want -o want
	perf --buildid-dir native/debug report -i native --stdio "${by_name[@]}" comm,dso,sym \
		2>/dev/null | rows | sort >got
	same "$name: perf report" 1
done <<'VMS'
web <1>:5000:430
db:6000:112
VMS
[ -d native.old ] || complain 'the existing folder is not kept'
mkdir native.old/mine
touch native.old/debug/notes native.old/mine/letter
"$perfvisor" convert --native --vm db -i vm.data -o native 2>err.txt
[ $? = 1 ] && grep -q 'hint: remove' err.txt &&
	[ -f native.old/debug/notes ] && [ -f native.old/mine/letter ] ||
	complain "other files of the user are deleted: $(ls -R native.old)"
rm -rf native.old
refused 2 "'native' is the recording to be converted" --native -i native -o native
refused 1 'the recording has no VM' --native -i native -o again

# The other files of the recording, read with binutils.
elf=$(find native/debug/.build-id -name elf)
nm "$elf" >got 2>&1
echo '0000000000001000 T app_main' >want
same 'nm' 1
readelf -n "$elf" 2>&1 | grep -qE 'Build ID: [0-9a-f]{40}' || complain "$(readelf -n "$elf" 2>&1)"
# hotspot finds it by its path and through the header.
read -r build_id _ < <(readelf -n "$elf" | sed -n 's/.*Build ID: //p')
cmp "$elf" "native/debug/usr/bin/app/$build_id/elf" || complain "$(find native/debug)"
perf report --header-only -i native 2>/dev/null | grep 'missing features' | grep BUILD_ID &&
	complain 'the header has no build-ids'
perf buildid-list -i native 2>/dev/null | grep -q "^$build_id /usr/bin/app$" ||
	complain "$(perf buildid-list -i native)"
[ "$(readelf -lW native/kcore_dir/kcore 2>&1 | grep -c '^  LOAD .*0xffffffff81001000 ')" = 1 ] ||
	complain "kcore: $(readelf -lW native/kcore_dir/kcore 2>&1)"
grep -q '^ffffffff81001900 T a_function_with.*	\[extra\]$' native/kcore_dir/kallsyms ||
	complain 'kallsyms does not name a module'

# A path that would lead out of the folder.
sed 's,/usr/bin/app,/../../evil_,g' vm.data >evil.data
rm -rf native native.old
convert --vm 'web <1>' -i evil.data
grep -aq /../../evil_ native/data && [ -n "$(find native/debug/.build-id -name elf)" ] &&
	[ ! -e evil_ ] && [ "$(find . -name elf | wc -l)" = 1 ] ||
	complain "a path leads elsewhere: $(find . -name '*el[fv]*')"

# Hostile names do not affect other names. 88 samples certainly have this function.
"$written/write_chains" harm.data >/dev/null
convert --vm 5000 -i harm.data
perf_script -F ip,sym | grep ffffffff81 >got
[ "$(grep -c entry_SYSCALL_64 got)" = 88 ] && ! grep -q unknown got ||
	complain "hostile names: $(sort got | uniq -c)"

# Processes that come and go, threads, a reused pid, two events. Nothing is known about the kernel,
# and this machine's symbols must not be used for it.
"$written/write_example" example guest-processes >truth || complain 'write_example failed'
convert --vm first -i example
compare processes example 5000 250
awk '$7 == 5000 { print $1 "/" $2, $5, $9, $10 }' truth >want
perf_script -F comm,pid,tid,period,ip |
	sed -E 's,^ *(\S+) +(-?[0-9]+)/(-?[0-9]+) +([0-9]+) +([0-9a-f]+) *$,\2/\3 \4 \5 \1,' >got
same 'processes: as they were written' 250
# What two kinds of records report was lost once.
python3 "$tools/edit_recording.py" vm.data lost.data lost=7
"$perfvisor" report -i lost.data 2>/dev/null | grep -q ' 7 lost,' ||
	complain 'lost.data: not 7 lost'
for name in 'web <1>' db; do
	"$perfvisor" convert --native --vm "$name" -i lost.data -o lost 2>/dev/null
	perf script --show-lost-events -i lost 2>/dev/null | sed -n 's/.*RECORD_LOST[^ ]* //p'
	rm -rf lost
done >got
echo 'lost 7' >want
same 'lost samples' 1

# Samples of unknown threads are attributed to vCPU threads, with numbers that readers accept as
# tids.
"$perfvisor" convert --native --vm second -i example -o unknown 2>err.txt ||
	complain "$(cat err.txt)"
awk '$7 == 6000 && $1 == -1 { print "4194304/" 4194304 + $8, $5, "vCPU " $8 }' truth >want
perf script -i unknown -F comm,pid,tid,period 2>perf.err |
	sed -nE 's,^ *(vCPU [0-9]+) +([0-9]+/[0-9]+) +([0-9]+) *$,\2 \3 \1,p' >got
same 'threads that are not known' 20
perf report --header-only -i native 2>/dev/null >header.txt
for line in 'hostname : web1' 'os release : 6.1.0-example' 'nrcpus online : 2'; do
	grep -qF "# $line" header.txt || complain "the header has no '$line': $(cat header.txt)"
done
perf evlist -i native 2>/dev/null >got
printf '%s\n' cpu-clock cycles >want
same 'events' 2
[ -f native/kcore_dir/kallsyms ] && [ ! -s native/kcore_dir/kallsyms ] ||
	complain 'kallsyms of an unknown kernel is not empty'

# A recording by stock perf: one VM, so --vm is not needed; threads have the names of vCPU threads.
convert -i "$golden/kvm.data"
"$perfvisor" script -i "$golden/kvm.data" -F comm,pid,tid,time,ip 2>/dev/null |
	sed 's/  */ /g' >want
perf_script -F comm,pid,tid,time,ip | sed 's/  */ /g' >got
same "stock perf's recording" 50

# Any file gives an error or a recording, but never a crash.
converted=0 refused=0
for file in "$golden"/*.data "$corpus"/perfdata/* "$corpus"/profile/*; do
	rm -rf odd odd.old
	"$perfvisor" convert --native -i "$file" -o odd >odd.out 2>&1
	case $? in
	0) converted=$((converted + 1)) ;;
	1) refused=$((refused + 1)) ;;
	*) grep -q '^perfvisor: .*--vm' odd.out || complain "$file: $(cat odd.out)" ;;
	esac
done
[ $converted -ge 2 ] && [ $refused -ge 20 ] ||
	complain "$converted odd files were converted, $refused were rejected"
exit $status
