#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor annotate` has the instructions that objdump has, with the shares that stock `perf
# annotate` has, for x86-64, i386, arm64 and ppc64le.
. tests/cli/common.sh

compare() { # MODE ARGUMENTS…
	python3 "$tests/annotate.py" "$@" >compared 2>&1 || complain "$(tail -n 3 compared)"
}
annotate() { # ARGUMENTS…
	"$perfvisor" annotate "$@" >ours.txt 2>ours.err || complain "annotate $*: $(cat ours.err)"
}

# A program that runs, by stock perf.
gcc -O1 -g -DHOSTED -o hosted "$tests/annotate_workload.c" || exit 1
perf_record -e cpu-clock -F 5000 -o run.data -- ./hosted
for function in mix fill; do
	perf annotate -i run.data --stdio -s $function >perf.txt 2>/dev/null
	annotate -i run.data $function
	compare perf perf.txt ours.txt
	compare objdump ours.txt $function hosted
done
# Without a name: all functions with samples; the kernel's code is not here for us.
annotate -i run.data -d hosted
compare objdump ours.txt mix hosted
compare objdump ours.txt fill hosted
# -s, -n and --print-line are perf's.
annotate -i run.data -s mix -n
"$perfvisor" annotate mix -i run.data -n | cmp - ours.txt || complain "options after the function"
perf annotate -i run.data --stdio -n -s mix >perf.txt 2>/dev/null
compare perf perf.txt ours.txt
annotate -i run.data -s mix -l
perf annotate -i run.data --stdio -l -s mix 2>/dev/null >perf.txt
summary() {
	sed -nE 's/^ +([0-9.]+) +(annotate_workload.c:[0-9]+)$/\1 \2/p' "$1" | sort
}
[ "$(summary perf.txt | wc -l)" -ge 2 ] || complain "perf's summary: $(head -n 12 perf.txt)"
diff <(summary perf.txt) <(summary ours.txt) >differences ||
	complain "lines: $(head -n 6 differences)"
grep -q '^  *: .*mix() annotate_workload.c:[0-9]' ours.txt || complain "no source lines"
# The text of each source line is that of the file, and perf has it, too.
texts() { # FILE: number and text of source lines
	sed -nE 's/^ +: ([0-9]+) +(\S.*)$/\1 \2/p' "$1" | grep -v '():$' | sort -u
}
grep -E '^ +: (  (\S+ )?annotate_workload.c:|[0-9])' ours.txt |
	sed -nE '/ annotate_workload.c:[0-9]+$/ {
		N
		s/.*:([0-9]+)\n +: ([0-9]+) +(.*)/\1 \2 \3/p
	}' |
	sort -u >places.txt
[ "$(wc -l <places.txt)" -ge 3 ] || complain "source texts: $(head -n 20 ours.txt)"
while read -r place line text; do
	[ "$place $text" = "$line $(sed -nE "${place}s/^\s+|\s+$//gp;${place}p" \
		"$tests/annotate_workload.c" | head -n 1)" ] ||
		complain "the text of line $place: $line $text"
done <places.txt
[ "$(comm -12 <(texts perf.txt) <(texts ours.txt) | wc -l)" -ge 2 ] ||
	complain "perf's texts: $(texts perf.txt | head -n 5); ours: $(texts ours.txt | head -n 5)"

# A stripped program's functions have no names, which is said.
gcc -O1 -s -Wl,--build-id=none -DHOSTED -o stripped "$tests/annotate_workload.c" || exit 1
perf_record -e cpu-clock -F 5000 -o stripped.data -- ./stripped
"$perfvisor" annotate -i stripped.data >/dev/null 2>ours.err
read -r nameless all < <(perf script -i stripped.data -F ip,sym,dso 2>/dev/null |
	awk '/\(.*stripped\)$/ { own++ } END { print own + 0, NR }')
awk -v nameless="$nameless" -v all="$all" '/ samples are in no function that has a name,/ {
	found = $2 >= nameless && $2 <= all && $4 == all
} END { exit !found || nameless < 20 }' ours.err ||
	complain "stripped: $nameless of $all: $(cat ours.err)"
"$perfvisor" annotate -i stripped.data 0x1139 2>ours.err && complain "an address was annotated"
grep -q "needs a function's name" ours.err || complain "an address: $(cat ours.err)"

# Functions of a library that everybody has, with instructions of all kinds.
perf_record -e cpu-clock -F 5000 -o list.data -- ls -laR /usr/share/doc
annotate -i list.data -d libc.so.6 --percent-limit 1
libc=$("$perfvisor" script -i list.data -F ip,sym,dso 2>/dev/null |
	sed -nE 's/.*\((.*libc\.so\.6)\)$/\1/p' | head -n 1)
count=0
while read -r function; do
	# objdump knows the symbols of .dynsym alone.
	[ "$(nm -D "$libc" 2>/dev/null | grep -cE " [TWi] $function(@|$)")" = 1 ] || continue
	compare objdump ours.txt "$function" "$libc" objdump ''
	count=$((count + 1))
done < <(sed -nE 's/^ +: +[0-9a-f]{16} <([a-z0-9]+)>:$/\1/p' ours.txt | head -n 12)
echo "$count functions of libc"

# Machines that are not here: samples that were made at every second instruction.
machine() { # TARGET OBJDUMP OPTIONS…
	local target=$1 tool=$2
	shift 2
	clang --target="$target" -O1 -ffreestanding -nostdlib -static -fuse-ld=lld "$@" \
		-o "$here/$target" "$tests/annotate_workload.c" 2>clang.err ||
		{ complain "$target: $(tail -n 2 clang.err)"; return; }
	python3 "$tests/annotate.py" samples mix,fill,work "$here/$target" "$tool" >recording.txt ||
		complain "$target: no samples"
	python3 "$tests/build_recording.py" made.data <recording.txt ||
		complain "$target: no recording"
	annotate -i made.data
	for function in mix fill work; do
		compare objdump ours.txt $function "$here/$target" "$tool"
		compare shares ours.txt $function "$here/$target" "$tool"
	done
}
machine x86_64-linux-gnu objdump
machine i386-linux-gnu objdump
machine aarch64-linux-gnu llvm-objdump
machine powerpc64le-linux-gnu llvm-objdump

exit $status
