#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lab/run itself: usage, exit status, arguments, output, $OUT, the files of guests, and that nothing
# remains when it is interrupted. Run it from the project's root. Exit status: 0 passed, 77 skipped
# (no QEMU), otherwise failed.

set -u

command -v qemu-system-x86_64 >/dev/null ||
	{ echo "no qemu-system-x86_64: scripts/setup installs it"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

check() {
	local what=$1
	shift
	if "$@"; then
		echo "ok: $what"
	else
		echo "FAILED: $what"
		failures=$((failures + 1))
	fi
}

# STATUS PATTERN ARG…: lab/run with the ARGs ends with STATUS, and stderr has PATTERN
refuses() {
	local status=$1 pattern=$2
	shift 2
	lab/run "$@" >"$work/stdout" 2>"$work/stderr"
	[ $? -eq "$status" ] && [ ! -s "$work/stdout" ] && grep -q -e "$pattern" "$work/stderr"
}

test_usage() {
	check "no command is a usage error" refuses 2 "COMMAND is missing" --no-guest
	check "a command without -- is a usage error" refuses 2 "must follow --" true
	check "an unknown option is a usage error" \
		refuses 2 "unknown option --gusts" --gusts 2 -- true
	check "a number is checked" refuses 2 "needs a number" --guests two -- true
	check "an unknown series is a usage error" refuses 2 "5.10 6.1" --host-kernel 2.4 -- true
	check "an unknown workload is a usage error" refuses 2 "mixed" --guest-workload none -- true
	check "a file to add must exist" \
		refuses 2 "/nowhere: no such file" --guest-add /nowhere -- true
	check "a module has a Kbuild" refuses 2 "no /tmp/Kbuild" --guest-module /tmp/ -- true
	check "--help prints examples" grep -q "examples:" <(lab/run --help)
	check "missing programs are named, with the command that installs them" missing_is_named
}

missing_is_named() {
	mkdir -p "$work/bin"
	ln -sf "$(command -v readlink)" "$(command -v dirname)" "$work/bin/"
	PATH=$work/bin /bin/bash lab/run -- true 2>"$work/stderr"
	[ $? -eq 125 ] && [ "$(wc -l <"$work/stderr")" -eq 1 ] &&
		grep -q 'missing: .*qemu-system-x86.*scripts/setup' "$work/stderr"
}

# One run with a guest, checked in all respects.
test_run() {
	# shellcheck disable=SC1003,SC2016 # quoted as meant
	local args=('a b' '' '"q"' $'new\nline' '$x' '*' "it's" -- -n '\')
	cat >"$work/command" <<-'EOF'
		printf '%s\0' "$@" >$OUT/args
		cp -r /run/lab/guest1 $OUT/guest1
		cp /usr/share/perfvisor-lab/user7525 $OUT
		dd if=/dev/urandom of=/root/part bs=1M count=10 2>/dev/null
		for part in 1 2 3 4 5 6 7 8 9 10; do
			cat /root/part
		done >$OUT/big
		sha256sum <$OUT/big
		echo "to stderr" >/dev/stderr
		sleep 1000 &
		exit 7
	EOF
	OUT=$work/out lab/run --add "$work/command" --guest-workload user7525 \
		--guest-module tests/lab/guest/known_chains -- \
		sh /root/command "${args[@]}" >"$work/stdout" 2>"$work/stderr"
	check "the exit status is that of the command" [ $? -eq 7 ]
	check "arguments are passed on unchanged" \
		cmp -s "$work/out/args" <(printf '%s\0' "${args[@]}")
	check "100 MB are copied back, and stdout has only the command's output" \
		cmp -s "$work/stdout" <(sha256sum <"$work/out/big")
	check "the command's stderr is passed on" grep -qx "to stderr" "$work/stderr"
	check "the guest's kallsyms is complete and true" kallsyms_is_true "$work/out/guest1"
	check "the guest's modules are listed" grep -q '^virtio_blk ' "$work/out/guest1/modules"
	check "a module of the user is loaded" grep -q '^known_chains ' "$work/out/guest1/modules"
	check "the guest reports its kernel" grep -q '^Linux version 6.1' "$work/out/guest1/version"
	check "KASLR is on" \
		test "$(address_of _text "$work/out/guest1/kallsyms")" != ffffffff81000000
	check "user7525 has its symbols" grep -q ' T hot_a$' <(nm "$work/out/user7525")
}

address_of() {
	awk -v name="$1" '$3 == name { print $1; exit }' "$2"
}

kallsyms_is_true() {
	[ "$(wc -l <"$1/kallsyms")" -gt 50000 ] &&
		[ -n "$(address_of _text "$1/kallsyms")" ] &&
		grep -q '\[virtio_blk\]$' "$1/kallsyms"
}

# SECONDS COMMAND…: wait until the command succeeds
wait_until() {
	local tries=$(($1 * 10))
	shift
	until "$@" 2>/dev/null; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

find_qemu() {
	qemu=$(pgrep -P "$lab" qemu-system) && folder=$(readlink "/proc/$qemu/cwd")
}

is_gone() {
	[ ! -d "/proc/$1" ]
}

# SIGNAL STATUS PATTERN WHEN: send SIGNAL to lab/run when its output has PATTERN
test_signal() {
	local signal=$1 status=$2 pattern=$3 when=$4 got
	# In a test that runs in the background SIGINT is ignored, which lab/run would inherit.
	env --default-signal=INT lab/run --no-guest -- sh -c 'echo begun; sleep 1000' \
		>"$work/output" 2>&1 &
	lab=$!
	check "$when: QEMU runs" wait_until 120 find_qemu
	check "$when: it reaches this point" wait_until 120 grep -q "$pattern" "$work/output"
	kill "-$signal" "$lab"
	wait "$lab"
	got=$?
	check "$when: SIG$signal ends it with $status" [ "$got" -eq "$status" ]
	check "$when: QEMU is gone" wait_until 5 is_gone "$qemu"
	if [ "$signal" = KILL ]; then
		rm -rf "$folder"
	else
		check "$when: its folder is gone" [ ! -e "$folder" ]
	fi
}

test_signals() {
	test_signal INT 130 "" "while the host boots"
	test_signal INT 130 begun "while the command runs"
	test_signal TERM 143 begun "while the command runs"
	test_signal KILL 137 begun "killed hard"
}

# Guests that do not get ready end the run, with a reason.
test_guest_fails() {
	echo 'exit 3' >"$work/ends.sh"
	check "a workload that ends is reported" refuses 125 "workload ended with status 3" \
		--guest-workload "$work/ends.sh" -- true
}

# Boot a guest that never gets ready, while other tests run.
begin_endless_boot() {
	lab/run --guest-cmdline rdinit=/none -- true >"$work/endless.out" 2>"$work/endless.err" &
	endless=$!
}

test_endless_boot() {
	wait "$endless"
	check "a guest that never boots is an error" [ $? -eq 125 ]
	check "its run has no output" [ ! -s "$work/endless.out" ]
	check "its console is shown" grep -q "guest1| .*Kernel panic" "$work/endless.err"
	check "the reason is reported, too" \
		grep -q "the kernel of guest1 panicked three times" "$work/endless.err"
}

# A command that hangs is ended, and a guest that was lost is reported.
test_limits() {
	check "a command that exceeds its limit is ended, and shows where it waits" \
		refuses 124 "sleep 1000: hrtimer_nanosleep" --no-guest --limit 2 -- sleep 1000
	# shellcheck disable=SC2016 # expanded in the host
	LAB_SILENCE_LIMIT=10 check "a host with a dead CPU is reported" \
		refuses 123 "^lab: lost: a CPU of the host hangs" --no-guest -- \
		sh -c 'for stat in /proc/[0-9]*/stat; do
			read -r pid name _ parent _ <$stat
			[ "$name $parent" != "(init) 1" ] || kill -STOP $pid
		done
		sleep 1000'
	# shellcheck disable=SC2016 # expanded in the host
	LAB_SILENCE_LIMIT=10 check "a steady guest that hangs is reported" \
		refuses 123 "^lab: lost: guest1 hangs" --steady -- \
		sh -c 'kill -STOP $(cat /run/lab/guest1/pid)'
	# shellcheck disable=SC2016 # expanded in the host
	check "a steady guest that ends fails the lab" \
		refuses 123 "^lab: lost: guest1 crashed" --steady -- \
		sh -c 'kill -9 $(cat /run/lab/guest1/pid); sleep 1000'
}

# NAME: print the snapshots in the cache whose names contain NAME
snapshots() {
	ls build/cache/snapshots | grep -- "$1" | sort
}

# A booted host is used by later runs, with the files of each of them; it is booted again if its
# snapshot cannot be used.
test_snapshot() {
	local state args=(--guest-workload idle) kept
	# shellcheck disable=SC2016 # expanded in the host
	local look='ls /root; echo $LAB_GUESTS; cat /run/lab/guest*/name
		pidof qemu-system-x86_64 | wc -w
		date +%s; perfvisor ps | grep -c sleep'
	lab/run "${args[@]}" -- true 2>"$work/stderr" # makes the snapshot if there is none yet
	state=$(snapshots x86_64-6.1-6.1-2cpu-)
	check "there is a snapshot of the host" [ -n "$state" ]
	echo one >"$work/first"
	echo two >"$work/second"
	lab/run "${args[@]}" --add "$work/first" -- sh -c "$look" >"$work/one" 2>"$work/one.err"
	lab/run "${args[@]}" --add "$work/second" -- sh -c "$look" >"$work/two" 2>"$work/two.err"
	check "no run boots if there is a snapshot" \
		[ "$(cat "$work"/{one,two}.err | grep -c 'host up')" = 0 ]
	check "each run has its own files, and one guest with its own workload" \
		[ "$(sed 5d "$work/one" | xargs), $(sed 5d "$work/two" | xargs)" = \
		"first guest1 guest1 1 1, second guest1 guest1 1 1" ]
	check "its clock is right" [ $(($(date +%s) - $(sed -n 5p "$work/two"))) -le 60 ]
	check "old snapshots of the same kind are deleted" \
		[ "$(snapshots x86_64-6.1-6.1-2cpu-)" = "$state" ]

	lab/run --no-guest -- true 2>"$work/stderr"
	kept=$(cd build/cache/snapshots && ls -t |
		grep '^x86_64-6[.]1-[0-9a-f]\{8\}[.]' | head -n 1)
	check "there is a snapshot of a host without guests" [ -f "build/cache/snapshots/$kept" ]
	truncate -s 1M "build/cache/snapshots/$kept"
	lab/run --no-guest -- echo fine >"$work/stdout" 2>"$work/stderr"
	check "a truncated snapshot is not used" [ "$? $(cat "$work/stdout")" = "0 fine" ]
	check "the host is booted instead" grep -q 'host up' "$work/stderr"
}

# Sanitizer reports are found, whatever happened to the process.
test_sanitizer() {
	printf '%s\n' '#include <stdlib.h>' \
		'int main(int c, char **v) { return ((char *)malloc(c))[c + !v]; }' >"$work/bad.c"
	gcc -g -fsanitize=address -o "$work/bad" "$work/bad.c"
	check "a sanitizer's report ends a run with 99, and is shown" \
		refuses 99 "heap-buffer-overflow" --no-guest --add "$work/bad" -- \
		sh -c '/root/bad 2>/dev/null | cat; true'
}

test_usage
begin_endless_boot
test_run
test_signals
test_guest_fails
test_limits
test_snapshot
test_sanitizer
test_endless_boot
[ "$failures" -eq 0 ]
