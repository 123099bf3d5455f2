#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# chains_host.sh SECONDS WANTED OPTION… in the lab's host: record guest1's call chains with OPTIONs
# for SECONDS, or longer until the recording has what is WANTED (record_known.sh) and what all
# recordings need. Write it to $OUT, with the data that check_chains.py and similar scripts compare
# it with.
set -u
. /root/record_known.sh
guest=/run/lab/guest1
seconds=$1 wanted=$2
shift 2
# More samples than the checks need, because their regular expressions match whole chains.
record_known "$seconds" /tmp/chains -g -F 997 "$@" <<END || exit
130 ^user7525 (hot_[ab]|main) _start of ^user7525 (hot_[ab]|main)
150 ^reader chacha_
40 known_process_leaf
40 known_masked_leaf
40 known_deep_leaf
150 known_fault_leaf
80 known_timer_leaf
$wanted
END
# The host's names are available only in the host.
[ $# = 0 ] || perfvisor script -i /tmp/chains -F comm,pid,ip,sym >"$OUT/host_script" || exit
record_known 1 /tmp/kernel_only -g --kernel-only <<<'100 .' || exit
cp /tmp/chains /tmp/kernel_only $guest/pid $guest/kallsyms $guest/modules "$OUT/"
address() { awk -v name="$1" '$3 == name { print $1; exit }' $guest/kallsyms; }
page() { printf '%x' $((0x$1 & ~0xfff)); }
# The results of the guest's own unwinder: 96000 bytes of the module known_chains.
traces=$(page "$(address known_traces)")
ranges=("$OUT/known_traces" "$traces" "$(printf '%x' $((0x$traces + 102400)))")
# The code of the kernel and its modules, in files named after their start addresses.
start=$(page "$(address _stext)")
ranges+=("$OUT/code.$start" "$start" "$(address _etext)")
while read -r _ size _ _ _ start _; do
	start=${start#0x}
	ranges+=("$OUT/code.$start" "$start" "$(printf '%x' $((0x$start + size)))")
done <$guest/modules
guest_bytes guest1 "${ranges[@]}"
