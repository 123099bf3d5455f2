#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Common behaviour of all commands: --help succeeds, wrong usage prints a line and a hint and ends
# with status 2, and output that cannot be written is an error.
set -u
. tests/manual.sh
perfvisor=${PERFVISOR:-build/release/perfvisor}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
complain() {
	echo "$1"
	status=1
}
# expect STATUS PATTERN ARGUMENT…: check the exit status, and that a line of stderr matches
expect() {
	local want=$1 pattern=$2 got
	shift 2
	"$perfvisor" "$@" >"$folder/out" 2>"$folder/err" </dev/null
	got=$?
	[ $got = "$want" ] || complain "perfvisor $*: exit status $got, not $want"
	[ -z "$pattern" ] || grep -qE "$pattern" "$folder/err" ||
		complain "perfvisor $*: stderr is: $(cat "$folder/err")"
}
expect 2 "unknown command 'frobnicate'" frobnicate
expect 2 "hint: 'perfvisor help'" frobnicate
expect 2 'hint: did you mean record\?' recrod
expect 2 'hint: did you mean report\?' help reprot
expect 2 'hint: did you mean --duration\?' record --durration 5
expect 2 'hint: did you mean --guestkallsyms\?' report --guestkalsyms=x
# What perf has and perfvisor has not comes with what there is instead, in each of its forms.
for option in --all-cpus '-u 1' -u1 --uid=1 '--uid 1' -b '-j any'; do
	# shellcheck disable=SC2086 # words
	expect 2 "perf's option --[a-z-]+ is not available" record $option
	grep -qE '^ *hint: .*-[apg] ' "$folder/err" ||
		complain "record $option: $(cat "$folder/err")"
done
expect 2 '' # no arguments: the overview, and a status that scripts notice
grep -q '^Commands:' "$folder/out" || complain 'no overview without arguments'
expect 0 '' --help
expect 0 '' --version
grep -qE '^perfvisor [0-9]+\.[0-9]+\.[0-9]+' "$folder/out" || complain 'no version'
mapfile -t commands < <(documented_commands)
[ ${#commands[@]} -ge 10 ] || complain "perfvisor(1) lists ${#commands[@]} commands"
for command in "${commands[@]}"; do
	expect 0 '' "$command" --help
	grep -qE "^Usage: perfvisor $command( |\$)" "$folder/out" ||
		complain "$command --help: no usage"
	[ -s "$folder/err" ] && complain "$command --help writes to stderr"
	expect 2 "unknown option '--no-such-option'" "$command" --no-such-option
	expect 2 "hint: 'perfvisor $command --help'" "$command" --no-such-option
	expect 0 '' help "$command"
done
"$perfvisor" version >/dev/full 2>"$folder/err" && complain 'a full disk is not noticed'
grep -q 'could not write the output: No space left' "$folder/err" ||
	complain "a full disk gives: $(cat "$folder/err")"
# The reader has closed the pipe, and SIGPIPE is ignored.
python3 - "$perfvisor" help <<'CLOSED' 2>"$folder/err" || complain "a closed pipe gives status $?"
import os, signal, subprocess, sys
nobody, pipe = os.pipe()
os.close(nobody)
sys.exit(subprocess.call(sys.argv[1:], stdout=pipe, restore_signals=False))
CLOSED
[ ! -s "$folder/err" ] || complain "a closed pipe is an error: $(cat "$folder/err")"
# A folder that is missing is no guest without symbols.
recording=tests/golden/perfdata/kvm.data
for command in "report -i $recording" "script -i $recording" "fold -i $recording" \
	"flamegraph -i $recording -o -" "convert --native -i $recording" record; do
	# shellcheck disable=SC2086 # words
	expect 1 "perfvisor: --guestmount '/nonexistent': No such file" \
		$command --guestmount /nonexistent
done

# Terminals without escape sequences, users who want no colours (a slow machine still shows
# progress, and erases it), and locales without UTF-8.
escape=$'\033'
while read -r unwanted settings; do
	for command in doctor 'report --stdio -i tests/golden/perfdata/chains.data'; do
		script -qec "env PERFVISOR_PAGER=cat $settings $perfvisor $command" \
			/dev/null </dev/null >"$folder/out"
		! grep -q "$unwanted" "$folder/out" ||
			complain "$settings $command: escape sequences"
	done
done <<END
$escape TERM=dumb
$escape\[[0-9;]*m TERM=xterm NO_COLOR=1
END
report="$perfvisor report -i tests/golden/perfdata/chains.data"
script -qec "env PERFVISOR_PAGER='sed s/^/paged/' TERM=dumb $report" \
	/dev/null </dev/null | grep -q '^paged' && complain 'a pager on a dumb terminal'
for command in $(documented_commands); do
	"$perfvisor" "$command" --help >"$folder/out"
	! LC_ALL=C grep -q '[^ -~]' "$folder/out" ||
		complain "$command --help is not ASCII: $(LC_ALL=C grep '[^ -~]' "$folder/out")"
done
exit $status
