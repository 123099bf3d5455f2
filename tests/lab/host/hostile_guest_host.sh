#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: overwrite guest1's kernel structures while perfvisor reads and records the
# guest. $OUT gets "looks" (attack, command, status, seconds), "errors" (perfvisor's messages),
# "times" (attack, its begin and end, and the vCPU's time in the guest at both, in 1/100 s), the
# recording and its status, the names that were read before the attacks, and "texts" with the output
# of every command for names that can control terminals.
set -u
pid=$(cat /run/lab/guest1/pid)

# perfvisor and its parser take turns; on two CPUs each message would wake up the other one, which
# is slow in emulation.
look() {
	local attack=$1 start=$SECONDS
	shift
	timeout 300 taskset 2 perfvisor "$@" --vm guest1 >/tmp/look 2>/tmp/look.err
	echo "$attack '$*' $? $((SECONDS - start)) $(wc -c </tmp/look)" >>"$OUT/looks"
	cat /tmp/look.err >>"$OUT/errors"
}

for _ in $(seq 300); do
	grep -q '^planted' /run/lab/guest1/console.log && break
	sleep 0.2
done
cp /run/lab/guest1/{kallsyms,console.log} "$OUT/"
: >"$OUT/errors"
perfvisor symbols --vm guest1 >"$OUT/symbols" 2>"$OUT/symbols.err"
perfvisor ps --vm guest1 >"$OUT/ps" 2>>"$OUT/symbols.err"
mkdir "$OUT/texts"
# NAME COMMAND…: keep its output and messages
keep_text() {
	local name=$1
	shift
	taskset 2 perfvisor "$@" >"$OUT/texts/$name" 2>"$OUT/texts/$name.err"
}
steering=$(awk '$NF ~ /31m/ { print $1; exit }' "$OUT/ps")
keep_text list list
keep_text list.json list --json
keep_text ps ps --threads
keep_text ps.json ps --json
keep_text maps ps --maps "$steering"
keep_text maps.json ps --maps "$steering" --json
keep_text stack stack
keep_text stack.json stack --json
keep_text tasks stack --tasks
keep_text tasks.json stack --tasks --json
# The kernel's release, too, which begins with a digit; the recording of this moment has it.
release=$(perfvisor list --json | sed -n 's/.*"kernel_release": *"\([^"]*\)".*/\1/p')
echo "$release" >"$OUT/release"
scribble guest1 release "$(printf '6.e\033[31m\302\233\342\200\256')" >>"$OUT/scribble" 2>&1 ||
	echo "the release was not changed" >>"$OUT/looks"
keep_text release.list list
keep_text release.list.json list --json
perfvisor record --vm guest1 -v -o /tmp/release --duration 1 2>"$OUT/texts/release.record.err"
cp /tmp/release "$OUT/release.data"
scribble guest1 release "$release"
user=$(awk '$NF == "user7525" { print $1; exit }' "$OUT/ps")
perfvisor record --max-overhead 100 --vm guest1 -g -F 200 -o /tmp/recording 2>"$OUT/record.err" &
recorder=$!
for _ in $(seq 300); do
	grep -q '^perfvisor: recording' "$OUT/record.err" && break
	sleep 0.2
done
tid=$(perfvisor list --json --no-memory | grep -o '"tid": *[0-9]*' | tr -dc 0-9)
# The vCPU's time in the guest, in 1/100 s (proc(5): guest_time).
guest_time() {
	sed 's/.*) //' "/proc/$pid/task/$tid/stat" | cut -d ' ' -f 41
}
# True if its vCPU runs for a quarter of a second within ten, and its programs exist.
lives() {
	local before tries=100
	before=$(guest_time)
	until [ $(($(guest_time) - before)) -ge 25 ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return
		sleep 0.1
	done
	perfvisor symbols --modules --vm guest1 >/dev/null 2>&1 &&
		perfvisor ps --vm guest1 2>/dev/null | grep -q ' reader$'
}
# An attack may have made the guest hang, or crash and reboot under attack; QEMU stops it if KVM
# cannot continue.
revive() {
	lives && return
	for command in qmp_capabilities query-status system_reset cont; do
		printf '{"execute":"%s"}\n' $command
		sleep 1
	done | socat -t 2 - UNIX-CONNECT:/run/lab/guest1/qmp.sock >>"$OUT/revived"
	for _ in $(seq 30); do
		lives && return
	done
}

for attack in data lists stacks tables; do
	revive
	begun=$(cut -d ' ' -f 1 /proc/uptime) time_then=$(guest_time)
	scribble guest1 $attack 6000 >>"$OUT/scribble" 2>&1 &
	scribbler=$!
	sleep 1
	while kill -0 $scribbler 2>/dev/null; do
		look $attack ps --threads
		look $attack symbols --modules
		look $attack stack
		look $attack stack --tasks
		look $attack ps --maps "${user:-1}"
		look $attack symbols
	done
	wait $scribbler
	echo "$attack: $?" >>"$OUT/scribble"
	echo "$attack $begun $(cut -d ' ' -f 1 /proc/uptime) $time_then $(guest_time)" \
		>>"$OUT/times"
	kill -0 $recorder 2>/dev/null || echo "the recorder ended during $attack" >>"$OUT/looks"
done
kill -INT $recorder
for _ in $(seq 300); do
	kill -0 $recorder 2>/dev/null || break
	sleep 0.2
done
kill -9 $recorder 2>/dev/null && echo "the recorder did not end" >>"$OUT/looks"
wait $recorder
echo $? >"$OUT/record.status"
kill -0 "$pid" 2>/dev/null && echo yes >"$OUT/vmm_lives"
cp /tmp/recording "$OUT/recording.data"
