#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/run and tests/lab/in_lab.sh, with made-up tests and stand-ins for lab/run and meson: a
# failing test is run once and reported as failed; sanitizer reports are noticed even if a test
# ignores stderr and exit status; what was skipped or rerun is listed.
set -u
faulty=$(dirname "$(realpath "${PERFVISOR:-build/release/perfvisor}")")/tests/faulty
[ -x "$faulty" ] || { echo "$faulty is missing: this is no build with sanitizers"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,lab,tests/{tree,cli,lab}}
cp tests/run "$work/tests"
cp tests/lab/in_lab.sh "$work/tests/lab"
status=0
complain() {
	echo "$1"
	status=1
}
# NAME: make a test from standard input
make_test() {
	{ echo '#!/bin/bash' && cat; } >"$work/tests/$1.sh"
	chmod +x "$work/tests/$1.sh"
}
# STATUS ARGUMENT…: run tests/run and expect STATUS
run() {
	local want=$1 got
	shift
	PATH=$work/bin:$PATH FAULTY=$faulty "$work/tests/run" "$@" >"$work/out" 2>&1 </dev/null
	got=$?
	[ $got = "$want" ] || complain "tests/run $*: status $got, not $want: $(cat "$work/out")"
}
says() { # LINE…: the output has these lines
	local line
	for line in "$@"; do
		grep -qE -e "^ *$line\$" "$work/out" ||
			complain "no line '$line' in: $(cat "$work/out")"
	done
}
ends_with() {
	[ "$(tail -n 1 "$work/out")" = "$1" ] ||
		complain "the last line is not '$1': $(cat "$work/out")"
}

cat >"$work/bin/meson" <<'MESON'
#!/bin/bash
# Two tests, of which one skips a part.
mkdir -p build/asan/meson-logs
cat >build/asan/meson-logs/testlog.txt <<'LOG'
=== 1/2 ===
test:         base_first
--- stdout ---
[ RUN      ] one
skipped: the sea, because it is far
=== 2/2 ===
test:         base_second
LOG
echo '1/2 base_first OK 0.01s'
echo '2/2 base_second OK 0.01s'
MESON
chmod +x "$work/bin/meson"
make_test tree/test_good </dev/null
make_test cli/test_endless <<'END'
sleep 54321 &
echo $! >endless.pid
wait
END
# When tests/run is ended, it ends the test that it runs.
"$work/tests/run" --quick cli/test_endless >"$work/out" 2>&1 </dev/null &
runner=$!
for _ in $(seq 300); do
	[ ! -s "$work/endless.pid" ] || break
	sleep 0.1
done
kill $runner
wait $runner
[ $? = 130 ] || complain "an ended tests/run has status $?: $(cat "$work/out")"
case $(ps -o stat= -p "$(cat "$work/endless.pid")") in
'' | Z*) ;; # gone, or not reaped yet
*) complain "an ended tests/run leaves the test's processes behind" ;;
esac
rm "$work/tests/cli/test_endless.sh"
make_test cli/test_part <<'END'
echo 'skipped: the moon, because it is day'
END
make_test cli/test_nothing <<'END'
echo 'no sun'
exit 77
END
make_test lab/test_lost <<'END'
cd "$(dirname "$0")/../.." && . tests/lab/in_lab.sh
OUT=build/out in_lab 5 -- true
END
cat >"$work/lab/run" <<'LAB'
#!/bin/bash
# Each run takes the next line of lab/fate: "STATUS LAST LINE ON STDERR"
read -r status text <lab/fate
sed -i 1d lab/fate
mkdir -p "$OUT"
echo "$status" >"$OUT/status"
echo "to stdout"
echo "of no interest" >&2
[ -z "$text" ] || echo "$text" >&2
exit "$status"
LAB
chmod +x "$work/lab/run"

# Everything passes; skipped parts and reruns are listed.
printf '%s\n' '123 lab: lost: the host died' '123 lab: lost: guest1 crashed' '0' >"$work/lab/fate"
run 0
says 'parts skipped: 2:' 'unit base_first: the sea, because it is far' \
	'cli/test_part: the moon, because it is day' 'skipped +cli/test_nothing +no sun' \
	'lost to the emulation and rerun: 2:' \
	'lab/test_lost: the host died; build/check/lab-test_lost.log' \
	'lab/test_lost: guest1 crashed; build/check/lab-test_lost.log' \
	'longest, in seconds:' '[0-9]+ tree/test_good'
ends_with '5 passed, 0 failed, 1 skipped'
[ "$(cat "$work"/build/{out.lost-1,out.lost-2,out}/status | tr '\n' ' ')" = '123 123 0 ' ] ||
	complain "files of the lost attempts: $(find "$work/build/out"*)"
[ "$(grep -cx -e 'to stdout' -e 'of no interest' "$work/build/check/lab-test_lost.log")" = 6 ] ||
	complain "the log lacks output of lab/run: $(cat "$work/build/check/lab-test_lost.log")"

# The longest test comes first in the next run; visible if one test runs at a time, one more than
# there are processors.
echo 'echo 0' >"$work/bin/nproc"
chmod +x "$work/bin/nproc"
echo 7 >"$work/build/check/cli-test_part.seconds"
run 0 --quick cli/test_part tree/test_good
[ "$(sed -nE 's/^ok +([^ ]+).*/\1/p' "$work/out" | xargs)" = 'cli/test_part tree/test_good' ] ||
	complain "not the longest first: $(cat "$work/out")"
rm "$work/bin/nproc"

# Any other status is a failure at once, and so is a machine that is lost every time.
for fate in 1 99 124 125; do
	printf '%s\n' "$fate lab: why" 0 >"$work/lab/fate"
	run 1 lab/test_lost
	says "FAILED +lab/test_lost +[0-9]+ s, status $fate; build/check/lab-test_lost.log:"
	ends_with '0 passed, 1 failed, 0 skipped'
	[ "$(wc -l <"$work/lab/fate")" = 1 ] || complain "status $fate: lab/run was rerun"
	[ ! -e "$work/build/out.lost-1" ] || complain 'files of an earlier lost attempt are kept'
done
printf '123 lab: lost: it\n%.0s' 1 2 3 4 5 >"$work/lab/fate"
run 1 lab/test_lost
[ "$(wc -l <"$work/lab/fate")" = 1 ] ||
	complain "lab/run was not run four times: $(cat "$work/out")"
says 'FAILED +lab/test_lost +[0-9]+ s, status 123; .*' 'lost to the emulation and rerun: 3:'

# A failing test is run only once.
make_test lab/test_bad <<'END'
echo "$0" >>build/runs
exit 3
END
run 1 lab/test_bad
says 'FAILED +lab/test_bad +[0-9]+ s, status 3; build/check/lab-test_bad.log:'
[ "$(wc -l <"$work/build/runs")" = 1 ] || complain 'a failed test is rerun'

# NAMEs: only these are run; unknown ones are rejected, and lab tests with --quick.
run 0 cli/test_part unit
ends_with '3 passed, 0 failed, 0 skipped'
run 2 cli/test_part cli/test_pat
says "tests/run: there is no test 'cli/test_pat'; known tests:" unit tree/test_good lab/test_lost
run 2 test_nothing.sh
says "tests/run: there is no test 'test_nothing.sh'; known tests:" cli/test_nothing
! grep -q test_good "$work/out" ||
	complain "it lists names that are not similar: $(cat "$work/out")"
run 2 --quick lab/test_bad
says "tests/run: 'lab/test_bad' needs the lab, which --quick skips"

# make passes them on, and knows its own targets.
made=$(MAKEFLAGS='' make -n check-quick lab/test_list unit 2>&1)
grep -qx 'tests/run --quick lab/test_list unit' <<<"$made" ||
	complain "make check-quick NAME…: $made"
grep -qx 'tests/run ' <<<"$(MAKEFLAGS='' make -n clean check 2>&1)" ||
	complain 'make clean check runs something else'

# A sanitizer report about a program whose stderr and status are ignored.
log=build/check/cli-test_report.log
report() { # WHAT PATTERN; the test is on standard input
	make_test cli/test_report
	run 1 cli/test_report
	says "FAILED +cli/test_report +[0-9]+ s, a sanitizer reported an error; $log:"
	grep -qE "$2" "$work/out" || complain "$1: no '$2' in: $(cat "$work/out")"
	ends_with '0 passed, 1 failed, 0 skipped'
}
wait_for_report='until grep -qs heap-buffer-overflow build/check/reports/cli-test_report/*; do
	sleep 0.1
done'
read='heap-buffer-overflow' add='runtime error: signed integer overflow'
leak='detected memory leaks'
report read "$read" <<<'$FAULTY read 2>/dev/null | head -n 1'
report add "$add" <<<'$FAULTY add 2>/dev/null | head -n 1'
report leak "$leak" <<<'echo $($FAULTY leak 2>&1)'
report skipped "$read" <<<'$FAULTY read; exit 77'
report background "$read" <<<"\$FAULTY read & $wait_for_report; kill -9 \$!; exit 0"
report 'read in the cage' "$read" <<<'FAULTY_CAGED=read $FAULTY owner'
report 'its place' 'read_behind .*tests/faulty.c' <<<'FAULTY_CAGED=read $FAULTY owner'
report 'add in the cage' "$add" <<<'FAULTY_CAGED=add $FAULTY owner'
report 'leak in the cage' 'ends with 4 bytes that it did not free' \
	<<<'FAULTY_CAGED=leak $FAULTY owner'
report 'leak in a child' "$leak" <<<'FAULTY_FORKED=leak $FAULTY owner'
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$work"
	cp "$faulty" "$work/faulty"
	report nobody "$read" <<'END'
setpriv --reuid=65534 --regid=65534 --clear-groups ./faulty read
exit 0
END
else
	echo 'skipped: a report by another user, because this is not root'
fi
for fault in read add leak; do
	make_test cli/test_report <<<"\$FAULTY $fault; echo status \$?"
	run 1 cli/test_report
	grep -qx 'status 99' "$work/$log" || complain "$fault: $(cat "$work/out")"
done
# A report about a process that outlives its test.
make_test cli/test_report <<'END'
{ until [ -e build/go ]; do sleep 0.1; done; $FAULTY read; } >/dev/null 2>&1 &
END
make_test lab/test_long <<<"touch build/go; $wait_for_report"
run 1 cli/test_report lab/test_long
says "FAILED +cli/test_report +a sanitizer reported an error after the test; $log:"
ends_with '2 passed, 1 failed, 0 skipped'
exit $status
