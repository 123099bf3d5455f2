#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor report` and `perfvisor script` with files that are not recordings, or damaged ones: one
# line with the reason and exit status 1, or the readable part and a warning; never a crash or a
# hang.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
good=$(realpath tests/golden/perfdata)
cd "$here" || exit 1
status=0
read_at_all=0
complain() {
	echo "$*"
	status=1
}

run() { # COMMAND FILE: sets code
	timeout 60 "$perfvisor" "$1" -i "$2" "${@:3}" >out 2>err </dev/null
	code=$?
	[ $code -le 2 ] || complain "$* ended with status $code: $(head -n 5 err)"
	read_at_all=$((read_at_all + (code == 0)))
}

refused() { # FILE ARGUMENTS…: both commands fail with one line, and maybe a hint
	for command in report script; do
		run $command "$@"
		[ $code = 1 ] || complain "$command $*: status $code instead of 1"
		[ "$(grep -c '^perfvisor: ' err)" = 1 ] && [ "$(wc -l <err)" -le 2 ] ||
			complain "$command $*: $(cat err)"
	done
}

: >empty
head -c 100000 /dev/urandom >random
head -c 100000 /dev/zero >zeroes
echo "I am a text" >text
mkdir folder
printf 'PERFILE2' >magic
refused missing
refused empty
refused random
refused zeroes
refused text
refused folder
refused magic
refused /dev/null

# No recording at all in this folder.
timeout 60 "$perfvisor" report >out 2>err
[ $? = 1 ] && grep -q "no recording" err || complain "without a recording: $(cat err)"

# The newest file with one of perf's names is used.
files=("$good"/*.data)
[ -f "${files[0]}" ] || { echo "no recordings in tests/golden/perfdata"; exit 1; }
file=${files[0]}
cp "$file" perf.data
cp "$file" perf.data.guest
touch -d '2001-01-01' perf.data.guest
"$perfvisor" report 2>err | grep -q '^# Recording: perf.data$' ||
	complain "not the newest: $(cat err)"
touch perf.data.guest
"$perfvisor" report 2>err | grep -q '^# Recording: perf.data.guest$' ||
	complain "not perf.data.guest"

# Wrong usage and wrong names.
timeout 60 "$perfvisor" report -i "$file" --sort colour >out 2>err
[ $? = 2 ] || complain "--sort colour: $(cat err)"
timeout 60 "$perfvisor" report -i "$file" --vm nobody >out 2>err
[ $? = 1 ] || complain "--vm nobody: $(cat err)"

# Truncated recordings, and those with changed bytes, are read as far as possible.
read_at_all=0
for file in "${files[@]}"; do
	[ -f "$file" ] || continue # a directory recording
	size=$(stat -c %s "$file")
	for part in 4 40 300 $((size / 3)) $((size / 2)) $((size - 9)); do
		head -c "$part" "$file" >cut.data
		run report cut.data
		run script cut.data
	done
	for seed in 1 2 3 4 5 6; do
		python3 - "$file" flipped $seed <<'FLIP'
import random, sys
random.seed(int(sys.argv[3]))
data = bytearray(open(sys.argv[1], "rb").read())
for _ in range(random.choice([1, 10, 200])):
    value = random.choice([0, 1, 0x7f, 0x80, 0xff, random.randrange(256)])
    data[random.randrange(len(data))] = value
open(sys.argv[2], "wb").write(data)
FLIP
		run report flipped
		run script flipped
		run report flipped --sort vm,vcpu,pid,comm,mode
	done
done
echo "$read_at_all of the damaged recordings were read"
[ $read_at_all -ge 100 ] || complain 'these are too few'
exit $status
