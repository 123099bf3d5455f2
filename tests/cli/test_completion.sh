#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The completion script, loaded and asked as bash asks it, offers the commands, and for each
# command the options that its --help lists.
set -u
perfvisor=${PERFVISOR:-build/release/perfvisor}
status=0
complain() {
	echo "$1"
	status=1
}
eval "$("$perfvisor" completion)" || complain 'the script does not load'

# offered WORD… : what is offered for the last word
offered() {
	COMP_WORDS=(perfvisor "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_perfvisor
	printf '%s\n' "${COMPREPLY[@]}" | sort
}

commands=$("$perfvisor" help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p' | sort)
[ "$(offered '')" = "$commands" ] || complain "commands offered: $(offered '' | tr '\n' ' ')"
[ "$(offered help '')" = "$commands" ] || complain 'help does not offer the commands'
[ "$(offered ver)" = version ] || complain "'ver' gives $(offered ver)"
for command in $commands; do
	want=$({
		echo --help
		"$perfvisor" "$command" --help | sed -nE '/^Options:/,/^$/s/^ +(-., )?(--[a-z-]+).*/\2/p'
	} | sort)
	[ "$(offered "$command" --)" = "$want" ] ||
		complain "$command offers $(offered "$command" -- | tr '\n' ' '), not $(tr '\n' ' ' <<<"$want")"
done
exit $status
