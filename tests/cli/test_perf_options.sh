#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/perf-options.md says of each option of perf's record, report, script, top, annotate and kvm
# stat report whether perfvisor has it: no option of the perf that is here is missing, and --help
# agrees. Of an option that is left out, the command says so, except stat.
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
set -u
table=docs/perf-options.md
status=0
complain() {
	echo "$*"
	status=1
}
command -v perf >/dev/null || { echo 'there is no perf here'; exit 77; }

names() { # the options in a text of help, -x and --word
	sed -nE 's/^ {2,8}((-., )?(--[a-zA-Z_-]+)|-.)([^a-zA-Z_,-].*|$)/\1/p' |
		tr -d ',' | tr ' ' '\n' | sort -u
}
rows() { # COMMAND: its lines of the table, "has|-x --word …"
	sed -n "/^## $1\$/,/^## /p" "$table" | grep '^| `' |
		sed -E 's/^\| ([^|]*) \| ([^|]*) \|.*/\2|\1/; s/[`,]//g'
}

refused() { # COMMAND OPTION: it is not an unknown one, and there is a hint
	"$perfvisor" "$1" "$2" </dev/null >said 2>&1
	grep -q "perf's option .* is not available" said && grep -q 'hint: .' said ||
		complain "$1 $2: $(head -n 2 said)"
}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
table=$(realpath "$table")
cd "$here" || exit 1

for command in record report script top annotate 'stat report'; do
	perfs_command=$command least=50
	case $command in
	annotate) least=40 ;;
	'stat report') perfs_command='kvm stat report' least=8 ;;
	esac
	# shellcheck disable=SC2086 # words
	perfs=$(perf $perfs_command -h 2>&1 | names)
	ours=$("$perfvisor" "${command%% *}" --help | names)
	[ "$(wc -l <<<"$perfs")" -ge $least ] ||
		complain "perf $perfs_command -h: $(wc -l <<<"$perfs") options"
	listed=$(rows "$command" | cut -d'|' -f2 | tr ' ' '\n' | sort)
	while read -r name; do
		grep -qxe "$name" <<<"$listed" || complain "$command: perf's $name is not listed"
	done <<<"$perfs"
	repeated=$(uniq -d <<<"$listed")
	[ -z "$repeated" ] || complain "$command: listed twice: $repeated"
	while IFS='|' read -r state options; do
		found=0
		for name in $options; do
			grep -qxe "$name" <<<"$perfs" || [ "$name" = --Latency ] ||
				complain "$command: perf has no $name"
			if grep -qxe "$name" <<<"$ours"; then
				found=$((found + 1))
				# A letter may mean something else here.
				[ "$state" = 'left out' ] && [[ $name = --* ]] &&
					complain "$command: $name is not left out"
			elif [ "$state" = has ]; then
				complain "$command: --help does not have $name"
			elif [ "$state" = 'left out' ] && [[ $command != *stat* ]]; then
				refused $command "$name"
			fi
		done
		case $state in
		has | 'left out') ;;
		differs) [ $found -ge 1 ] || complain "$command: --help has none of $options" ;;
		*) complain "$command: '$state' of $options" ;;
		esac
	done < <(rows "$command")
done
exit $status
