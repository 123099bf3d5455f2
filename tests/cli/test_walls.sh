#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Commands that read recordings have given up their rights when they wait for the first byte of one,
# and write where they have to nevertheless.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
programs=$(dirname "$perfvisor")/tests/unit
folder=$(mktemp -d)
trap 'exec 3>&-; wait; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export XDG_CACHE_HOME=$folder/cache
status=0
complain() {
	echo "$1"
	status=1
}
# field NAME: of the status of the process $pid
field() {
	sed -nE "s/^$1:\s+//p" "/proc/$pid/status"
}
# reads COMMAND: wait until the process $pid reads the pipe: what its system call is about
reads() {
	local i fd
	for ((i = 0; i < 600; i++)); do
		# It waits for more than the pipe, and there is nothing to read yet.
		[ "$*" != top ] || [ "$(field Seccomp)" != 2 ] || return 0
		read -r _ fd _ <"/proc/$pid/syscall"
		[[ $fd != 0x* ]] || [ "$(readlink "/proc/$pid/fd/$((fd))")" != "$folder/pipe" ] ||
			return 0
		sleep 0.1
	done
	complain "$*: does not read: $(cat "/proc/$pid/syscall"; cat err)"
}
"$programs/write_chains" vm.data >/dev/null || exit 1
mkfifo pipe
exec 3<>pipe
# CAP_DAC_READ_SEARCH and CAP_SYSLOG, of capabilities(7)
kept=$((1 << 2 | 1 << 34))
for command in report 'report --json' annotate script fold flamegraph 'flamegraph -o -' \
	'convert --native' \
	'export -f json' 'export -f json -o out.json' diff top 'stat report'; do
	what='-i -'
	[ "$command" != diff ] || what='- vm.data'
	# shellcheck disable=SC2086 # words
	"$perfvisor" $command $what <pipe >out 2>err 3>&- &
	pid=$!
	reads "$command"
	[ "$(field NoNewPrivs) $(field Seccomp)" = '1 2' ] ||
		complain "$command: $(grep -E 'NoNewPrivs|Seccomp' "/proc/$pid/status")"
	had=$((0x$(field CapPrm) | 0x$(field CapEff)))
	[ $((had & ~kept)) = 0 ] || complain "$command has capabilities: $(printf %x $had)"
	[ $((0x$(field CapInh) | 0x$(field CapAmb))) = 0 ] ||
		complain "$command passes capabilities on"
	kill -KILL $pid
	wait $pid 2>/dev/null
done
# A process that put files in their place removes what it was not ordered to.
for ((i = 0; i < 100; i++)); do
	left=$(find . -name '*.??????' -o -name 'perf.data.native*')
	[ -n "$left" ] || break
	sleep 0.1
done
[ -z "$left" ] || complain "left: $left"
# The cache of symbols is kept.
if perf record -q -e cpu-clock -o perf.data -- find /usr -maxdepth 3 >out 2>err; then
	"$perfvisor" report -i perf.data >out 2>err || complain "report: $(cat err)"
	[ -n "$(find "$XDG_CACHE_HOME/perfvisor" -type f)" ] || complain 'no symbols were cached'
else
	echo "skipped: the cache of symbols, because perf record fails here: $(cat err)"
fi
exit $status
