#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# stat report of exits of all architectures, made from text on whatever machine this is: what is
# reported is what tests/golden/exits/*.txt expect, which is worked out by hand there. The names of
# reasons are those that this machine's kernel prints, as far as it has them.
. tests/cli/common.sh
golden=$(realpath "$tests/../golden/exits")

make_recordings() {
	local name
	for name in vmx svm arm64 ppc64; do
		python3 "$tests/exits_recording.py" $name.data "$golden/$name.txt" || exit 1
	done
}

check_golden() { # NAME
	local event
	for event in vmexit mmio ioport msr hypercall; do
		grep -q "^expect $event " "$golden/$1.txt" || continue
		"$perfvisor" stat report -i "$1.data" --event $event --json >$event.json \
			2>err.txt ||
			complain "$1 $event: $(cat err.txt)"
	done
	python3 "$tests/check_exits.py" golden "$golden/$1.txt" || status=1
}

# Each line of the text begins as perf's does; what follows is the JSON's.
check_text() {
	"$perfvisor" stat report -i vmx.data >text.txt 2>err.txt || complain "text: $(cat err.txt)"
	grep -qE '^ +VM-EXIT +Samples +Samples% +Time% .* P99 +Total time$' text.txt ||
		complain "title: $(head -n 5 text.txt)"
	grep -qE '^ +HLT +3 +25\.00% .* 3\.00us +4\.00us +7\.60us$' text.txt ||
		complain "HLT: $(grep HLT text.txt)"
	grep -q '^Lost events: 7$' text.txt || complain "lost: $(tail -n 3 text.txt)"
}

# Rows by function: the guest's, named by --guestkallsyms; by vCPU; of one vCPU; of one VM.
check_keys() {
	printf '%s\n' 'ffffffff81000000 T first' 'ffffffff81000020 T second' \
		'ffffffff81000030 T third' 'ffffffff81000040 T last' >kallsyms
	"$perfvisor" stat report -i vmx.data --guestkallsyms kallsyms --by gsym,reason --json \
		>by.json 2>err.txt || complain "--by gsym: $(cat err.txt)"
	python3 "$tests/check_exits.py" rows by.json HLT/first=2 IO_INSTRUCTION/second=1 \
		IO_INSTRUCTION/third=1 HLT/0x0=1 || status=1
	"$perfvisor" stat report -i vmx.data --guestkallsyms kallsyms --by gsym --event ioport \
		--json >by.json 2>err.txt || complain "--by gsym --event ioport: $(cat err.txt)"
	python3 "$tests/check_exits.py" rows by.json second=1 third=1 || status=1
	"$perfvisor" stat report -i svm.data --by vcpu,reason --json >by.json
	python3 "$tests/check_exits.py" rows by.json hlt/vm-100/0=1 hlt/vm-200/0=1 \
		interrupt/vm-200/0=1 npf/vm-100/0=1 || status=1
	"$perfvisor" stat report -i vmx.data --vcpu 1 --json >by.json
	python3 "$tests/check_exits.py" rows by.json EXTERNAL_INTERRUPT=1 || status=1
	"$perfvisor" stat report -i svm.data --vm 200 --json >by.json
	python3 "$tests/check_exits.py" rows by.json hlt=1 interrupt=1 || status=1
	"$perfvisor" stat report -i svm.data -p 200 --vm vm-100 --json >by.json
	python3 "$tests/check_exits.py" rows by.json hlt=2 || status=1
	"$perfvisor" stat report -i vmx.data -k total --json >by.json
	[ "$(grep -m 1 reason by.json | tr -d ' ",')" = reason:HLT ] || complain "-k total"
	"$perfvisor" stat report -i vmx.data -k time --json >by.json
	[ "$(grep -m 1 reason by.json | tr -d ' ",')" = reason:HLT ] || complain "-k time"
}

expect_error() { # STATUS PATTERN ARGUMENTS…
	"$perfvisor" stat "${@:3}" >out.txt 2>err.txt
	[ $? = "$1" ] || complain "stat ${*:3}: another status than $1"
	grep -qE "$2" err.txt || complain "stat ${*:3}: $(cat err.txt)"
}

check_errors() {
	expect_error 2 'needs to know what to do' -i vmx.data
	expect_error 2 "does not know 'live'" live
	expect_error 2 'unknown event' report -i vmx.data --event pio
	expect_error 2 'unknown key' report -i vmx.data --by pid
	expect_error 2 'unknown key' report -i vmx.data -k avg
	expect_error 2 'stat record has no option --json' record --json
	expect_error 2 'stat record has no option --input' -i vmx.data record
	expect_error 2 'stat report has no option --output' report -o vmx.data
	expect_error 2 "takes no argument 'x'" report -i vmx.data x
	expect_error 2 'takes numbers' report -i vmx.data --vcpu x
	expect_error 1 "has no VM 'web'" report -i vmx.data --vm web
	expect_error 1 'no events for --event msr' report -i ppc64.data --event msr
	expect_error 1 'no exits' report -i "$golden/../perfdata/tracepoint.data"
}

make_recordings
for name in vmx svm arm64 ppc64; do
	check_golden $name
done
python3 "$tests/check_exits.py" names "$golden/../../../src/arch/exits_x86.c" || status=1
check_text
check_keys
check_errors
exit $status
