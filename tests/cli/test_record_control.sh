#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --control and --delay: what stock perf is told in the same way (tools/perf/util/evlist.c),
# acknowledged in the same bytes; when samples are taken; what comes from the other side is bounded.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
. tests/cli/looping_guest.sh
folder=$(mktemp -d)
guest= recorder=
trap 'kill $guest $recorder 2>/dev/null; wait; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
status=0
complain() {
	echo "$1"
	status=1
}
start_looping_guest
mkfifo control acks
exec {to}<>control {from}<>acks

# OPTION…: start a recorder in the background, with messages in err
start() {
	: >err
	"${record[@]}" -o data "$@" 2>err &
	recorder=$!
	wait_for grep -qE '^perfvisor: recording' err || { cat err; exit 1; }
}
# STATUS: wait for the recorder
finish() {
	wait $recorder
	local got=$?
	recorder=
	[ $got = "$1" ] || complain "exit status $got, not $1: $(cat err)"
}
says() {
	grep -qE -e "$1" err || complain "it does not say '$1': $(cat err)"
}
# COMMAND: send it, and wait for its acknowledgement: perf's four bytes and the null byte
ask() {
	printf '%s\n' "$1" >&$to
	acknowledged "$1"
}
acknowledged() {
	local got
	got=$(timeout 60 dd bs=1 count=5 <&$from 2>/dev/null | od -An -tx1)
	[ "$got" = ' 61 63 6b 0a 00' ] || complain "'$1' is acknowledged with '$got'"
}
seconds_of_samples() {
	"$perfvisor" script -i data -F time 2>/dev/null | tr -d ' :'
}
now() {
	awk '{ print $1 }' /proc/uptime
}

# Nothing is sampled until it is enabled, nor after it is disabled.
start -D -1 -F 200 --control fifo:control,acks
says '^perfvisor: events disabled$'
ask ping
ask snapshot
sleep 0.5
enabled=$(now)
ask enable
wait_for grep -qE '^perfvisor: events enabled$' err || complain "$(cat err)"
sleep 1
printf disable >&$to # without a new line, as perf takes it
acknowledged disable
disabled=$(now)
sleep 0.5
ask 'enable cpu-clock'
says '^perfvisor: event cpu-clock enabled$'
ask 'disable cpu-clock'
ask 'enable cycles'
says "warning: --control: there is no event 'cycles'"
ask evlist
says '^cpu-clock$'
ask 'evlist -F'
says '^cpu-clock: sample_freq=200$'
ask 'evlist -v'
says '^cpu-clock, type = 1,.* = 200, sample_type = '
ask 'evlist -x'
says "wrong command 'evlist -x'"
ask enablex
says "wrong command 'enablex'"
printf 'nonsense\n%s\n\n\0%s\n' "$(printf 'stop%.0s' {1..40})" "$(printf '\033[31m')" >&$to
ask ping
says "unknown command 'nonsense'"
! grep -q $'\033' err || complain 'a command reaches the terminal as it is'
ask stop
finish 0
# Times of samples are those of CLOCK_MONOTONIC, which /proc/uptime shows in hundredths.
seconds_of_samples | awk -v from="$enabled" -v to="$disabled" '
	$1 < from - 0.02 || ($1 > to + 0.02 && $1 < to + 0.4) { wrong++ }
	END { if (!NR || wrong) { print NR " samples, at wrong times: " wrong + 0; exit 1 } }' ||
	status=1

# Descriptors; who closes his end does not end the recording. A command that is cut in pieces that
# are too long, and more of them than are taken at once.
until_disabled='for _ in $(seq 1200); do ! grep -q disabled err || break; sleep 0.1; done'
{
	"${record[@]}" -o data --control fd:5 5< <(
		head -c 20000 /dev/zero | tr '\0' x
		yes ping | head -n 500
		echo disable
	) -- sh -c "$until_disabled" 2>err
}
[ $? = 0 ] || complain "closed: $(cat err)" # COMMAND would be ended with the recording
says '^perfvisor: events disabled$'
# Nobody reads the acknowledgements: that is said once, and nobody waits.
mkfifo full
exec {full}<>full
dd if=/dev/zero of=full oflag=nonblock bs=4096 count=1000 2>/dev/null
: >err
"${record[@]}" -o data --control "fifo:control,full" 2>err &
recorder=$!
wait_for grep -qE '^perfvisor: recording' err
printf 'ping\nping\nstop\n' >&$to
finish 0
[ "$(grep -c 'could not be acknowledged: nobody reads' err)" = 1 ] || complain "full: $(cat err)"
exec {full}>&-

# Times: the two ranges are half a second apart at least, and the recording ends after them.
start -D 300-1000,1500-2100 -F 200
finish 0
[ "$(grep -cE '^perfvisor: events (en|dis)abled$' err)" = 5 ] || complain "ranges: $(cat err)"
seconds_of_samples | awk '
	NR > 1 && $1 - last > 0.4 { gaps++ }
	{ last = $1 }
	END { if (gaps != 1) { print NR " samples in ranges, and " gaps + 0 " gaps"; exit 1 } }' ||
	status=1
begin=$(now)
start -D 700 -F 200 --duration 0.5
finish 0
seconds_of_samples | awk -v from="$begin" '
	$1 < from + 0.7 { early++ }
	END { if (!NR || early) { print early + 0 " of " NR " samples are early"; exit 1 } }' ||
	status=1

# The viewer of top may only end its recorder by the same means. What it could write is written
# into the pipe that it writes to and the recorder has.
: >err
"$perfvisor" top --engine qmp -p $guest --max-overhead 100 -d 1 >screens 2>err &
recorder=$!
wait_for grep -q '%' screens || complain "top: $(cat err)"
pipe=
for fd in /proc/$recorder/fd/*; do
	target=$(readlink "$fd")
	for child in $(pgrep -P $recorder); do
		[[ $target != pipe:* || ${fd##*/} -le 2 ]] ||
			! grep -q '^flags:.*1$' "/proc/$recorder/fdinfo/${fd##*/}" ||
			! tr '\0' ' ' <"/proc/$child/cmdline" | grep -q 'top --engine' ||
			! readlink "/proc/$child"/fd/* | grep -qxF "$target" || pipe=$fd
	done
done
printf 'evlist\nping\nwhat is this\ndisable\n' >"${pipe:-/dev/null}"
sleep 2
: >screens # It goes on with what comes now.
wait_for grep -q '%' screens || complain "top's viewer disables events: $(cat err)"
printf 'stop\n' >"${pipe:-/dev/null}"
[ -n "$pipe" ] || { complain "top has no pipe: $(ls -l /proc/$recorder/fd)"; kill $recorder; }
finish 0
! grep -qE 'what is this|cpu-clock|disabled' err || complain "top's viewer may do more: $(cat err)"

# What cannot be used.
expect() { # STATUS PATTERN OPTION…
	local want=$1 pattern=$2 got
	shift 2
	"${record[@]}" -o none "$@" 2>err </dev/null
	got=$?
	[ $got = "$want" ] || complain "$*: exit status $got, not $want"
	says "$pattern"
	[ ! -e none ] || complain "$*: makes a file"
}
for text in '' fd fd: fd:x fd:1,x fd:1, fd:-1 fd:1x fifo: fifo:,x fifo:x, pipe:x fd:99999999999; do
	expect 2 "--control takes fd:CTL\[,ACK\] or fifo:CTL\[,ACK\], not '$text'" --control "$text"
done
expect 1 'could not use descriptor 77: Bad file' --control fd:77
expect 1 "could not open 'missing': No such file" --control fifo:missing
expect 2 "'loop.bin' is not a FIFO" --control fifo:loop.bin
# It is not opened to find out: what cannot be opened, such as a socket, is not a FIFO either.
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' || exit 1
expect 2 "'socket' is not a FIFO" --control fifo:socket
for text in 10-5 10-20,20-30 10-20,5-8 5-5 10-20,30 -5 x '' 1-99999999999; do
	expect 2 "--delay takes milliseconds, -1, or ranges of them .*, not '$text'" -D "$text"
done
exit $status
