#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The key `a` in the browser of report shows the instructions of a function with the shares that
# stock `perf annotate` prints, and H goes to the hottest one.
. tests/cli/common.sh
. "$tests/tmux.sh"
gcc -O1 -g -DHOSTED -o hosted "$tests/annotate_workload.c" || exit 1
perf_record -e cpu-clock -F 5000 -o run.data -- ./hosted
perf annotate -i run.data --stdio -s mix 2>/dev/null >perf.txt
# "SHARE ADDRESS" of instructions with samples
rows() {
	sed -nE 's/^ *([0-9]+\.[0-9]+) +(: +)?([0-9a-f]+): +.*/\1 \3/p' | grep -v '^0\.00 '
}
rows <perf.txt >expected.txt
[ "$(wc -l <expected.txt)" -ge 4 ] || complain "perf's annotation: $(head -n 20 perf.txt)"
hottest=$(sort -n -r expected.txt | head -n 1)

open_terminal 120 70
enter_command "clear; $perfvisor report -i run.data -S mix,fill"
shows '\? help  q quit'
shows '\] mix'
press a
shows '^mix of hosted: [0-9]+ samples of cpu-clock, code of '
screen | rows >ours.txt
cmp -s expected.txt ours.txt || complain "shares: $(diff expected.txt ours.txt | head -n 6)"
screen | grep -q 'mix() annotate_workload.c:[0-9]' || complain "no source lines: $(screen)"
screen | grep -q 'annotate_workload.c:[0-9]*   [0-9]* *[a-z]' ||
	complain "no text of the source: $(screen)"
# Away from the hottest instruction, back to it, and where it is.
place() {
	screen | sed -nE 's|.*instruction ([0-9]+)/[0-9]+ *$|\1|p'
}
at=$(place)
press Home
shows 'instruction 1/'
press H
shows "instruction $at/"
line=$(sed -nE 's/^ +[0-9.]+ : +([0-9a-f]+): .*/\1/p' perf.txt | sed -n "${at}p")
share=$(awk -v line="$line" '$2 == line { print $1 }' expected.txt)
[ "$share" = "${hottest% *}" ] || complain "H goes to $line with $share %, not to $hottest"
# A jump is followed: to the address that it names.
jump=$(sed -nE 's/^ +[0-9.]+ : +[0-9a-f]+: +j[a-z]+ +([0-9a-f]+) <mix.*/\1/p' perf.txt | head -n 1)
number=$(sed -nE 's/^ +[0-9.]+ : +([0-9a-f]+): .*/\1/p' perf.txt | grep -n "^$jump\$" | cut -d: -f1)
press Home
until screen | grep -qE "instruction $(sed -nE 's/^ +[0-9.]+ : +[0-9a-f]+: +(.*)/\1/p' perf.txt |
	grep -nE '^j[a-z]+ .*<mix' | head -n 1 | cut -d: -f1)/"; do
	press Down
	sleep 0.1
done
press Right
shows "instruction $number/"
# The ways back, to the rows.
for key in q Left Enter; do
	press "$key"
	shows '\? help  q quit'
	press a
	shows '^mix of hosted'
done
in_tmux resize-window -x 40 -y 6
shows '^mix of hosted'
in_tmux resize-window -x 120 -y 70
press q
shows '\? help  q quit'
press q
shows '^ready>$'
is_sane
exit $status
