#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions and source lines of a stripped program come from the server that DEBUGINFOD_URLS names,
# once; they are those that stock perf finds in the program itself. No server is asked unless it is
# named, and one that does not answer is not waited for.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tools=$(realpath tests/cli)
here=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here # no perfconfig, no cache of build-ids
unset DEBUGINFOD_URLS
status=0
complain() {
	echo "$1"
	status=1
}

"$perfvisor" version | grep -qE '^ +debuginfod +yes' ||
	{ echo "skipped: debuginfod, because it is not built in"; exit 77; }
perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }

for part in LIBRARY UNIT PROGRAM; do
	gcc -O2 -g -fPIC -c -D$part -o $part.o "$tools/lines_workload.c" || exit 1
done
gcc -Wl,--build-id -o program PROGRAM.o UNIT.o LIBRARY.o || exit 1
id=$(readelf -n program | awk '/Build ID/ { print $3 }')
mkdir -p "files/$id"
objcopy --only-keep-debug program "files/$id/debuginfo"
perf record -q -B -N -e cpu-clock -F 3000 --call-graph dwarf,4096 -o chains ./program 2>/dev/null
perf record -q -B -N -e cpu-clock -F 3000 -o flat ./program 2>/dev/null
perf script -i flat -F ip,sym,dso,srcline 2>/dev/null >flat.perf
perf script -i chains -F ip,sym,dso,srcline 2>/dev/null >chains.perf
strip program

serve() { # NAME, WHAT IT SERVES: its URL
	python3 "$tools/debug_server.py" "$here/$1.port" "$here/$1.log" "$2" &
	servers+=($!)
	for _ in $(seq 600); do
		[ -s "$1.port" ] && break
		sleep 0.1
	done
	touch "$1.log"
	url=http://127.0.0.1:$(cat "$1.port")
}
show() { # OPTIONS OF SCRIPT
	"$perfvisor" script -F ip,sym,dso,srcline "$@" 2>ours.err || complain "script $* failed"
}

serve good "$here/files"
export DEBUGINFOD_CACHE_PATH=$here/cache
show -i flat >without.txt
grep -q 'in_program\|program\.c' without.txt && complain "a stripped program has names"
[ ! -s good.log ] || complain "a server was asked that nobody named: $(head -n 1 good.log)"

export DEBUGINFOD_URLS=$url
show -i flat >flat.ours
[ ! -s ours.err ] || complain "$(cat ours.err)"
# The same but for the dynamic linker (test_source_lines_perf.sh).
without_linker() {
	awk '/\)$/ { keep = !/\/ld-linux[^\/]*\)$/ } keep' "$1"
}
grep -q in_program flat.perf &&
	diff <(without_linker flat.perf) <(without_linker flat.ours) >differences ||
	complain "flat: $(head -n 4 differences)"
show --inline -i chains >chains.ours
python3 "$tools/source_lines.py" perf chains.perf chains.ours 100 || complain "chains differ"
[ "$(grep -c "/buildid/$id/debuginfo" good.log)" = 1 ] ||
	complain "the file was asked for $(grep -c "$id/debuginfo" good.log) times"

# What was downloaded is used without the server, and with another build-id it is not.
DEBUGINFOD_URLS='' show -i flat >cached.ours
cmp -s cached.ours flat.ours || complain "downloads are not found"
gcc -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 -s -o program PROGRAM.o UNIT.o \
	LIBRARY.o || exit 1
mkdir -p files/0123456789abcdef0123456789abcdef01234567
cp "files/$id/debuginfo" files/0123456789abcdef0123456789abcdef01234567/debuginfo
perf record -q -B -N -e cpu-clock -F 3000 -o other ./program 2>/dev/null
show -i other >other.ours
grep -q 'in_program' other.ours && complain "a file with another build-id is used"

# Servers that do not answer, or do not exist.
serve silent --silent
export DEBUGINFOD_TIMEOUT=1 DEBUGINFOD_CACHE_PATH=$here/empty DEBUGINFOD_URLS=$url
show -i other >silent.ours
[ -s silent.log ] || complain "the silent server was not asked"
cmp -s other.ours silent.ours || complain "a silent server changes the output"
[ "$(wc -l <silent.log)" -lt 10 ] || complain "it was asked $(wc -l <silent.log) times"
DEBUGINFOD_URLS=http://127.0.0.1:1 DEBUGINFOD_CACHE_PATH=$here/none show -i other >none.ours
cmp -s other.ours none.ours || complain "a missing server changes the output"
exit $status
