#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands are those in perfvisor(1). Each has a manual page with exactly the options of its
# --help, about which groff prints no warnings.
set -u
. tests/manual.sh
perfvisor=${PERFVISOR:-build/release/perfvisor}
status=0
complain() {
	echo "$1"
	status=1
}
shown_options() { # COMMAND
	"$perfvisor" "$1" --help |
		sed -nE '/^Options:/,/^$/s/^ +(-., )?((-.|--[a-z-]+)( |\[=|$)).*/\1\3/p' |
		sed 's/,//; s/ *$//' | LC_ALL=C sort
}
mapfile -t commands < <(documented_commands)
[ ${#commands[@]} -ge 10 ] || complain "perfvisor(1) lists ${#commands[@]} commands"
diff <(printf '%s\n' "${commands[@]}" | sort) \
	<("$perfvisor" help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p' | sort) ||
	complain "'perfvisor help' lists (>) other commands than perfvisor(1) (<)"
count=0
for command in "${commands[@]}"; do
	if [ ! -f "docs/man/perfvisor-$command.1" ]; then
		complain "docs/man/perfvisor-$command.1 is missing"
		continue
	fi
	page=$(manual_page "$command")
	options=$(documented_options "$command")
	[ -z "$options" ] || count=$((count + $(wc -l <<<"$options")))
	diff <(cat <<<"$options") <(cat <<<"$(shown_options "$command")") ||
		complain "$command --help lists (>) other options than $page (<)"
	! grep -q '^\.so' "$page" ||
		complain "$page cannot be read where it is, before it is installed"
	for width in 60 78; do
		warnings=$(groff -man -ww -Tutf8 -rLL=${width}n -z "$page" 2>&1)
		[ -z "$warnings" ] || complain "$page, $width columns wide: $warnings"
	done
done
[ $count -ge 50 ] || complain "only $count options are documented"
exit $status
