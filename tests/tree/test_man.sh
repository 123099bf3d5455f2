#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every command has a manual page, the page names every option of the command's table, and
# groff has nothing to say about it.
set -u
perfvisor=${PERFVISOR:-build/release/perfvisor}
status=0
complain() {
	echo "$1"
	status=1
}
mapfile -t commands < <("$perfvisor" help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p')
[ ${#commands[@]} -ge 3 ] || complain "'perfvisor help' lists ${#commands[@]} commands"
for command in "${commands[@]}"; do
	page=docs/man/perfvisor-$command.1
	if [ ! -f "$page" ]; then
		complain "$page is missing"
		continue
	fi
	if grep -q '^\.so man1/perfvisor.1$' "$page"; then
		grep -q "perfvisor $command" docs/man/perfvisor.1 ||
			complain "perfvisor.1 does not speak of $command"
		page=docs/man/perfvisor.1
	fi
	text=$(sed 's/\\-/-/g; s/\\f[BIR]//g' "$page")
	while read -r option; do
		grep -qF -e "$option" <<<"$text" || complain "$page does not name $option"
	done < <("$perfvisor" "$command" --help | sed -nE '/^Options:/,/^$/s/.*(--[a-z-]+)( .*|$)/\1/p')
	warnings=$(groff -man -ww -Tutf8 -z "$page" 2>&1)
	[ -z "$warnings" ] || complain "$page: $warnings"
done
exit $status
