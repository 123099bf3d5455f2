#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Filters take the samples that stock perf's options of the same name take: in `script` line by
# line, in `report` row by row, in `fold` and `convert` in number. The recordings are made here, of
# processes of this host.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
write_chains=$(realpath "$(dirname "$perfvisor")/tests/unit/write_chains")
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
read -r cpu other < <(python3 -c '
import os
cpus = sorted(os.sched_getaffinity(0))
print(cpus[0], cpus[-1])')
# Two of its programs run on CPUs of their own.
export cpu other
cat >workload.sh <<'WORKLOAD'
for i in 1 2 3; do
	ls -laR /usr/share/doc >/dev/null
	taskset -c "$cpu" perl -e 'my %h; $h{$_ % 997} += $_ for 1 .. 200000'
	(find /usr/include -name '*.h' | head -200 | xargs cat) | md5sum >/dev/null
	taskset -c "$other" awk 'BEGIN { for (i = 0; i < 300000; i++) s += i }'
done
WORKLOAD
perf record -q --sample-cpu -e cpu-clock -F 5000 -o plain sh workload.sh 2>/dev/null >&2
perf record -q --sample-cpu -e cpu-clock -F 2000 -g -o chains sh workload.sh 2>/dev/null >&2
perf record -q -e cpu-clock -F 5000 -o no-cpu true 2>/dev/null >&2

rows() { grep -v '^#' | grep . | sed 's/ *$//; s/  */ /g'; }
compared=0
tab=$'\t'
declare -A samples
for file in plain chains; do
	samples[$file]=$(perf script -i "$file" -F pid -G 2>/dev/null | grep -c .)
done

compare() { # RECORDING, OPTIONS OF BOTH
	local file=$1 all taken
	shift
	perf script --no-inline -i "$file" "$@" >perf.txt 2>/dev/null
	"$perfvisor" script -i "$file" "$@" >ours.txt 2>ours.err ||
		complain "$file $*: $(cat ours.err)"
	cmp -s perf.txt ours.txt ||
		complain "script $file $*: $(diff perf.txt ours.txt | head -n 5)"
	[ -s perf.txt ] || complain "$file $*: perf takes no sample: nothing was compared"
	all=${samples[$file]}
	taken=$(grep -c "^[^$tab]" perf.txt)
	"$perfvisor" report -i "$file" "$@" --json 2>/dev/null >ours.json
	python3 - "$all" "$taken" <<-'CHECK' || complain "$file $*: counts"
		import json, sys
		totals = json.load(open("ours.json"))["totals"]
		all_samples, taken = map(int, sys.argv[1:])
		assert 0 < taken < all_samples, sys.argv
		assert totals["samples"] == all_samples, (totals, sys.argv)
		assert totals["filtered_out"] == all_samples - taken, (totals, sys.argv)
	CHECK
	[ "$all" = "$taken" ] ||
		grep -q "$((all - taken)) of $all samples are filtered out" ours.err ||
		complain "script $file $*: $(cat ours.err), not $((all - taken)) of $all"
	compared=$((compared + 1))
}

compare_report() { # RECORDING, OPTIONS OF BOTH
	local file=$1
	shift
	for percentage in relative absolute; do
		perf report -i "$file" --stdio -g none --no-children -w 0,16 \
			--percentage $percentage "$@" 2>/dev/null | rows >perf.rows
		"$perfvisor" report -i "$file" -g none --no-children --percentage $percentage "$@" \
			2>ours.err | rows >ours.rows
		[ -s perf.rows ] && diff perf.rows ours.rows >differences ||
			complain "report $file $percentage $*: $(head -n 6 differences)" \
				"$(cat ours.err)"
	done
	case $* in --symbol-filter*) return ;; esac # perf counts those before it leaves rows out
	perf report -i "$file" --stdio -g none --no-children --percentage relative "$@" \
		2>/dev/null | grep -E '^# (Samples|Event count)' |
		sed 's/ \+of/ of/; s/ (time slices.*//' >perf.head
	"$perfvisor" report -i "$file" -g none --no-children "$@" 2>/dev/null |
		grep -E '^# (Samples|Event count)' >ours.head
	diff perf.head ours.head || complain "report $file $*: other sums"
}

# Times at which there are samples, however the workload was kept waiting: the first, the second,
# the middle, the last.
read -r first second middle last tenth < <(perf script -i plain -F time 2>/dev/null | tr -d ' :' |
	python3 -c '
import sys
times = sys.stdin.read().split()
middle = times[len(times) // 2]
share = (float(middle) - float(times[0])) / (float(times[-1]) - float(times[0]))
print(times[0], times[1], middle, times[-1], min(10, int(share * 10) + 1))')
at() { # SHARE: a second of the recording's clock
	awk -v first="$first" -v last="$last" -v share="$1" \
		'BEGIN { printf "%.6f", first + share * (last - first) }'
}
busy=$(perf script -i plain -F pid,tid -G 2>/dev/null |
	awk '{ n[$1]++ } END { for (p in n) print n[p], p }' |
	sort -rn | sed -n '1,3s/.* //p' | sed 's,/.*,,' | sort -u | paste -sd,)
thread=$(perf script -i plain -F tid -G 2>/dev/null | sort | uniq -c | sort -rn |
	awk '$2 > 0 { print $2; exit }')
function=$(perf script -i plain -F ip,sym -G --dsos '[kernel.kallsyms]' 2>/dev/null |
	grep -v '\[unknown\]' | awk '{ print $2 }' |
	sort | uniq -c | sort -rn | awk '{ print $2; exit }')
address=$(perf script -i plain -F ip 2>/dev/null | tr -d ' ' | sort | uniq -c | sort -rn |
	awk '{ print $2; exit }')

cases=(
	'--comms awk,nosuch' '--comm perl,ls' '-c nosuch,ls'
	"--pid $busy" "--tid $thread"
	"-C $cpu" "--cpu $cpu-$cpu"
	"-S $function,nosuch" "--symbols $function" "-S 0x$address"
	"--time $middle,$(at 0.95)" "--time ,$(at 0.5)" "--time $(at 0.5),"
	"--time $((tenth * 10 - 10))%-$((tenth * 10))%" '--time 0%-10%,30%-40%'
	"--time 10%/$tenth,10%/1" '--time 30%'
	'--time 50%-100%'
	"--comms ls,perl,cat --time 0%-99% -C $cpu,$other --dsos [kernel.kallsyms],[vdso]"
)
for options in "${cases[@]}"; do
	if [[ $cpu = "$other" && $options =~ ^(-C|--cpu) ]]; then
		echo 'skipped: --cpu, because there is one CPU only'
		continue
	fi
	for file in plain chains; do
		case $file:$options in
		chains:--time\ [0-9,]*.* | chains:*"$tenth"* | chains:*0x* | chains:*nosuch* | \
			chains:--[pt]id*)
			continue
			;;
		esac
		# shellcheck disable=SC2086
		compare $file $options
	done
	# perf shows no column of one value alone, and puts samples of other threads into the
	# rows of --pid and --tid.
	case $options in *--comm\ * | *0x* | --symbols* | --pid* | --tid*) continue ;; esac
	# shellcheck disable=SC2086
	compare_report plain $options
done
compare plain --time "$first,$second $middle,$last"
compare plain --dsos '[kernel.kallsyms]'
compare plain --dsos "libc.so.6,$(realpath "$(command -v perl)")"
compare_report plain --dsos '[kernel.kallsyms],libc.so.6'
compare_report plain -d '[kernel.kallsyms],[vdso]' -c ls,perl
compare_report plain --symbol-filter=do_
compare_report chains --comms ls,perl
[ $compared -ge 25 ] || complain "only $compared sets of options were compared with perf"

# perf: "File does not contain CPU events."
"$perfvisor" script -i no-cpu -C 0 >/dev/null 2>err.txt
[ $? = 1 ] && grep -q 'CPU' err.txt || complain "-C without CPUs in the samples: $(cat err.txt)"
for wrong in '--time 5' '--time x' '--time 10%-' '--time 20%-10%' '--cpu 3-1' '--pid 1,' \
	'--vcpu x' '--mode nothing' '--percentage half' '--time 5,4'; do
	# shellcheck disable=SC2086
	"$perfvisor" report -i plain $wrong >/dev/null 2>err.txt
	[ $? = 2 ] || complain "$wrong: $(cat err.txt)"
done

# fold and flamegraph count what script shows.
want=$(perf script -i chains --comms ls --dsos '[kernel.kallsyms]' -F period -G 2>/dev/null |
	awk '{ n += $1 } END { print n }')
got=$("$perfvisor" fold -i chains --comms ls --dsos '[kernel.kallsyms]' 2>/dev/null |
	awk '{ n += $NF } END { print n }')
[ -n "$want" ] && [ "$got" = "$want" ] || complain "fold: $got of $want"
"$perfvisor" flamegraph -i chains --comms ls --dsos '[kernel.kallsyms]' -o - >page.html 2>/dev/null
grep -q 'filtered out' page.html || complain 'the page does not say what is filtered out'

# Of guests, by what their recording was written with: period, VM, vCPU, command,
# functions with their mode.
"$write_chains" vm.data >written.txt
count() { # CONDITION ON written.txt, FILTER OPTIONS
	local condition=$1 want got
	shift
	want=$(awk -F '\t' "$condition { n += \$1 } END { print n + 0 }" written.txt)
	got=$("$perfvisor" fold -i vm.data "$@" 2>/dev/null |
		awk '{ n += $NF } END { print n + 0 }')
	[ "$want" -gt 0 ] && [ "$got" = "$want" ] || complain "$*: a period of $got, not $want"
	got=$("$perfvisor" report -i vm.data --no-children -g none --json "$@" 2>/dev/null |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["events"][0]["period"])')
	[ "$got" = "$want" ] || complain "report $*: a period of $got, not $want"
	got=$("$perfvisor" script -i vm.data -F period "$@" 2>/dev/null |
		awk '{ n += $1 } END { print n + 0 }')
	[ "$got" = "$want" ] || complain "script $*: a period of $got, not $want"
}
count '$2 == "db"' --vm db
count '$2 == "db" || $2 == "web <1>"' --vm db --vm 'web <1>'
count '$3 == 1' --vcpu 1
count '$2 != "[host]"' --vcpu 0-1
count '$2 == "web <1>" && $3 == 0' --vm 'web <1>' --vcpu 0,7
count '$4 == "server"' --comm server
count '$NF ~ /^guest/' --mode guest
count '$NF ~ /^host user/' --mode host
count '$NF ~ /^guest kernel/' --mode guest,kernel
count '$NF ~ / user/' --mode user
count '$NF ~ /^guest kernel (. )?vfs_read$/' -S vfs_read
count '$NF ~ /^guest kernel .*_read$/ && $3 == 1' --symbol-filter _read --vcpu 1
# convert: of one VM.
"$perfvisor" convert --native -i vm.data --vm 'web <1>' --symbols vfs_read -o native 2>err.txt ||
	complain "convert: $(cat err.txt)"
want=$(awk -F '\t' '$2 == "web <1>" && $NF ~ /vfs_read$/ { n += $1 } END { print n + 0 }' \
	written.txt)
got=$(perf script -i native -F period -G 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
[ "$want" -gt 0 ] && [ "$got" = "$want" ] || complain "convert: a period of $got, not $want"
# What is left out is counted: the parts still add up to all.
all=$("$perfvisor" report -i vm.data | sed -n 's/^# Totals: \([0-9]*\) samples.*/\1/p')
"$perfvisor" report -i vm.data --vm db --mode kernel >report.txt
grep -q "^# Totals: $all samples: .*, [0-9]* filtered out$" report.txt ||
	complain "totals with a filter: $(grep Totals report.txt)"
exit $status
