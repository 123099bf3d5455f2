#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains of `perf record --call-graph dwarf` are those of `perf script`, whose program's part
# is found from a copy of the stack: of dynamic, static, 32-bit and stripped programs, libraries
# loaded late, signals and short copies.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tools=$(realpath tests/cli)
workloads=$(realpath lab/workloads)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here # no perfconfig, no cache of build-ids
status=0

perf record -q -e cpu-clock --call-graph dwarf -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }

record() { # RECORDING, SIZE OF THE COPY, COMMAND…
	local name=$1 size=$2
	shift 2
	# A large ring: perf may not get the CPU for a while.
	perf record -q -m 4096 -e cpu-clock -F 2000 --call-graph "dwarf,$size" -o "$name" \
		-- "$@" >/dev/null 2>&1 ||
		{ echo "$name: perf record failed"; status=1; }
}
show() { # RECORDING: perf.txt and ours.txt
	perf script --no-inline -F comm,tid,time,ip,sym,dso -i "$1" >perf.txt 2>/dev/null
	"$perfvisor" script -F comm,tid,time,ip,sym,dso -i "$1" >ours.txt 2>ours.err ||
		{ cat ours.err; status=1; }
}
compare() { # RECORDING
	show "$1"
	python3 "$tools/dwarf_chains.py" perf.txt ours.txt 100 >differences ||
		{ echo "$1:"; cut -c1-300 differences; status=1; }
	tail -n 1 differences
	[ -s ours.err ] && { echo "$1: $(cat ours.err)"; status=1; }
}

complete() { # RECORDING, PROGRAM: its chains come to where programs and threads begin
	"$perfvisor" fold -i "$1" >folded 2>ours.err || { cat ours.err; status=1; }
	for functions in '_start;.*main;recurse;recurse;.*leaf' \
		'_start;.*qsort.*;compare;leaf' '.*start_thread;thread;.*leaf'; do
		grep -q "^$2;$functions" folded || { echo "$1: no chain $functions"; status=1; }
	done
	awk -v begin="^$2;(_start|(__)?clone3?);" '{ all += $NF }
		$0 !~ begin { early += $NF; chains = chains "\n" $0 }
		END { if (early > all / 20 || !all) {
			print FILENAME, early, "of", all, "end early:", chains
			exit 1 } }' folded >early ||
		{ echo "$1: $(cut -c1-300 early | head -n 5)"; status=1; }
	[ -s ours.err ] && { echo "$1: $(cat ours.err)"; status=1; }
}

gcc -O2 -o dynamic "$tools/dwarf_workload.c" -ldl || exit 1
gcc -O2 -shared -fPIC -DLIBRARY -o library.so "$tools/dwarf_workload.c" || exit 1
record dynamic.data 8192 ./dynamic ./library.so
compare dynamic.data
# Each of its parts is met, down to where the program begins.
for name in leaf handler in_library start_thread '[^ ]* (\[vdso\])'; do
	grep -q " $name" ours.txt || { echo "no frame of $name in dynamic.data"; status=1; }
done
complete dynamic.data dynamic

# The stack goes on behind a short copy.
record short.data 512 ./dynamic
compare short.data

# Registers without a copy of the stack: the chain is as it was recorded.
perf record -q -e cpu-clock -F 1000 -g --user-regs=ip,sp,bp -o registers.data \
	./dynamic 2>/dev/null || { echo "no registers.data"; status=1; }
compare registers.data

# Of longer chains 127 frames are shown, and of the kernel's part as many.
record deep.data 32768 ./dynamic deep
compare deep.data
[ "$(grep -c ' recurse\b' ours.txt)" -gt 10000 ] || { echo "too few frames of recurse"; status=1; }

# Chains end at code that was made at run time, and no file is missed.
record made.data 8192 ./dynamic made
compare made.data
grep -A1 ' leaf\b' ours.txt | grep -q '\[unknown\] (/tmp/perf-' ||
	{ echo "no frame of code made at run time"; status=1; }

# Static programs: perf finds nothing in those without .eh_frame_hdr, whose chains come to their
# beginning all the same.
gcc -O2 -static-pie -o static_pie "$tools/dwarf_workload.c" 2>/dev/null || exit 1
record static_pie.data 8192 ./static_pie
compare static_pie.data
gcc -O2 -static -o static "$tools/dwarf_workload.c" 2>/dev/null || exit 1
record static.data 8192 ./static
complete static.data static

# Functions of which .debug_frame alone has anything, while those of the C library are in .eh_frame.
# perf does not find them.
gcc -O2 -g -fno-asynchronous-unwind-tables -o debug_frame "$tools/dwarf_workload.c" -ldl || exit 1
readelf -SW debug_frame | grep -q '\.debug_frame' || { echo "there is no .debug_frame"; status=1; }
record debug_frame.data 8192 ./debug_frame
complete debug_frame.data debug_frame

# A 32-bit program without a C library, which a perf of 64 bits does not unwind (target
# platform=x86).
if gcc -m32 -O2 -ffreestanding -nostdlib -static -no-pie -fno-stack-protector \
	-o program32 "$workloads/user32.c" 2>/dev/null; then
	timeout 1 perf record -q -e cpu-clock -F 1000 --call-graph dwarf,1024 \
		-o program32.data ./program32 2>/dev/null
	"$perfvisor" fold -i program32.data >folded 2>ours.err || status=1
	awk '{ all += $NF } /^program32;_start;middle32;hot32(;| )/ { whole += $NF }
		END { exit !(whole > 0.9 * all) }' folded ||
		{ echo "program32: $(cut -c1-300 folded | head -n 5) $(cat ours.err)"; status=1; }
else
	echo "skipped: a 32-bit program, because gcc cannot make one here"
fi

# Other machines.
if command -v clang >/dev/null && command -v ld.lld >/dev/null; then
	python3 "$tools/dwarf_machines.py" "$perfvisor" "$tools/dwarf_machines.c" || status=1
else
	echo "skipped: recordings of arm64 and ppc64le, because there is no" \
		"clang or no ld.lld to build programs for them"
fi

# Stripped: .debug_frame is in a file of debugging information that is found by build-id, and
# compressed there.
objcopy --only-keep-debug --compress-debug-sections=zlib debug_frame debugging &&
	strip -s debug_frame
readelf -SW debug_frame | grep -q '\.debug_frame' && { echo "it was not stripped"; status=1; }
build_id=$(readelf -n debug_frame | sed -n 's/.*Build ID: //p')
mkdir -p "$HOME/.debug/.build-id/${build_id:0:2}/${build_id:2}"
cp debugging "$HOME/.debug/.build-id/${build_id:0:2}/${build_id:2}/debug"
complete debug_frame.data debug_frame
rm -r "$HOME/.debug"

# A file that is gone is named, with the number of samples; where a cache has it all is as before.
"$perfvisor" fold -i dynamic.data | sort >folded.before
cp library.so dynamic kept/ 2>/dev/null || { mkdir kept && mv library.so dynamic kept/; }
"$perfvisor" fold -i dynamic.data 2>ours.err | sort >folded.without
ended=$("$perfvisor" script -i dynamic.data -F comm,ip,sym,dso 2>/dev/null |
	awk 'NF >= 2 && /^\t/ { last = $0 }
	/^$/ && last { if (last ~ /[/](dynamic|library.so)[)]$/) count++; last = "" }
	END { print count + 0 }')
note="callers are missing in $ended samples.*not found here.*$here/dynamic.*perf archive"
grep -q "$note" ours.err ||
	{ echo "the note: $(cat ours.err), not $ended"; status=1; }
[ "$(wc -l <ours.err)" = 1 ] || { echo "more than a line: $(cat ours.err)"; status=1; }
cmp -s folded.before folded.without && { echo "nothing was missing"; status=1; }
for name in dynamic library.so; do
	build_id=$(readelf -n "kept/$name" | sed -n 's/.*Build ID: //p')
	mkdir -p "$HOME/.debug/.build-id/${build_id:0:2}/${build_id:2}"
	cp "kept/$name" "$HOME/.debug/.build-id/${build_id:0:2}/${build_id:2}/elf"
done
"$perfvisor" fold -i dynamic.data 2>ours.err | sort | cmp - folded.before ||
	{ echo "not as before: $(cat ours.err)"; status=1; }

# Another file of that name is not used.
cp kept/library.so dynamic
rm -r "$HOME/.debug"
"$perfvisor" fold -i dynamic.data 2>/dev/null | grep -q ';main;' &&
	{ echo "another file's data were used"; status=1; }
exit $status
