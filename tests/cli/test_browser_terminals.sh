#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The browser of `perfvisor report` on terminals of all kinds, and what ends it: signals, a terminal
# that is closed. The terminal is left as it was.
. tests/cli/common.sh
. "$tests/tmux.sh"
programs=$(dirname "$perfvisor")/tests/unit
"$programs/write_chains" vm.data >truth || exit 1

browse() { # ARGUMENTS…
	enter_command "clear; $perfvisor report -i vm.data --no-children $*"
	shows '^vm.data: [0-9]+ samples'
}
# The shell's child; the processes that it has started are its own children.
browser_pid() {
	pgrep -P "$(in_tmux display-message -p '#{pane_pid}')" -f 'report -i vm.data'
}
has_colours() {
	screen -e | grep -qE $'\033\\[[0-9;]*3[0-7](;|m)'
}

# Colours, UTF-8, names that want to control the terminal.
open_terminal 120 30 TERM=screen-256color LC_ALL=C.UTF-8
browse
shows '\[g\] \?\[31mred'
shows 'größe_€'
shows 'not_utf8_\\xff\\xfe'
has_colours || complain 'there are no colours'
in_tmux resize-window -x 40 -y 24
shows 'Symbol'
shows '^ +[0-9.]+% . .*vfs_read|vfs_r>'
in_tmux resize-window -x 12 -y 3
hides 'samples'
in_tmux resize-window -x 120 -y 30
shows '^vm.data: [0-9]+ samples'
press q
shows '^ready>$'
is_sane

open_terminal 80 24 TERM=screen-256color LC_ALL=C NO_COLOR=1
browse
shows 'gr\?\?e_\?'
! has_colours || complain 'there are colours with NO_COLOR'
press q
shows '^ready>$'
open_terminal 80 24 TERM=vt100 LC_ALL=C.UTF-8
browse
! has_colours || complain 'a vt100 has colours'
press Down Enter q
shows '^ready>$'

# Text where a cursor cannot be moved, where it is asked for, and in a pipe.
prints_text() { # OPTION
	enter_command "clear; $perfvisor report -i vm.data --no-children -g none \
--percent-limit 2 $1"
	shows '^# Totals: '
	shows '^ready>$'
}
for terminal in TERM=dumb TERM=nosuchterminal; do
	open_terminal 120 70 $terminal PERFVISOR_PAGER=cat
	prints_text ''
done
open_terminal 120 70 TERM=vt100 PERFVISOR_PAGER=cat
for option in --stdio -t, '| cat' '</dev/null'; do
	prints_text "$option"
done

# Stopped and continued.
open_terminal 80 24
browse
press Down
shows ' 2/[0-9]+$'
press C-z
shows 'Stopped'
is_sane
enter_command fg
shows ' 2/[0-9]+$'
press Down
shows ' 3/[0-9]+$'
press C-c
shows '^ready>$'
is_sane

# Ended from outside; in the middle of a question, too.
for signal in TERM HUP QUIT; do
	browse
	press /
	shows 'show only: _'
	kill -$signal "$(browser_pid)"
	shows '^ready>$'
	is_sane
done

# The terminal is closed.
browse
pid=$(browser_pid)
[ -n "$pid" ] || complain 'the browser is not found among the processes'
in_tmux kill-server
end=$((SECONDS + LIMIT_SECONDS))
while kill -0 "$pid" 2>/dev/null && [ $SECONDS -lt $end ]; do
	sleep 0.05
done
! kill -0 "$pid" 2>/dev/null || {
	complain 'the browser outlives its terminal'
	kill -KILL "$pid"
}
exit $status
