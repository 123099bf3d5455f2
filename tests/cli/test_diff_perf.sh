#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# diff prints the shares and differences that stock perf diff prints for the same recordings; its
# choice of recordings; its exit status; and parts of functions that count as the function.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0
complain() {
	echo "FAILED: $1"
	status=1
}

perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }
cat >load.c <<'CODE'
#include <stdlib.h>
volatile unsigned long sum;
__attribute__((noinline)) void hot_a(unsigned long n) { while (n--) sum += n * 3; }
__attribute__((noinline)) void hot_b(unsigned long n) { while (n--) sum ^= n * 7; }
int main(int argc, char **argv)
{
	for (int i = 0; i < 40; i++) {
		hot_a(atol(argv[1]));
		hot_b(atol(argv[2]));
	}
	return argc != 3;
}
CODE
gcc -O1 -g load.c -o load || exit 1
record() { # NAME A B: until it has samples enough to judge
	local count
	for count in 1 2 4 8 16; do
		perf record -q -e cpu-clock -F 5000 -o "$1" ./load $((count * $2)) $((count * $3)) \
			>/dev/null 2>&1
		[ "$(perf script -i "$1" -F comm 2>/dev/null | grep -c load)" -lt 1000 ] || return
	done
	complain "$1 has not enough samples"
}
record a 900000 300000
record b 300000 900000
record same 900000 300000
"$perfvisor" diff a b >ours 2>ours.err || complain "diff: $(cat ours.err)"
perf diff a b >theirs 2>/dev/null

cat >rows.py <<'CHECK'
import re, sys

def strip(name):
    added = "cold|isra|constprop|part|lto_priv|localalias|llvm|clone"
    return re.sub(rf"(\.({added})(\.\d+)?)+$", "", name)

def parse(path, extra):
    rows = {}
    for line in open(path):
        found = re.match(r" {2,4}( {7,}|\s*[\d.]+%)  \s*(\S*?)\s*" + extra +
                         r"  (\S+) +\[(.)\] (.*?)\s*$", line)
        if line.startswith("#") or not line.strip():
            continue
        cells = re.split(r"  +", line.strip())
        name = strip(re.sub(r"^\[.\] ", "", cells[-1]))
        numbers = [cell for cell in cells[:-2] if re.fullmatch(r"[+-]?[\d.]+%", cell)]
        base = next((float(x[:-1]) for x in numbers if x[0] not in "+-"
                     and line[:12].strip()), None)
        delta = next((float(x[:-1]) for x in numbers if x[0] in "+-"), None)
        rows.setdefault((cells[-2], name), []).append((base, delta))
    return rows

ours, theirs = parse("ours", ""), parse("theirs", "")
compared = failures = 0
for key, found in theirs.items():
    base, delta = found[0]
    # perf has a row for each part of a function, and one for each address without a name
    if len(found) > 1 or key[1].startswith("0x"):
        continue
    if key not in ours or len(ours[key]) != 1:
        print("only perf has", key)
        failures += 1
        continue
    mine = ours[key][0]
    if delta is None: # perf leaves it out where only the first recording has the function
        delta = -base
    if mine[0] != base or abs(mine[1] - delta) > 0.0101:
        print(key, "perf:", (base, delta), "perfvisor:", mine)
        failures += 1
    compared += 1
print(compared, "rows compared")
sys.exit(failures > 0 or compared < 2)
CHECK
python3 rows.py >rows.txt || complain "rows: $(cat rows.txt)"
certain() { awk -v name="$2" '$NF == name { print $4 }' "$1"; }
for function in hot_a hot_b; do
	[ "$(certain ours $function)" = yes ] ||
		complain "$function differs: $(grep $function ours)"
done
"$perfvisor" diff a a >alike 2>/dev/null
! grep -v '^#' alike | grep -qw yes || complain "a recording differs from itself"
[ "$(grep -cE '\+0\.00% .* (hot_a|hot_b)$' alike)" = 2 ] || complain "a - a is 0: $(cat alike)"

# --fail-over has a status of its own.
"$perfvisor" diff --fail-over 10 a b >/dev/null 2>over.err
[ $? = 3 ] || complain "--fail-over 10 has status 3"
grep -q '2 differences are more than chance and over 10 %' over.err ||
	complain "--fail-over reports what is over: $(cat over.err)"
"$perfvisor" diff --fail-over 90 a b >/dev/null 2>&1 || complain "nothing differs by 90 %"
"$perfvisor" diff --fail-over 0.001 a a >/dev/null 2>&1 || complain "a equals a"

# The other methods, and their order, as perf has them; names of methods, too.
for method in ratio wdiff:1,2 delta; do
	perf diff -c "$method" --percentage relative -d load a b 2>/dev/null |
		awk '/hot_[ab]/ { print $2, $NF }' >theirs
	"$perfvisor" diff a b -c "$method" -d load 2>/dev/null |
		awk '/hot_[ab]/ { print $2, $NF }' >ours
	[ -s theirs ] && cmp -s theirs ours ||
		complain "-c $method: $(paste theirs ours)"
done
perf diff a b same 2>/dev/null | awk '/hot_[ab]/ { print $1, $2, $3, $NF }' >theirs
"$perfvisor" diff a b same -t '|' 2>/dev/null |
	awk -F '|' '/hot_[ab]/ { split($NF, w, " "); print $1, $2, $5, w[2] }' >ours
cmp -s theirs ours || complain "three recordings: $(paste theirs ours)"

# Which recordings are compared if none is named
refuses() { # PATTERN ARGUMENT…
	local pattern=$1 got
	shift
	"$perfvisor" diff "$@" >out 2>err
	got=$?
	[ $got != 0 ] && [ ! -s out ] && grep -q "$pattern" err ||
		complain "diff $* has status $got and prints: $(cat out err)"
}
sides() { sed -n 's/^#  \[[0-9]*\] \([^,]*\),.*/\1/p' | paste -sd ' '; }
compares() { # WANTED ARGUMENT…
	local wanted=$1 got
	shift
	got=$("$perfvisor" diff "$@" 2>err | sides)
	[ "$got" = "$wanted" ] || complain "diff $* compares '$got', not '$wanted': $(cat err)"
}
mkdir choice && cd choice || exit 1
refuses 'no recording in this folder'
cp ../a perf.data
refuses "no 'perf.data.old'"
cp ../b perf.data.old
compares 'perf.data.old perf.data'
cp ../a perf.data.guest
touch -d '+1 minute' perf.data.guest
cp ../b perf.data.guest.old
compares 'perf.data.guest.old perf.data.guest'
cp ../b perf.data.host
compares 'perf.data.host perf.data.guest'
compares 'perf.data.old perf.data' perf.data
compares '../a ../b ../same' ../a ../b -b ../same
refuses 'No such file' ../a nosuch
refuses "unknown key 'nosuch'" -s nosuch ../a ../b
refuses "does not understand 'nosuch'" -c nosuch ../a ../b
refuses "wdiff:1" -c wdiff:1 ../a ../b
refuses 'at most 1 here' --order 2 ../a ../b
perf record -q -e page-faults -e minor-faults -c 1 -o faults true 2>/dev/null
refuses 'no event has samples in all' faults ../a
cd .. || exit 1

# All of a file's code without a name is one row, wherever it is, with all of its samples.
gcc -O1 -s -Wl,--build-id=none load.c -o bare || exit 1
perf record -q -e cpu-clock -F 5000 -o bare.data ./bare 1200000 1200000 >/dev/null 2>&1
read -r own everywhere all < <(perf script -i bare.data -F ip,dso 2>/dev/null | awk '
	/\(.*\/bare\)$/ { own++; seen[$1]++ }
	END { print own + 0, length(seen), NR }')
[ "$own" -ge 100 ] && [ "$everywhere" -ge 3 ] ||
	complain "bare: $own samples at $everywhere places"
"$perfvisor" diff -t '|' bare.data a 2>/dev/null | grep '|bare|' >got
printf '%s|bare|[.] [unknown]\n' "$(python3 -c "print(f'{100 * $own / $all:.2f}%')")" >want
sed -E 's/^([^|]*)\|[^|]*\|[^|]*\|[^|]*\|/\1|/' got | cmp - want ||
	complain "bare: $(cat got), not $(cat want)"
exit $status
