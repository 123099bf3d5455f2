#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The browser of `perfvisor report` has the rows that stock `perf report` prints: shares, names,
# order, with and without children, and the callers below a row.
. tests/cli/common.sh
. "$tests/tmux.sh"
perf_record -e cpu-clock -c 200000 -g -o chains -- sh -c 'ls -laR /usr/share/doc; ls -laR /usr/lib'
perf_record -e cpu-clock -e task-clock -F 5000 -o two -- ls -laR /usr/share/doc

compare() { # WHAT PERFS-OUTPUT: with the screen
	screen >ours.txt
	python3 "$tests/browser_rows.py" "$2" ours.txt >differences 2>&1 ||
		complain "$1: $(head -n 20 differences)"
}
browse() { # ARGUMENTS…
	enter_command "clear; $perfvisor report $*"
	shows '\? help  q quit'
}
open_terminal 230 50

perf report -i chains --stdio -g none --children -w 0,0,16 2>/dev/null >children
perf report -i chains --stdio -g none --no-children -w 0,16 2>/dev/null >self
browse -i chains -g none
compare 'with children' children
press s
shows 'by self'
screen | sed -nE 's/^ *[0-9.]+% +([0-9.]+)% .*/\1/p' >shares
[ "$(wc -l <shares)" -ge 20 ] && sort -c -n -r shares 2>err.txt ||
	complain "by self: $(cat err.txt shares)"
press q
shows '^ready>$'
browse -i chains -g none --no-children
compare 'without children' self
press q
shows '^ready>$'

# A recording of two events.
for event in cpu-clock task-clock; do
	perf report -i two --stdio 2>/dev/null | sed -n "/of event '$event/,/^# Samples/p" >$event
done
browse -i two
shows 'samples of cpu-clock'
sed -i '/task-clock/,$d' cpu-clock
compare 'the first event' cpu-clock
press Tab
shows 'samples of task-clock'
compare 'the second event' task-clock
press q
shows '^ready>$'

# The callers of the row with the most samples of its own, as perf script has them.
perf script --no-inline -i chains -F comm,ip,sym 2>/dev/null >samples
browse -i chains --no-children
press Enter
shows '^ +[-+]? +[0-9.]+% [a-zA-Z_0-9.]+$'
screen >ours.txt
python3 "$tests/browser_rows.py" --callers samples ours.txt || status=1
press q
shows '^ready>$'
exit $status
