#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# annotate and files that lie: symbols without a size, of 2^63 bytes, across the end of the code,
# and a function that is garbage; functions and recordings that are not there.
. tests/cli/common.sh

cat >odd.s <<'E_S'
	.text
	.globl _start, unsized, vast, garbage, last
	.type _start, @function
	.type unsized, @function
	.type vast, @function
	.type garbage, @function
	.type last, @function
_start:	mov %rax,%rbx
	ret
	.size _start, . - _start
unsized: add %rax,%rbx
	sub %rcx,%rdx
	ret
vast:	xor %eax,%eax
	ret
	.size vast, 0x7fffffffffffffff
garbage: .byte 0x62, 0xff, 0xff, 0xff, 0x06, 0xc4, 0x0f, 0xff, 0xf0, 0xf0, 0xf0, 0x0f, 0x04
	.size garbage, . - garbage
last:	nop
	.size last, 4096
E_S
gcc -nostdlib -static -no-pie -o odd odd.s || exit 1
address() { nm odd | awk -v name="$1" '$3 == name { print "0x" $1 }'; }
{
	echo 'event type=1 config=0 sample=IP,TID,TIME,PERIOD'
	echo 'comm 77 odd'
	echo "mmap 77 0x401000 0x1000 0x1000 $here/odd"
	time=1000
	for function in _start unsized vast garbage last; do
		time=$((time + 1))
		echo "sample pid=77 time=$time ip=$(address $function) period=10"
	done
} | python3 "$tests/build_recording.py" odd.data || exit 1

annotate() { # ARGUMENTS…
	"$perfvisor" annotate "$@" >ours.txt 2>ours.err
}
lines() { grep -cE '^ +[0-9.]+ : +[0-9a-f]+:   ' ours.txt; }
expect() { # SYMBOL LINES PATTERN
	annotate -i odd.data "$1" || complain "$1: $(cat ours.err)"
	[ "$(lines)" = "$2" ] || complain "$1 has $(lines) instructions: $(cat ours.txt)"
	grep -q -e "$3" ours.txt || complain "$1 lacks $3: $(cat ours.txt)"
}
expect _start 2 '100.00 : *401000:   mov    %rax,%rbx'
expect unsized 3 'sub    %rcx,%rdx' # up to the next symbol
expect garbage "$(annotate -i odd.data garbage; lines)" '<garbage>:'
expect last 1 'nop' # no more than the section has
# Whatever it is taken for, it ends, and it begins with the function.
annotate -i odd.data vast || complain "vast: $(cat ours.err)"
grep -q '100.00 : .*xor    %eax,%eax' ours.txt || complain "vast: $(cat ours.txt ours.err)"
annotate -i odd.data || complain "all: $(cat ours.err)"
[ "$(grep -c 'Percent |' ours.txt)" = 5 ] || complain "all: $(grep -c 'Percent |' ours.txt)"

# Source files that a program's author names: only what everybody may read is shown, escaped.
printf 'nothing\n  evil \033[2J text\n' >open.txt
printf 'nothing\nsecret\n' >secret.txt
chmod 600 secret.txt
mkfifo fifo.txt
{ echo nothing; head -c 9000000 /dev/zero | tr '\0' x; } >large.txt
{ echo nothing; head -c 5000 /dev/zero | tr '\0' y; } >long.txt
names=(open secret fifo large long missing)
{
	echo 'volatile unsigned long sum;'
	echo 'void _start(void) {'
	for i in "${!names[@]}"; do
		printf '#line 2 "%s"\nsum += %d;\n' "$here/${names[i]}.txt" $((i + 5))
	done
	# Past the end, a folder, and one of a file system that the kernel makes up
	printf '#line %d "%s"\nsum -= 1;\n' 77 "$here/open.txt" 1 /etc 1 /proc/self/status
	printf '#line 80 "named.c"\n}\n'
} >named.c
gcc -g -O0 -ffreestanding -nostdlib -static -no-pie -o named named.c || exit 1
start=$(nm named | sed -n 's/ T _start$//p')
rm named.c
{
	echo 'event type=1 config=0 sample=IP,TID,TIME,PERIOD'
	echo "mmap 77 0x401000 0x1000 0x1000 $here/named"
	echo "sample pid=77 time=1000 ip=0x$start period=10"
} | python3 "$tests/build_recording.py" named.data || exit 1
annotate -i named.data _start || complain "named: $(cat ours.err)"
[ "$(grep -cE '^ +:   .*(open|secret|fifo|large|long|missing).txt:2$' ours.txt)" = 6 ] ||
	complain "places: $(cat ours.txt)"
sed -nE 's/^ +: ([0-9]+ +\S.*)/\1/p' ours.txt >got.txt
printf '2    evil \\x1b[2J text\n2    %s\n' "$(head -c 500 /dev/zero | tr '\0' y)" >want.txt
cmp want.txt got.txt || complain "texts: $(cat got.txt)"

refused() { # MESSAGE ARGUMENTS…
	local message=$1
	shift
	annotate "$@" && complain "annotate $* succeeds"
	grep -q -e "$message" ours.err || complain "annotate $*: $(cat ours.err)"
}
refused "no selected sample is in a function 'nothing'" -i odd.data nothing
refused 'no sample of the recording is selected' -i odd.data --pid 1 vast
refused 'takes one function' -i odd.data one two
refused 'percent-limit' -i odd.data --percent-limit 101
# Without the file, there are no names either.
rm odd
refused 'no selected sample' -i odd.data vast
exit $status
