# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real terminal for tests, in tmux; a shell with job control runs in it. Sourced after common.sh.
# Nothing here sleeps for a time that was guessed: what must appear on the screen is waited for.
LIMIT_SECONDS=60 # for something to appear: the machine may be busy
command -v tmux >/dev/null || { echo "tmux is not installed: 'make setup' does it"; exit 77; }

in_tmux() { # COMMAND ARGUMENTS…
	tmux -S "$here/tmux" -f /dev/null "$@"
}

# A terminal of COLUMNS x ROWS, in which variables are set as env does it.
open_terminal() { # COLUMNS ROWS [NAME=VALUE…]
	local columns=$1 rows=$2
	shift 2
	in_tmux kill-server 2>/dev/null
	rm -f "$here/tmux"
	in_tmux new-session -d -x "$columns" -y "$rows" \
		"env PS1='ready> ' HISTFILE= $* bash --norc --noprofile -i"
	in_tmux set-option -g status off
	in_tmux resize-window -x "$columns" -y "$rows"
	shows '^ready>$'
}

screen() {
	in_tmux capture-pane -p "$@"
}

# Wait until a line of the screen, without blanks at its end, matches. The test ends if none does.
shows() { # PATTERN
	local end=$((SECONDS + LIMIT_SECONDS))
	until screen | grep -qE -e "$1"; do
		[ $SECONDS -lt $end ] || {
			complain "the screen does not show '$1':"
			screen
			exit 1
		}
		sleep 0.05
	done
}

# Wait until no line of the screen matches.
hides() { # PATTERN
	local end=$((SECONDS + LIMIT_SECONDS))
	while screen | grep -qE -e "$1"; do
		[ $SECONDS -lt $end ] || {
			complain "the screen still shows '$1':"
			screen
			exit 1
		}
		sleep 0.05
	done
}

press() { # KEY… as tmux calls them
	in_tmux send-keys "$@"
}

enter_command() { # TEXT: for the shell
	in_tmux send-keys -l "$1"
	press Enter
}

# The shell has the terminal again, as it was.
is_sane() {
	enter_command 'clear; stty -a | grep -oE -e "-?(icanon|echo|isig|opost)\>" | xargs'
	shows '^opost isig icanon echo$|^isig icanon echo opost$'
}
trap 'in_tmux kill-server 2>/dev/null; rm -rf "$here"' EXIT
