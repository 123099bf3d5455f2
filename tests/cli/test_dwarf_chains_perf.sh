#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains of `perf record --call-graph dwarf` are those of `perf script`, whose program's part is found from a copy of
# the stack: of dynamic, static, 32-bit and stripped programs, libraries loaded late, signals and short copies.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tools=$(realpath tests/cli)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here # no perfconfig, no cache of build-ids
status=0

perf record -q -e cpu-clock --call-graph dwarf -o try.data true 2>/dev/null || { echo "perf cannot record here"; exit 77; }

record() { # RECORDING, SIZE OF THE COPY, COMMAND…
	local name=$1 size=$2
	shift 2
	perf record -q -e cpu-clock -F 2000 --call-graph "dwarf,$size" -o "$name" -- "$@" >/dev/null 2>&1 ||
		{ echo "$name: perf record failed"; status=1; }
}
show() { # RECORDING: perf.txt and ours.txt
	perf script --no-inline -F comm,tid,time,ip,sym,dso -i "$1" >perf.txt 2>/dev/null
	"$perfvisor" script -F comm,tid,time,ip,sym,dso -i "$1" >ours.txt 2>ours.err || { cat ours.err; status=1; }
}
compare() { # RECORDING
	show "$1"
	python3 "$tools/dwarf_chains.py" perf.txt ours.txt 100 >differences ||
		{ echo "$1:"; cut -c1-300 differences; status=1; }
	tail -n 1 differences
	[ -s ours.err ] && { echo "$1: $(cat ours.err)"; status=1; }
}

gcc -O2 -o dynamic "$tools/dwarf_workload.c" -ldl || exit 1
gcc -O2 -shared -fPIC -DLIBRARY -o library.so "$tools/dwarf_workload.c" || exit 1
record dynamic.data 8192 ./dynamic ./library.so
compare dynamic.data
# Each of its parts is met, down to where the program begins.
for name in leaf handler in_library start_thread; do
	grep -q " $name\b" ours.txt || { echo "no frame of $name in dynamic.data"; status=1; }
done
"$perfvisor" fold -i dynamic.data >folded || status=1
grep -q 'dynamic;_start;.*main;.*recurse;recurse;.*leaf' folded || { echo "fold: $(cut -c1-300 folded | head -n 5)"; status=1; }
exit $status
