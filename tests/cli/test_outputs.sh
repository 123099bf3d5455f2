#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What perfvisor writes appears when it is complete, for its owner alone, and takes the place of
# perfvisor's own files
# only: whatever else is there stays as it is.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
programs=$(dirname "$perfvisor")/tests/unit
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
umask 022
status=0
complain() {
	echo "$1"
	status=1
}
# run STATUS COMMAND…
run() {
	local want=$1 got
	shift
	"$@" >out 2>err </dev/null
	got=$?
	[ $got = "$want" ] || complain "$*: exit status $got, not $want: $(cat err)"
}
says() {
	grep -qE -e "$1" err || complain "stderr does not say '$1': $(cat err)"
}
# holds NAME…: that is all there is, besides what the test itself uses
holds() {
	local found
	found=$(find . -mindepth 1 -maxdepth 1 ! -name vm.data ! -name out ! -name err \
		-printf '%f\n' | sort | tr '\n' ' ')
	[ "$found" = "${*:+$* }" ] || complain "there is '$found', not '$*'"
}
# full COMMAND…: where no file can become larger than 8 KiB
full() {
	(trap '' XFSZ && ulimit -f 8 && exec "$@")
}
"$programs/write_chains" vm.data >/dev/null || exit 1

# A flame graph.
run 0 "$perfvisor" flamegraph -i vm.data -o page
[ "$(stat -c %a page)" = 600 ] || complain "a page has mode $(stat -c %a page)"
cp page first
run 0 "$perfvisor" flamegraph -i vm.data --vm db -o page
! cmp -s page first || complain 'an older page is not replaced'
cp page second
run 1 full "$perfvisor" flamegraph -i vm.data -o page
says "could not write '.*page': File too large"
cmp page second || complain 'a page that could not be written has replaced another'
echo 'my notes' >notes
run 1 "$perfvisor" flamegraph -i vm.data -o notes
says "'notes' is not a perfvisor page"
says 'hint: .*--force'
[ "$(cat notes)" = 'my notes' ] || complain 'notes are overwritten'
ln -s page link
run 0 "$perfvisor" flamegraph -i vm.data -o link
[ -L link ] && cmp page first || complain 'a link is not followed'
mkdir sub && ln -s ../link sub/link
cp second page
run 0 "$perfvisor" flamegraph -i vm.data -o sub/link
[ -L link ] && [ -L sub/link ] && cmp page first || complain 'a link to a link is not followed'
if [ "$(id -u)" = 0 ]; then
	cp second page
	chown -h 65534 link
	for name in link sub/link; do
		run 1 "$perfvisor" flamegraph -i vm.data -o $name --force
		says "'(sub/../)?link' is another user's link"
	done
	cmp page second || complain "another user's link is followed"
else
	echo "skipped: another user's link, because only root can make one"
fi
rm -r sub
run 0 "$perfvisor" flamegraph -i vm.data -o notes --force
cmp notes first || complain '--force does not replace'
"$perfvisor" flamegraph -i vm.data -o /dev/stdout 2>/dev/null | cmp - first ||
	complain 'a pipe gets another page'
holds first link notes page second
rm first link notes page second

# A recording for other tools.
convert=("$perfvisor" convert --native -i vm.data --vm db)
echo 'my notes' >notes
mkdir letters && echo 'Dear' >letters/data
for name in notes letters; do
	run 1 "${convert[@]}" -o $name
	says "'$name' is not a recording and was not replaced"
	says 'hint: .*--force'
done
[ "$(cat notes letters/data)" = $'my notes\nDear' ] || complain "changed: $(cat notes letters/data)"
holds letters notes
run 1 full "${convert[@]}" -o native
says 'could not write'
holds letters notes
mkdir native # An empty folder holds nothing.
run 0 "${convert[@]}" -o native
[ "$(stat -c %a native native/data | tr '\n' ' ')" = '700 600 ' ] ||
	complain "modes: $(stat -c %a native native/data)"
cp native/data first
rmdir native.old
run 0 "${convert[@]}" -o native
run 1 full "${convert[@]}" -o native
cmp native/data first || complain 'what could not be written has replaced a recording'
holds first letters native native.old notes
rm -r native.old
mv letters native.old
run 1 "${convert[@]}" -o native
says "'native' would be renamed to 'native.old', which is not a recording"
[ "$(cat native.old/data)" = Dear ] || complain 'native.old is changed'
rm -r native.old
# Whatever else is in the older folder, by whatever name.
mkdir -p native.old/analysis/deep
cp native/data native.old
for name in data.csv deep/modules; do
	echo mine >native.old/analysis/$name
done
cp -r native.old first.old
cp -r native first.new
run 1 "${convert[@]}" -o native
says "'native.old' would be removed, but 'native.old/analysis' is not part of a recording"
says "hint: remove or rename 'native.old'"
run 1 "$perfvisor" record --dir -o native
says "'native.old' would be removed, but 'native.old/analysis' is not part of a recording"
holds first first.new first.old native native.old notes
run 1 "${convert[@]}" -o native --force # This finds it at the end.
says "'native.old' would be removed, but 'native.old/analysis' is not part of a recording"
kept=$(sed -nE "s/.*the new recording is in '([^']*)'.*/\1/p" err)
[ -n "$kept" ] && [ -f "$kept/data" ] && [ -d "$kept/debug" ] || complain "not kept: $(ls; cat err)"
for pair in 'first.old native.old' 'first.new native'; do
	# shellcheck disable=SC2086 # two folders
	diff -r $pair || complain "changed: $pair"
done
rm -r native.old first.old first.new "${kept:-/nothing}"
run 0 "${convert[@]}" -o native//
[ -f native/data ] && [ -f native.old/data ] || complain "native//: $(find native*)"
run 0 "${convert[@]}" -o notes --force
[ "$(cat notes.old)" = 'my notes' ] && [ -f notes/data ] || complain "--force: $(ls)"
rm -r first native native.old notes notes.old

# A recording: this is looked at first, whatever can be recorded here.
echo 'my notes' >notes
mkdir letters && touch letters/one
for name in notes letters; do
	run 1 "$perfvisor" record -o $name
	says "'$name' is not a recording and was not replaced"
done
cp vm.data mine && cp notes mine.old
run 1 "$perfvisor" record -o mine
says "'mine' would be renamed to 'mine.old', which is not a recording"
cmp mine vm.data && cmp notes mine.old || complain 'a recording that was not made has moved files'
holds letters mine mine.old notes
exit $status
