#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor report --html` makes a page that works in a browser: what is chosen by VM, process,
# mode and time has the samples that it has by stock perf and by perfvisor's own filters; and a page
# of very many stacks stays small.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
programs=$(dirname "$perfvisor")/tests/unit
tools=$(realpath tests/cli)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here # use no files of the user
status=0
complain() {
	echo "$1"
	status=1
}
for kind in even varied long; do
	python3 -B "$tools/timed_samples.py" $kind |
		python3 -B "$tools/build_recording.py" $kind.data || exit 1
	"$perfvisor" report -i $kind.data --html $kind.html 2>err || complain "$kind: $(cat err)"
	grep -q "wrote '$kind.html'" err ||
		complain "$kind: nothing is said of the page: $(cat err)"
done
"$perfvisor" report -i even.data --html - 2>/dev/null | cmp - even.html ||
	complain '--html - writes another page'

# The filters and options of report, and what has no meaning for a page.
"$perfvisor" report -i even.data --html job.html --comms job12 --max-stack 2 2>/dev/null ||
	status=1
python3 -B "$tools/page_data.py" job.html job12 || complain 'filters'
refuses() { # PATTERN ARGUMENT…
	local pattern=$1 got
	shift
	"$perfvisor" report -i even.data "$@" >out 2>err
	got=$?
	[ $got != 0 ] && grep -q -- "$pattern" err ||
		complain "report $* has status $got and prints: $(cat out err)"
}
for option in --stdio --json '--sort dso' '-g caller' --header --hierarchy '-t ,' \
	--no-children \
	'--percent-limit 1' '--percentage absolute' '-F overhead' -n '-w 9' -b \
	'--time-quantum 1s'; do
	# shellcheck disable=SC2086 # an option and its argument
	refuses '--html exclude each other' --html x.html $option
done
[ ! -e x.html ] || complain 'a page was written all the same'
echo mine >mine.html
refuses 'is not a perfvisor page' --html mine.html
grep -qx mine mine.html || complain 'a file was replaced'
"$perfvisor" report -i even.data --html mine.html --force 2>/dev/null &&
	cmp mine.html even.html ||
	complain '--force does not replace a file'
refuses 'could not write' --html /nonexistent/page.html
refuses '' --html /dev/full

# Far more frames than can be seen, and a process with few samples, which is kept.
python3 -B "$tools/many_stacks.py" | python3 -B "$tools/build_recording.py" many.data || status=1
"$perfvisor" report -i many.data --html many.html 2>err || complain "many: $(cat err)"
python3 -B "$tools/many_stacks.py" many.html report || status=1

# Names come from guests; a recording without samples has a page, too.
"$programs/write_chains" vm.data >/dev/null || exit 1
"$perfvisor" report -i vm.data --html vm.html 2>/dev/null || complain 'no page of VMs'
"$perfvisor" report -i vm.data --html none.html --comms nobody 2>/dev/null ||
	complain 'no page of no samples'
for page in even vm none; do
	python3 -B "$tools/page_data.py" $page.html || complain "$page: its data"
done
[ $status = 0 ] || exit 1

for program in chromium chromedriver; do
	command -v $program >/dev/null || {
		echo "skipped: the page in a browser, because $program is not installed:" \
			"'make setup' does it"
		exit 0
	}
done
axe=
if command -v npm >/dev/null && timeout 120 npm pack --silent axe-core >/dev/null 2>&1 &&
	tar xzf axe-core-*.tgz package/axe.min.js; then
	axe=package/axe.min.js
else
	echo "skipped: axe-core, because npm cannot fetch its package"
fi
for kind in even varied long; do
	python3 -B "$tools/report_page.py" $kind "$here/$kind.html" $kind.data "$perfvisor" $axe ||
		complain "the page of $kind"
done
python3 -B "$tools/report_page.py" --hostile "$here/vm.html" "$here/none.html" ||
	complain 'the page of hostile names, or of nothing'
exit $status
