#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every command that reads recordings, with hostile recordings and ELF files (hostile_files.py): it
# ends by itself in a minute, uses at most 1 GiB of memory, and ends with status 0 to 2; and it
# writes no control characters but ends of lines and tabs. ASan takes more memory than that: the
# release build is tested.
set -u
perfvisor=$(realpath "${PERFVISOR_RELEASE:-build/release/perfvisor}")
. tests/manual.sh
LIMIT_SECONDS=60
LIMIT_MIB=1024
limited=$PWD/tests/cli/limited_run.py
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0 count=0 read=0
complain() {
	echo "$*"
	status=1
}

has_control() { # FILE
	LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' "$1"
}

# The commands that have -i, and diff; a new one is to be added here.
commands=('report' 'report --children -g' 'annotate' 'script' 'fold' 'flamegraph -o - --force'
	'convert --native -o converted' 'export --format pprof' 'diff' 'top'
	'stat report --by reason,gsym,vcpu')
known=$(printf '%s\n' "${commands[@]%% *}" | sort -u)
found=$({
	echo diff
	for command in $(documented_commands); do
		! documented_options "$command" | grep -q -e '^-i --input' || echo "$command"
	done
} | sort -u)
[ "$known" = "$found" ] || complain "not the commands that read recordings: $known, $found"

mapfile -t recordings < <(python3 tests/cli/hostile_files.py "$folder/hostile")
[ ${#recordings[@]} -ge 45 ] || complain "only ${#recordings[@]} recordings"
mkdir "$folder/work" "$folder/cache"
cd "$folder/work" || exit 1
export XDG_CACHE_HOME=$folder/cache
for recording in "${recordings[@]}"; do
	for command in "${commands[@]}"; do
		# All commands read headers and the frames of records with the same code.
		case $recording:$command in
		*/header-*:report | */header-*:script | */record-*:report | */record-*:script) ;;
		*/header-* | */record-*) continue ;;
		esac
		case $command in
		diff) words=(diff "$recording" "$recording") ;;
		*)
			read -ra words <<<"$command"
			words+=(-i "$recording")
			;;
		esac
		python3 "$limited" $LIMIT_MIB $LIMIT_SECONDS "$perfvisor" "${words[@]}" \
			>../out 2>../err </dev/null
		code=$?
		count=$((count + 1))
		read=$((read + (code == 0)))
		[ $code -le 2 ] || complain "${words[*]}: status $code: $(head -c 300 ../err)"
		! has_control ../err || complain "${words[*]}: control characters on stderr"
		[ "${words[0]}" = export ] || ! has_control ../out ||
			complain "${words[*]}: control characters on stdout"
		rm -rf converted
	done
done
echo "$count runs, of which $read read their recording"
[ $read -ge 70 ] || complain 'these are too few'
exit $status
