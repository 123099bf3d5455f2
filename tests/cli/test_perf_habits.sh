#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a user of perf tries, and mistypes: options of report and script that mean what perf's do, or
# say what to use, and reasons that are true.
. tests/cli/common.sh

refuses() { # STATUS WORDS ARGUMENT…
	"$perfvisor" "${@:3}" >out 2>err </dev/null
	[ $? = "$1" ] && grep -q -e "$2" err || complain "${*:3}: $(head -n 3 err)"
}

perf_record -g -e cpu-clock:k -c 200000 -o chains.data ls -lR /usr/share/doc

# report --max-stack: a function's children are the samples that have it in their first frames.
for frames in 1 3 8; do
	perf script -i chains.data -F ip,sym --max-stack $frames 2>/dev/null |
		python3 -c '
import collections, sys
counts = collections.Counter()
for sample in sys.stdin.read().split("\n\n"):
    names = {line.split(None, 1)[1] for line in sample.splitlines() if line.strip()}
    counts.update(names - {"[unknown]"})
for name, count in sorted(counts.items()):
    print(count * 200000, name)' | sort >wanted
	"$perfvisor" report -i chains.data --max-stack $frames --json --sort sym 2>err |
		python3 -c '
import json, sys
for row in json.load(sys.stdin)["events"][0]["rows"]:
    if row["sym"]:
        print(row["children"], row["sym"])' | sort >out
	[ "$(wc -l <wanted)" -ge 5 ] || complain "perf script shows $(wc -l <wanted) functions"
	cmp -s wanted out || complain "--max-stack $frames: $(diff wanted out | head -n 6; cat err)"
done

# The same text with and without them.
"$perfvisor" report -i chains.data -g caller >plain 2>/dev/null
for options in -G '-f -g caller'; do
	# shellcheck disable=SC2086 # words
	"$perfvisor" report -i chains.data $options >out 2>/dev/null
	cmp -s plain out || complain "report $options: $(diff plain out | head -n 4)"
done
"$perfvisor" script -i chains.data >plain 2>/dev/null
"$perfvisor" script -i chains.data -f >out 2>/dev/null
cmp -s plain out || complain "script -f: $(diff plain out | head -n 4)"

# -q prints no notes: here that a guest has no symbols.
guest=$OLDPWD/tests/golden/perfdata/kvm.data
"$perfvisor" report -i "$guest" >plain 2>err
grep -q 'guestkallsyms' err || complain "no note to be silent about: $(cat err)"
"$perfvisor" report -q -i "$guest" >out 2>err
diff <(grep -v -e '^#' -e '^$' plain) <(grep -v '^$' out) >differences && [ ! -s err ] ||
	complain "report -q: $(head -n 4 differences err)"

for option in --group -v --verbose --tui; do
	refuses 2 'is not available' report $option
	grep -q 'hint:' err || complain "report $option has no hint"
done

# Words of perf that mean something else here, or nothing.
refuses 2 "hint: -i chains.data names a recording" report chains.data
refuses 2 "report takes no argument 'nosuch.data'" report nosuch.data
! grep -q 'hint: -i' err || complain "report nosuch.data: $(cat err)"
refuses 2 'hint: it is a column: -F overhead' report -i chains.data -s overhead,sym
refuses 2 'hint: the words are caller, callee, none' report -i chains.data -g fractal
refuses 2 "perf's option --event is not available" report -e cycles
refuses 2 "hint: .*'perf stat -e cycles:G'" stat
for command in kvm trace evlist inject archive mem lock; do
	refuses 2 "unknown command '$command'" $command
	grep -q 'hint: .' err && ! grep -q 'did you mean' err || complain "$command: $(cat err)"
done

# What is no recording, or the beginning of one.
"$perfvisor" script -i chains.data >text 2>/dev/null
"$perfvisor" report -i - <text >out 2>err
grep -q 'hint: it is text' err || complain "text on standard input: $(cat err)"
head -c 64 /dev/zero | "$perfvisor" report -i - >out 2>err
grep -q 'is not a perf.data file' err && ! grep -q 'text' err || complain "zeros: $(cat err)"
perf record -q -e cpu-clock -c 200000 -z -o - -- ls -R /usr/share/doc >pipe.data 2>/dev/null
if perf report -i pipe.data --stdio >/dev/null 2>&1; then
	head -c $(($(stat -c %s pipe.data) - 5)) pipe.data | "$perfvisor" report -i - >out 2>err
	grep -q "'standard input' ends within a record, so it may have been cut off" err ||
		complain "a pipe that ends early: $(cat err)"
fi
"$perfvisor" flamegraph -i chains.data -o /dev/stdout 2>err | cat >page.html
[ -s page.html ] && [ ! -s err ] || complain "a page on standard output: $(cat err)"

# Files of options are wanted even where nothing needs them.
for option in --guestkallsyms --guestmodules --guestvmlinux; do
	refuses 1 "$option 'nosuch': No such file" report -i chains.data $option nosuch
	refuses 1 "$option 'nosuch': No such file" script -i chains.data $option nosuch
done

# -q: rows alone, as perf has them.
for more in '' --hierarchy -t,; do
	"$perfvisor" report -i chains.data -g none -s comm,dso $more 2>/dev/null |
		grep -v -e '^#' -e '^$' >rows
	"$perfvisor" report -i chains.data -g none -s comm,dso $more -q 2>err |
		grep -v "^$" >quiet
	diff rows quiet >differences || complain "report -q $more: $(head -n 4 differences)"
done
perf report -q -i chains.data -g none --no-children -s comm,dso 2>/dev/null | sed 's/  *$//' |
	grep -v '^$' >perf.txt
"$perfvisor" report -q -i chains.data -g none --no-children -s comm,dso 2>/dev/null |
	sed 's/  *$//' | grep -v '^$' | cmp - perf.txt || complain "report -q is not perf's"

# A command that cannot be run replaces no recording, and makes none.
cp chains.data kept.data
touch not-a-program
refuses 1 "could not run the command 'nosuch': No such file" record -o kept.data -- nosuch
refuses 1 "could not run the command './nosuch': No such file" record -o kept.data -- ./nosuch
refuses 1 "could not run the command './not-a-program': Perm" record -o kept.data -- ./not-a-program
refuses 1 "could not run the command '/': Permission denied" record -o kept.data -- /
cmp -s chains.data kept.data && [ ! -e kept.data.old ] || complain "the old recording is gone"
refuses 1 "could not run the command 'nosuch'" record -o new.data -- nosuch
[ ! -e new.data ] || complain "a recording was made for a command that does not exist"
! grep -q 'was recorded' err || complain "nothing was recorded: $(cat err)"

# Nor does one during which no VM ran.
if [ -z "$("$perfvisor" list --no-memory 2>/dev/null | awk 'NR > 1 && $3 != "?"')" ]; then
	"$perfvisor" record -o kept.data -- true 2>err || complain "no VM: $(cat err)"
	cmp -s chains.data kept.data && [ ! -e kept.data.old ] ||
		complain "the old recording is gone: $(cat err)"
	grep -q 'kept.data was not written' err || complain "no VM: $(cat err)"
else
	echo "skipped: a recording without VMs, because this machine runs some"
fi

# One is not many.
{
	echo event sample=IP,TID,TIME,PERIOD
	echo comm 7 one
	echo sample pid=7 time=1000 ip=0x1000
} | python3 "$tests/build_recording.py" one.data
"$perfvisor" report -i one.data 2>/dev/null | grep -q '^# Totals: 1 sample:' ||
	complain "$("$perfvisor" report -i one.data 2>&1 | grep Totals)"

# Stacks of machines whose registers are not known.
perf_record --call-graph dwarf,512 -e cpu-clock:u -o dwarf.data ls -R /usr/share/doc
python3 "$tests/edit_recording.py" dwarf.data riscv.data arch=riscv64
said="callers of programs are missing: copies of stacks of 'riscv64' machines cannot be read"
for command in report script fold; do
	"$perfvisor" $command -i riscv.data >out 2>err
	grep -q "$said" err || complain "$command of another machine's stacks: $(cat err)"
	"$perfvisor" $command -i dwarf.data >out 2>err
	! grep -q 'cannot be read' err || complain "$command of this machine's stacks: $(cat err)"
done

# A link that leads nowhere is not replaced.
ln -s nowhere/else.html link.html
refuses 2 "'link.html' is a link to something that is not there" flamegraph -i chains.data \
	-o link.html
[ -L link.html ] || complain "a link was replaced"
exit "$status"
