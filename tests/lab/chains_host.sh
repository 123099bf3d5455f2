#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# chains_host.sh OPTION… in the lab's host: call chains of guest1 by record with the OPTIONs, and what
# check_chains.py and its like hold them against, into $OUT.
set -u
. /root/record_known.sh
guest=/run/lab/guest1
record_known -g --duration 7 -F 997 "$@" -o /tmp/chains || exit
perfvisor script --max-stack 1000 -i /tmp/chains -F comm,pid,ip,sym >"$OUT/script" || exit
perfvisor report -i /tmp/chains >"$OUT/report" || exit
if [ $# = 0 ]; then
	fields=comm,pid,tid,time,period,ip,sym,symoff,dso
	perfvisor script --max-stack 1000 -i /tmp/chains -F $fields,machine_pid,vcpu >"$OUT/as_guest" || exit
	perfvisor convert --native -i /tmp/chains -o /tmp/native || exit
	perf --buildid-dir /tmp/native/debug script --max-stack 1000 --no-inline -i /tmp/native -F $fields,cpu \
		>"$OUT/as_native" || exit
else # of the host, too
	perf script -i /tmp/chains -F comm,pid,ip,sym >"$OUT/perf_script" 2>/dev/null || exit
fi
record_known -g --kernel-only --duration 1 -o /tmp/kernel_only || exit
perfvisor script -i /tmp/kernel_only -F comm,pid,ip >"$OUT/kernel_only" || exit
cp /tmp/chains $guest/pid $guest/kallsyms $guest/modules "$OUT/"
address() { awk -v name="$1" '$3 == name { print $1; exit }' $guest/kallsyms; }
page() { printf '%x' $((0x$1 & ~0xfff)); }
# What the guest's own unwinder said, 96000 bytes of the module known_chains.
traces=$(page "$(address known_traces)")
ranges=("$OUT/known_traces" "$traces" "$(printf '%x' $((0x$traces + 102400)))")
# Code, each in a file that is named by where it begins: the kernel's, and modules'.
start=$(page "$(address _stext)")
ranges+=("$OUT/code.$start" "$start" "$(address _etext)")
while read -r _ size _ _ _ start _; do
	start=${start#0x}
	ranges+=("$OUT/code.$start" "$start" "$(printf '%x' $((0x$start + size)))")
done <$guest/modules
guest_bytes guest1 "${ranges[@]}"
