#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor top` of guests' samples as they come through a pipe: each belongs to the VM and the
# process that the writer says. And of a million processes: what is known of them is forgotten.
release=$(realpath "${PERFVISOR_RELEASE:-build/release/perfvisor}")
. tests/cli/common.sh
write_example=$(dirname "$perfvisor")/tests/unit/write_example
all_of_it="-d 100000 -E 100000"

"$write_example" - guest-processes >pipe.data 2>truth || complain "write_example failed"
# VM, name of the process and its pid; the writer calls the VMs first and second.
awk '{
	vm = $7 == 5000 ? "first" : $7 == 6000 ? "second" : "[host]"
	comm = $7 == "-" ? "[host]" : $10 == ":-1" ? "[unknown]" : $10
	pid = $7 == "-" || $1 == "-1" ? "-" : $1
	print vm, comm, pid
}' truth | sort | uniq -c | awk '{ print $2, $3, $4, $1 }' >want.txt
[ "$(wc -l <want.txt)" -ge 5 ] || complain "write_example wrote only: $(cat want.txt)"
# shellcheck disable=SC2086
for ((i = 0; i < 2; i++)); do
	# As a pipe, and as a file.
	if [ $i = 0 ]; then
		cat pipe.data | "$perfvisor" top -i - $all_of_it -s vm,gcomm,gpid -n
	else
		"$perfvisor" top -i pipe.data $all_of_it -s vm,gcomm,gpid -n
	fi 2>ours.err |
		awk '!/^#/ && NF { sum[$3 " " $4 " " $5] += $2 }
			END { for (key in sum) print key, sum[key] }' | sort >got.txt
	diff want.txt got.txt >differences ||
		complain "$(head -n 5 differences; cat ours.err)"
done
# A recorder that begins anew, as that of top does after a while: each part stands alone, with a
# screen of its own. What is behind them, and no recording, is an error.
rows() { # ARGUMENTS…
	"$perfvisor" top $all_of_it -s vm,gcomm,gpid -n "$@" 2>/dev/null |
		awk '!/^#/ && NF { print $3, $4, $5, $2 }'
}
cat pipe.data pipe.data pipe.data | rows -i - >got.txt
for ((i = 0; i < 3; i++)); do rows -i pipe.data; done >want.txt
diff want.txt got.txt >differences || complain "three in a row: $(head -n 5 differences)"
{ cat pipe.data; echo "something that is no recording"; } |
	"$perfvisor" top -i - $all_of_it >ours.txt 2>ours.err &&
	complain "something behind a recording is taken"
grep -q "is not a perf.data file" ours.err || complain "behind a recording: $(cat ours.err)"
# One VM, one side: as in report.
for filter in "--vm second" "--vm 5000 --vcpu 1" "--guest" "--host"; do
	mode=$filter
	[[ $mode != --guest && $mode != --host ]] || mode="--mode ${filter#--}"
	# shellcheck disable=SC2086
	"$perfvisor" report -i pipe.data -s vm,gcomm $mode 2>/dev/null | grep '%' >want.txt
	# shellcheck disable=SC2086
	cat pipe.data | "$perfvisor" top -i - $all_of_it -s vm,gcomm $filter 2>/dev/null |
		grep '%  ' >got.txt
	[ -s want.txt ] || complain "$filter: nothing to compare"
	diff want.txt got.txt >differences || complain "$filter: $(head -n 5 differences)"
done

# Names that would harm a terminal.
python3 - "$tests/build_recording.py" <<'HOSTILE'
import subprocess, sys
name = "\x1b[2J\x07"
text = f"""event type=1 config=0 sample=IP,TID,TIME,PERIOD
comm 10 x{name}y
mmap 10 0x400000 0x1000 0 /tmp/z{name}
sample pid=10 time=1000 ip=0x400010 period=1000
"""
subprocess.run([sys.executable, sys.argv[1], "hostile.data"], input=text.encode(), check=True)
HOSTILE
"$perfvisor" top -i hostile.data >ours.txt 2>&1
grep -q 100.00% ours.txt || complain "hostile: $(cat ours.txt)"
! LC_ALL=C grep -q '[^ -~	]' ours.txt || complain "hostile: $(cat -v ours.txt)"

# Whatever is forgotten between two screens, and begins anew, every sample is in one of them, and so
# is what was lost.
python3 "$tests/many_processes.py" 200000 lost >many.data
"$release" top -i many.data -d 600 -E 1 -s comm 2>/dev/null |
	awk '/^# [0-9]+ samples in / { sum += $2; screens++ } END { print screens, sum }' >got.txt
echo "6 $((200000 + 2000 + 3 * 2000))" >want.txt
cmp -s want.txt got.txt || complain "screens and samples: $(cat got.txt), not $(cat want.txt)"

# Ten times as many processes, names, files and addresses do not take more memory, and a process
# that was there all the time keeps its name. The release build: sanitizers keep what was freed, and
# the same code runs with them above.
peak_kb() { # ARGUMENTS…
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdin=open("many.data"), stdout=open("ours.txt", "w"), check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
for chains in "" chains; do
	peaks=()
	for count in 100000 1000000; do
		rm -f many.data
		mkfifo many.data
		# shellcheck disable=SC2086
		python3 "$tests/many_processes.py" $count $chains >many.data &
		# shellcheck disable=SC2086
		peaks+=("$(peak_kb "$release" top -i - -d 100000 -E 3 -s comm,dso,sym \
			${chains:+-g})")
		wait
		grep -q 'always  *always' ours.txt ||
			complain "$count $chains: 'always' is forgotten: $(cat ours.txt)"
	done
	[ "${peaks[0]}" -gt 10000 ] && [ "${peaks[1]}" -lt $((peaks[0] * 5 / 2)) ] ||
		complain "${chains:-flat}: ${peaks[*]} kB for 100,000 and 1,000,000 processes"
done
exit $status
