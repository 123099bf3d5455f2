#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor diff --flamegraph`: the page has the stacks of both recordings with the periods that
# `perf script` prints, parts of functions being the function; and says which differences are more
# than chance. In a browser it shows both shares, and colours what differs; and a table of functions
# with the numbers of diff's text.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tools=$(realpath tests/cli)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0
complain() {
	echo "FAILED: $1"
	status=1
}

perf record -q -e cpu-clock -g -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }
# main() calls steady() and changed(), and both hot_a() and hot_b(). A part of a function has a
# name of its own in one build and not in the other.
cat >load.c <<'CODE'
#include <stdlib.h>
volatile unsigned long sum;
__attribute__((noinline)) void hot_a(unsigned long n) { while (n--) sum += n * 3; sum++; }
__attribute__((noinline)) void hot_b(unsigned long n) __asm__(PART);
__attribute__((noinline)) void hot_b(unsigned long n) { while (n--) sum ^= n * 7; sum++; }
__attribute__((noinline)) void steady(unsigned long n) { hot_a(n); hot_b(n); sum++; }
__attribute__((noinline)) void changed(unsigned long a, unsigned long b)
{
	hot_a(a);
	hot_b(b);
	sum++;
}
int main(int argc, char **argv)
{
	unsigned long a = atol(argv[1]), b = atol(argv[2]);
	for (int i = 0; i < 40; i++) {
		steady((a + b) / 2);
		changed(a, b);
	}
	return argc != 3;
}
CODE
flags=(-O0 -g -static -fno-omit-frame-pointer) # each function has a frame
mkdir old new
gcc "${flags[@]}" -DPART='"hot_b"' load.c -o old/load || exit 1
gcc "${flags[@]}" -DPART='"hot_b.constprop.0"' load.c -o new/load || exit 1
record() { # NAME A B: until it has samples enough to judge
	local count
	for count in 1 2 4 8 16; do
		perf record -q -g -e cpu-clock -F 5000 -o "$1.data" "$1/load" $((count * $2)) \
			$((count * $3)) >/dev/null 2>&1
		[ "$(perf script -i "$1.data" -G -F comm 2>/dev/null | grep -c load)" -lt 1000 ] ||
			return
	done
	complain "$1 has not enough samples"
}
record old 900000 300000
record new 300000 900000
for name in old new; do
	perf script --no-inline -i $name.data 2>/dev/null |
		python3 "$tools/collapse.py" >$name.folded
done

"$perfvisor" diff --flamegraph old.data new.data -o page.html 2>err ||
	{ complain "diff --flamegraph: $(cat err)"; exit 1; }
grep -q "wrote 'page.html'" err || complain "nothing is said of the page: $(cat err)"
"$perfvisor" diff --flamegraph old.data new.data -o - 2>/dev/null | cmp - page.html ||
	complain '-o - writes another page'
"$perfvisor" diff --flamegraph old.data new.data 2>/dev/null && cmp diff.html page.html ||
	complain 'without -o there is no diff.html'
"$perfvisor" diff --flamegraph old.data old.data -o same.html 2>/dev/null || status=1
"$perfvisor" diff -t '|' old.data new.data >diff.txt 2>/dev/null || status=1
python3 -B "$tools/diff_page.py" old.folded new.folded page.html same.html diff.txt || status=1

# What it refuses; and a file of somebody's is left alone.
refuses() { # PATTERN ARGUMENT…
	local pattern=$1 got
	shift
	"$perfvisor" diff "$@" >out 2>err
	got=$?
	[ $got != 0 ] && grep -q -- "$pattern" err ||
		complain "diff $* has status $got and prints: $(cat out err)"
}
echo mine >mine.html
refuses 'is not a perfvisor page' --flamegraph -o mine.html old.data new.data
grep -qx mine mine.html || complain 'a file was replaced'
refuses 'compares two' --flamegraph old.data new.data old.data
refuses '--sort and --flamegraph' --flamegraph --sort dso old.data new.data
refuses '--output is for --flamegraph' -o x.html old.data new.data
"$perfvisor" diff --flamegraph old.data new.data -o /dev/full 2>/dev/null &&
	complain 'a full disk is no error'
[ $status = 0 ] || exit 1

for program in chromium chromedriver; do
	command -v $program >/dev/null || {
		echo "skipped: the page in a browser, because $program is not installed:" \
			"'make setup' does it"
		exit 0
	}
done
export HOME=$here # use no files of the user
axe=
if command -v npm >/dev/null && timeout 120 npm pack --silent axe-core >/dev/null 2>&1 &&
	tar xzf axe-core-*.tgz package/axe.min.js; then
	axe=package/axe.min.js
else
	echo "skipped: axe-core, because npm cannot fetch its package"
fi
# shellcheck disable=SC2086 # one word, or none
python3 -B "$tools/diff_page.py" old.folded new.folded "$here/page.html" --browser $axe
