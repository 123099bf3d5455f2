#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor top` on a terminal: the browser over counts that change. What the cursor stands on,
# what is unfolded, the filter and the zoom stay when rows change places; every end leaves the
# terminal as it was. Counts are those that are written here.
. tests/cli/common.sh
. "$tests/tmux.sh"

# So many samples of each process, a long time after those of other files.
build() { # NAME SECOND COMM COUNT…
	local name=$1 second=$2 pid=10 i
	shift 2
	{
		echo "event type=1 config=0 sample=IP,TID,TIME,PERIOD"
		for ((i = 1; i <= $#; i += 2)); do
			echo "comm $((10 + (i + 1) / 2)) ${!i}"
		done
		for ((; $#; pid++)); do
			for ((i = 0; i < $2; i++)); do
				echo "sample pid=$((pid + 1)) ip=$(((pid + 1) * 4096))" \
					"time=$((second * 1000000000 + i * 1000)) period=1000000000"
			done
			shift 2
		done
	} | python3 "$tests/build_recording.py" "$name"
}
build first 1000 alpha 50 beta 30 zeta 15 gamma 5
build second 2000 alpha 0 beta 0 zeta 4000
build third 3000 alpha 0 beta 9000

top() { # ARGUMENTS…
	enter_command "clear; stty -a >before; $perfvisor top $*; echo status \$?; stty -a >after"
}
modes() { # FILE
	sed 's/rows [0-9]*; columns [0-9]*;//' "$1"
}
ends() { # STATUS
	shows "^status $1\$"
	shows '^ready>$'
	diff <(modes before) <(modes after) || complain "stty -a differs"
}
# A stream in parts.
stream() {
	rm -f fifo go parts
	mkfifo fifo go
	: >parts
	python3 "$tests/stream_recording.py" first second third <go >fifo 2>parts &
	exec 7>go
}
part() { # NUMBER
	local end=$((SECONDS + LIMIT_SECONDS))
	echo >&7
	until grep -q "part $1" parts; do
		[ $SECONDS -lt $end ] || { complain "part $1 is not read: $(cat parts)"; exit 1; }
		sleep 0.05
	done
}
end_stream() {
	exec 7>&-
	wait
}

# A file: its end, until q.
open_terminal 80 24
top -i first -d 100000 -n -s comm
shows '^100 samples in .*, cpu-clock *$'
shows '^0.0% guest kernel, 0.0% guest user, 100.0% host, 0.0% lost$'
shows '^ *50.00% +50   alpha'
shows '^ *30.00% +30   beta'
shows ' 1/4$'
press '?' End
shows '^w +wait'
press q Down
shows ' 2/4$'
press w
shows 'no more is to come'
press i
shows 'nothing is known about it but what is shown'
in_tmux resize-window -x 40 -y 24
shows '^0.0% guest kernel, 0.0% guest user,$'
shows '^100.0% host, 0.0% lost$'
in_tmux resize-window -x 80 -y 24
press q
ends 0
# As text, if that is asked for.
top -i first -d 100000 -n -s comm --stdio
shows '^# 100 samples in '
ends 0
top -i first --vm web
shows "no VM 'web'"
ends 1
for terminal in TERM=dumb 'TERM=vt100 LC_ALL=C NO_COLOR=1'; do
	# shellcheck disable=SC2086
	open_terminal 80 24 $terminal
	top -i first -d 100000 -s comm
	shows '^ *50.00% +alpha'
	[ $terminal = TERM=dumb ] || press q
	ends 0
done 2>/dev/null

# A stream: each row keeps its cursor and its place in what is unfolded.
open_terminal 80 24
stream
top -i fifo -s comm,sym
part 1
shows '^ *50.00% +alpha'
press Down p
shows '^ *50.00% \+ alpha'
press Down Enter
shows '^ *30.00% - beta'
shows '^ *30.00% +\[\.\] 0x0*c000'
shows ' 2/5$'
press / e t a Enter
shows "with 'eta'"
shows ' 1/2$'
press Enter Down Down
shows ' 3/3$'
part 2
shows '^ *9[0-9]\.[0-9]+% \+ zeta'
shows ' 1/3$'
shows '^ *[01]\.[0-9]+% - beta'
shows '^ *[01]\.[0-9]+% +\[\.\] 0x0*c000'
press z
shows 'Command zeta'
# What is shown waits, what comes is counted.
press Escape
hides 'Command zeta'
press w
shows ', PAUSED'
part 3
press Down
shows ' 2/'
screen | grep -qE '^ *9[0-9]\.[0-9]+% . zeta' || complain "what is paused changes: $(screen)"
press w
shows '^ *[67][0-9]\.[0-9]+% . beta|^ *(8|9)[0-9]\.[0-9]+% . beta'
hides 'PAUSED'
press C-z
shows 'Stopped'
enter_command fg
shows "with 'eta'"
press Z
shows ' 0/0$'
shows "with 'eta'"
# Its end is shown until the user goes.
end_stream
# The first key may come before it has noticed the end, and pauses then.
tries=0
until screen | grep -q 'no more is to come' || [ $((tries += 1)) -gt 100 ]; do
	press w
	sleep 0.5
done
shows 'no more is to come'
press C-c
shows '^ready>$'
is_sane

# Ended in the middle of it.
for key in q C-c; do
	stream
	top -i fifo -s comm
	part 1
	shows '^ *50.00% +alpha'
	press "$key"
	ends 0
	end_stream 2>/dev/null
done
for signal in TERM HUP; do
	stream
	top -i fifo -s comm
	part 1
	shows '^ *50.00% +alpha'
	kill -$signal "$(pgrep -P "$(in_tmux display-message -p '#{pane_pid}')" -f 'top -i fifo')"
	[ $signal = TERM ] && ends 0 || ends 129
	end_stream 2>/dev/null
done
# A stream that is none.
mkfifo other
(echo "something that is no recording" >other) &
top -i other
shows "^perfvisor: 'other'"
ends 1

# What a recorder says is on the terminal when that is as before.
top --vm a-vm-that-is-not-there
shows "^perfvisor: .*a-vm-that-is-not-there"
ends 1
exit $status
