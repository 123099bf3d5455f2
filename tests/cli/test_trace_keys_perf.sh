#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# report --sort and -F with what tracepoints say and with their fields: the rows, shares and numbers
# of samples of stock perf.
. tests/cli/common.sh

perf_record -a -g -o trace.data -e sched:sched_switch,sched:sched_wakeup,cpu-clock \
	bash -c 'cp "$(command -v sleep)" "blank one"; cp "blank one" "blank two"
		for i in 1 2 3 4 5 6 7 8; do
			sleep 0.01; "./blank one" 0.01; "./blank two" 0.01; ls / | cat >/dev/null
		done'

# Where an event lacks the field, perf has no column, and we have "-" in it: those are left out. Of
# names with blanks, perf prints the first word.
rows() {
	awk -F';' -v columns="$1" '!/^#/ && NF == columns && $NF !~ /^ *(-|N\/A) *$/ {
		for (i = 1; i <= NF; i++) {
			gsub(/^ +| +$/, "", $i)
			if ($i !~ /=/)
				sub(/ .*/, "", $i)
			gsub(/ /, "", $i)
			line = (i == 1 ? "" : line ";") $i
		}
		print line
	}' | sort
}

compare() { # MINIMUM COLUMNS OPTION…
	# without widths, perf cuts what is longer than the texts that it has seen until then
	perf report -i trace.data --stdio --no-children -g none -t';' -w 0,0,999,999 \
		"${@:3}" 2>perf.err |
		rows "$2" >perf.txt
	"$perfvisor" report -i trace.data --no-children -g none -t';' "${@:3}" 2>ours.err |
		rows "$2" >ours.txt
	[ "$(wc -l <perf.txt)" -ge "$1" ] || complain "${*:3}: perf: $(head -n 3 perf.txt perf.err)"
	cmp -s perf.txt ours.txt ||
		complain "${*:3}: $(diff perf.txt ours.txt | head -n 6; head -n 3 ours.err)"
}

compare 20 3 -n --sort trace
compare 3 3 -n --sort next_pid
compare 3 3 -n --sort sched:sched_switch.next_comm
compare 2 3 -n --sort sched_switch.prev_state
compare 2 3 -n --sort sched_wakeup.comm
compare 3 4 -n --sort prev_comm,next_comm
compare 20 4 -n --sort comm,trace

# Names that differ after a blank are different.
"$perfvisor" report -i trace.data --no-children -g none -s next_comm >ours.txt
grep -q ' blank one *$' ours.txt && grep -q ' blank two *$' ours.txt ||
	complain "names with blanks: $(grep blank ours.txt)"

# perf has these keys in --sort alone.
"$perfvisor" report -i trace.data --no-children -g none -t';' -F overhead,sample,next_comm \
	2>ours.err | rows 3 >fields.txt
compare 3 3 -n --sort next_comm
cmp -s fields.txt perf.txt || complain "-F: $(diff perf.txt fields.txt | head -n 6; cat ours.err)"

# More fields than there is room for, and words that are no field.
fails() { # WORDS OPTION…
	"$perfvisor" report -i trace.data "${@:2}" >out 2>err
	[ $? = 2 ] && grep -q -e "$1" err || complain "${*:2}: $(head -n 3 err)"
}
fails 'at most 6 fields' --sort \
	prev_comm,prev_pid,prev_prio,prev_state,next_comm,next_pid,next_prio,target_cpu
fails "unknown key 'nosuch'" --sort nosuch
fails "unknown key 'sched_wakeup.next_pid'" --sort sched_wakeup.next_pid
fails "unknown key 'sched:sched_switch.'" -F sample,sched:sched_switch.

"$perfvisor" report -i trace.data --json --sort next_comm,vm >out.json 2>/dev/null
python3 - out.json <<'CHECK' || complain "JSON: $(head -c 300 out.json)"
import json, sys
rows = json.load(open(sys.argv[1]))["events"][0]["rows"]
assert rows and all(isinstance(row["next_comm"], str) for row in rows), rows[:2]
CHECK

# Without a recording, both are said: the word may be a field of it.
mkdir empty
(cd empty && "$perfvisor" report --sort nosuch 2>err
 [ $? = 2 ] && grep -q "'nosuch' is no key" err && grep -q 'there is no recording' err) ||
	complain "no recording: $(cat empty/err)"
(cd empty && "$perfvisor" report --sort comm,trace 2>err
 [ $? = 1 ] && ! grep -q 'no key' err) || complain "no recording, but keys: $(cat empty/err)"
for wrong in '--percent-limit x' '--percentage x' '--time-quantum x' '-g x' '-w x' '-t xx'; do
	(cd empty && "$perfvisor" report $wrong 2>err
	 [ $? = 2 ]) || complain "$wrong is not checked without a recording: $(cat empty/err)"
done
for command in report diff; do
	"$perfvisor" "$command" -t $'\e' 2>err
	[ $? = 2 ] && grep -q "^perfvisor: -t takes one character" err ||
		complain "$command takes a control character to separate columns: $(cat err)"
	"$perfvisor" "$command" --percent-limit 101 2>err
	[ $? = 2 ] && grep -q "takes a percentage, not '101'" err || complain "$command: $(cat err)"
done
exit "$status"
