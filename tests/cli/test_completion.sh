#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The completion script, loaded and called as bash does, offers the commands and, for each command,
# the options that the manual pages document. The command accepts each offered option. Then lines
# are
# typed into bash, zsh and fish, with names of VMs that a shell could expand or run.
set -u
. tests/manual.sh
perfvisor=${PERFVISOR:-build/release/perfvisor}
status=0
complain() {
	echo "$1"
	status=1
}
script=$("$perfvisor" completion) && eval "$script" || complain 'the script does not load'

# offered WORD…: print the completions of the last word
offered() {
	COMP_WORDS=(perfvisor "$@")
	COMP_LINE=${COMP_WORDS[*]}
	COMP_CWORD=$#
	COMPREPLY=()
	_perfvisor
	printf '%s\n' "${COMPREPLY[@]}" | sort
}

commands=$(documented_commands | sort)
[ "$(wc -l <<<"$commands")" -ge 10 ] || complain "perfvisor(1) lists only: $commands"
[ "$(offered '')" = "$commands" ] || complain "commands offered: $(offered '' | tr '\n' ' ')"
[ "$(offered help '')" = "$commands" ] || complain 'help does not offer the commands'
[ "$(offered ver)" = version ] || complain "'ver' gives $(offered ver)"
tried=0
for command in $commands; do
	got=$(offered "$command" --)
	want=$({ echo --help; documented_options "$command" | grep -o -e '--.*'; } | sort)
	differences=$(diff <(cat <<<"$want") <(cat <<<"$got") | grep '^[<>]')
	[ "$got" = "$want" ] || complain "$command offers: $differences"
	# With a value, and followed by an unknown option, so that the command does nothing.
	# (test_usage tries --help.)
	for option in $(grep -vx -e --help <<<"$got"); do
		said=$("$perfvisor" "$command" "$option=x" --no-such-option \
			2>&1 >/dev/null </dev/null)
		[ $? = 2 ] ||
			complain "$command $option=x --no-such-option is not a usage error: $said"
		! grep -qF -e "unknown option '$option=x'" <<<"$said" ||
			complain "$command does not know $option"
		tried=$((tried + 1))
	done
done
[ $tried -ge 50 ] || complain "only $tried options are offered"

# The values of options, of each kind.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/folder"
: >"$folder/file"
files="$folder/file $folder/folder "
[ "$(offered record --guestkallsyms "$folder/f" | tr '\n' ' ')" = "$files" ] ||
	complain "a file: $(offered record --guestkallsyms "$folder/f")"
[ "$(offered record --guestmount "$folder/f")" = "$folder/folder" ] ||
	complain "a folder: $(offered record --guestmount "$folder/f")"
[ "$(offered record --engine '' | tr '\n' ' ')" = 'auto qmp ' ] ||
	complain "words: $(offered record --engine '')"
[ -z "$(offered record --duration '')" ] || complain "a number: $(offered record --duration '')"

# Names of VMs may be anything; each is offered as one word, and never run.
perfvisor() {
	cat <<-END
		{"vms": [{"pid": 1, "name": "Web Server 1"},
		{"pid": 2, "name": "web"},
		{"pid": 3, "name": "\$(touch\${IFS}$folder/run)"},
		{"pid": 4, "name": "\`touch $folder/run\`"},
		{"pid": 5, "name": "*"},
		{"pid": 6, "name": "in\"json"},
		{"pid": 7, "name": "tab\u0009"}]}
	END
}
names=$(offered record --vm '')
[ "$(wc -l <<<"$names")" = 6 ] || complain "VMs: $names"
while IFS= read -r name; do
	eval "set -- $name"
	[ $# = 1 ] || complain "the VM $name is $# words"
	printf '%s\n' "$1"
done <<<"$names" | sort >"$folder/names"
perfvisor | python3 -c 'import json, sys
for vm in json.load(sys.stdin)["vms"][:6]: print(vm["name"])' | sort | cmp - "$folder/names" ||
	complain "VMs: $names"
[ ! -e "$folder/run" ] || complain 'a name was run'
[ "$(offered record --vm W)" = 'Web\ Server\ 1' ] || complain "W: $(offered record --vm W)"
[ "$(offered record --vm 'Web\ S')" = 'Web\ Server\ 1' ] ||
	complain "quoted: $(offered record --vm 'Web\ S')"
[ "$(offered record --vm '"w')" = web ] || complain "in a quote: $(offered record --vm '"w')"
[ "$(offered record --vm '"W')" = 'Web Server 1' ] ||
	complain "in a quote: $(offered record --vm '"W')"
[ -z "$(offered record --vm '"$')" ] || complain 'in a quote, a name that means something there'
# The same is true for names of files.
touch "$folder/\$(touch run)"
[ "$(cd "$folder" && offered record -o '$')" = '$(touch run)' ] ||
	complain "files: $(cd "$folder" && offered record -o '$')"
[ ! -e "$folder/run" ] || complain "a file's name was run"

! "$perfvisor" completion tcsh 2>/dev/null || complain 'there is a completion for tcsh'
for shell in bash zsh fish; do
	if ! command -v $shell >/dev/null; then
		echo "skipped: completion in $shell, because it is not installed:" \
			"'make setup' does it"
		continue
	fi
	python3 tests/cli/check_completion.py $shell \
		"$(realpath "${PERFVISOR:-build/release/perfvisor}")" ||
		complain "$shell: lines above"
done
command -v fish >/dev/null || exit $status
for command in $commands; do
	got=$("$perfvisor" completion fish |
		env HOME="$folder" fish -c "source; complete -C 'perfvisor $command --'" |
		cut -f1 | sort)
	want=$({ echo --help; documented_options "$command" | grep -o -e '--.*'; } | sort)
	[ "$got" = "$want" ] ||
		complain "fish, $command: $(diff <(cat <<<"$want") <(cat <<<"$got") | grep '^[<>]')"
done
exit $status
