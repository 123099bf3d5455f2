#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Source lines and inlined functions of `perfvisor script` and `perfvisor report` are those of stock
# perf, and of addr2line: of DWARF 4 and 5, several units, libraries, and files of debugging
# information.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tools=$(realpath tests/cli)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here # no perfconfig, no cache of build-ids
status=0
complain() {
	echo "$1"
	status=1
}

perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }

build() { # FOLDER, OPTIONS OF GCC
	local to=$1
	shift
	mkdir -p "$to" && cp "$tools/lines_workload.c" "$to/program.c" &&
		cp "$to/program.c" "$to/unit.c" && cp "$to/program.c" "$to/library.c" &&
		gcc -O2 "$@" -shared -fPIC -DLIBRARY -o "$to/library.so" "$to/library.c" &&
		gcc -O2 "$@" -c -DUNIT -o "$to/unit.o" "$to/unit.c" &&
		gcc -O2 "$@" -o "$to/program" "$to/program.c" "$to/unit.o" "$to/library.so" \
			-Wl,-rpath,"$here/$to" || { echo "gcc failed"; exit 1; }
}
record() { # RECORDING, OPTIONS OF PERF, COMMAND
	perf record -q -B -N -e cpu-clock -F 3000 -o "$@" >/dev/null 2>&1 ||
		complain "$1: perf record failed"
}
ours() { # OPTIONS: its output, which must come without an error or a warning
	"$perfvisor" "$@" 2>ours.err || complain "$* failed: $(cat ours.err)"
	[ ! -s ours.err ] || complain "$*: $(cat ours.err)"
}

chains() { # RECORDING, FOLDER: chains with source lines and inlined functions
	perf script -i "$1" -F ip,sym,dso,srcline >perf.txt 2>/dev/null
	ours script -i "$1" -F ip,sym,dso,srcline --inline >ours.txt
	python3 "$tools/source_lines.py" perf perf.txt ours.txt 100 || complain "$1 differs"
	[ -z "${2-}" ] || python3 "$tools/source_lines.py" addr2line ours.txt "$here/$2" 20 ||
		complain "$1 differs from addr2line"
}
build five -gdwarf-5
build four -gdwarf-4 -fno-pie -no-pie
build packed -gz -gdwarf-5 -ffunction-sections
for folder in five four packed; do
	record $folder.data --call-graph dwarf,4096 "$folder/program"
	chains $folder.data $folder
done

# Inlined functions are shown only if they are asked for, and without source lines, too.
ours script -i five.data --no-inline >plain.txt
ours script -i five.data >default.txt
cmp -s plain.txt default.txt || complain "script shows inlined functions by default"
grep -q '(inlined)' default.txt && complain "script --no-inline shows inlined functions"
inlined() { # of the test's own functions: perf takes other names of a symbol for inlined ones
	grep -E '(mix|twice|call_all|_step)\+.* \(inlined\)'
}
diff <(perf script -i five.data 2>/dev/null | inlined) \
	<(ours script -i five.data --inline | inlined) >differences ||
	complain "inlined functions differ: $(head -n 4 differences)"
[ "$(ours script -i five.data --inline | inlined | grep -c 'mix+0x')" -gt 50 ] ||
	complain "too few inlined functions"

# Without chains: samples, and counts by source line. The kernel has none here. Of inlined functions
# of the dynamic linker, perf gives the line in the header with the name of the file that includes
# it; which of them run depends on the processor.
record flat.data five/program
without_linker() {
	awk '/\)$/ { keep = !/\/ld-linux[^\/]*\)$/ } keep'
}
diff <(perf script -i flat.data -F +srcline 2>/dev/null | without_linker) \
	<("$perfvisor" script -i flat.data -F +srcline | without_linker) >differences ||
	complain "flat.data: $(head -n 4 differences)"
[ "$(perf script -i flat.data -F +srcline 2>/dev/null | without_linker | grep -c 'program\.c')" \
	-ge 50 ] || complain "flat.data: too few lines to compare"
rows() { # without the kernel's: perf cuts their names in a second column
	grep '^ .*%' | grep -v '\[k\]' | sed 's/ *$//; s/  */ /g' | sort
}
for keys in srcline sym,srcline sym,srcline,dso srcline,comm; do
	diff <(perf report -i flat.data --stdio --percentage relative \
		-d program,library.so -s $keys 2>/dev/null |
		rows) <(ours report -i flat.data -d program,library.so -s $keys | rows) \
		>differences ||
		complain "report -s $keys: $(head -n 6 differences)"
done
ours report -i flat.data -F overhead,srcline | grep -q 'Overhead  Source:Line' ||
	complain "no column Source:Line"
ours report -i flat.data -s srcline --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["events"][0]["rows"]
lines = {row["srcline"] for row in rows}
assert any(line.startswith("program.c:") for line in lines), lines' || complain "JSON has no lines"

# With chains: each inlined function has a row of what was counted for it and what it calls.
functions() {
	rows | grep -E ' (main|in_.*|mix.*|twice.*|call_all.*|.*_step.*)$'
}
perf report -i five.data --stdio -g none -s sym 2>/dev/null | functions >perf.txt
ours report -i five.data --inline -g none -s sym | functions >ours.txt
diff perf.txt ours.txt >differences || complain "rows differ: $(head -n 6 differences)"
[ "$(grep -c '(inlined)' ours.txt)" -ge 4 ] || complain "rows: $(cat ours.txt)"
perf report -i five.data --stdio --no-children -g none -s sym 2>/dev/null | functions >perf.txt
ours report -i five.data --inline --no-children -g none -s sym | functions >ours.txt
diff perf.txt ours.txt >differences || complain "own rows differ: $(head -n 6 differences)"
# Below a row by caller; perf has the same lines.
tree() { # ROW
	sed -n "/% .*\] $1\$/,/^\$/p" | grep -o '[0-9.]*%--[^ ].*' | grep -v '\[k\]' | sort
}
perf report -i five.data --stdio -g caller,0.5 -s sym 2>/dev/null | tree in_program >perf.txt
ours report -i five.data --inline -g caller,0.5 -s sym | tree in_program >ours.txt
grep -q -- '--twice (inlined)' perf.txt || complain "perf's tree: $(cat perf.txt)"
diff perf.txt ours.txt >differences || complain "trees differ: $(cat differences)"

# By line, chains have lines, too; children are counted line by line.
ours report -i five.data --inline -s srcline -g caller | grep -q -- '--in_program program.c:' ||
	complain "chains have no source lines"

exit $status
