#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A host with hostile users: a recording in another user's folder, who exchanges what is there; a
# cache of symbols that is a link; a VMM whose monitor leads elsewhere. Only root has much to lose
# there.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
here=$PWD/tests/cli
builder=$here/build_recording.py
. tests/cli/looping_guest.sh
folder=$(mktemp -d)
guest= recorder= liar=
end() {
	kill $guest $recorder $liar 2>/dev/null
	wait
	rm -rf "$folder"
}
trap end EXIT
cd "$folder" || exit 1
status=0
complain() {
	echo "$1"
	status=1
}

# The symbol cache: nothing is deleted where a link leads, or what is not a table.
mkdir cache precious
ln -s "$folder/precious" cache/perfvisor
for i in {1..1101}; do
	: >precious/$i
done
printf '%s\n' 'event sample=IP,TID,TIME,PERIOD' 'comm 7 seven' \
	"mmap 7 0x10000 0x1000000 0 $(realpath /bin/bash)" \
	'sample pid=7 time=1 ip=0x50000' >program.txt
python3 "$builder" program.data <program.txt || exit 1
XDG_CACHE_HOME=$folder/cache "$perfvisor" report -i program.data >out 2>err ||
	complain "report: $(cat err)"
[ "$(find precious -type f | wc -l)" = 1101 ] ||
	complain "the cache's folder is a link: $(find precious -type f | wc -l) of 1101 files left"
rm cache/perfvisor
mv precious cache/perfvisor
XDG_CACHE_HOME=$folder/cache "$perfvisor" report -i program.data >out 2>err ||
	complain "report: $(cat err)"
[ "$(find cache/perfvisor -name '[0-9]*' | wc -l)" = 1101 ] ||
	complain "files of others in the cache: $(find cache/perfvisor -type f | wc -l) left"

# record --dir, where the user nobody can rename what root has made, and puts links in its place.
start_looping_guest
echo precious >victim
mkdir theirs
chown nobody theirs
chmod 755 "$folder"
"$perfvisor" record --engine qmp -p "$guest" --max-overhead 100 --dir -F 50 -o theirs/data 2>err &
recorder=$!
wait_for grep -qE '^perfvisor: recording' err || { cat err; exit 1; }
mv theirs/data theirs/real
mkdir -p "theirs/data/kcore_dir__$guest"
ln -s "$folder/victim" "theirs/data/kcore_dir__$guest/kallsyms"
chown -R nobody theirs/data
kill $recorder
wait $recorder
code=$?
recorder=
[ "$(cat victim)" = precious ] || complain "record --dir wrote through a link: $(cat victim)"
[ $code = 1 ] && grep -q "other users can change the folder 'theirs/data'" err ||
	complain "record --dir in an exchanged folder: status $code: $(cat err)"

# Undisturbed, it writes them.
"${record[@]}" --dir -F 50 -o undisturbed -- sleep 0.5 2>err || complain "record --dir: $(cat err)"
[ -f "undisturbed/kcore_dir__$guest/kallsyms" ] ||
	complain "record --dir wrote no kallsyms: $(find undisturbed)"

# A monitor's socket that is a link to another process's, or to a file: it is not asked.
mkfifo fifo
for target in "$folder/fifo" /proc/self/fd/0 /dev/ptmx; do
	ln -sfn "$target" link
	python3 -c 'import time; time.sleep(600)' -qmp "unix:$folder/link,server=on" &
	liar=$!
	timeout 60 "$perfvisor" record --engine qmp -p $liar -o liar.data -- true >out 2>err
	code=$?
	[ $code = 1 ] || complain "a monitor that is a link to $target: status $code: $(cat err)"
	kill $liar
	wait $liar 2>/dev/null
	liar=
done

# Guest memory that never comes: commands end, and what they say of other VMs is there.
cp "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" qemu-system-x86_64
mkdir silent
./qemu-system-x86_64 "$here/silent_qemu.py" silent -qmp "unix:$folder/silent/qmp,server=on" &
liar=$!
for _ in {1..600}; do
	[ ! -S silent/qmp ] && kill -0 $liar 2>/dev/null || break
	sleep 0.1
done
if kill -0 $liar 2>/dev/null; then
	timeout 100 "$perfvisor" list >out 2>err ||
		complain "list beside silent memory: $? $(cat err)"
	grep -q "memory of process $liar could not be read in time" err ||
		complain "list beside silent memory: $(cat err)"
	grep -q "^ *$guest .*looping" out || complain "list beside silent memory: $(cat out)"
	timeout 100 "$perfvisor" ps --vm $liar >out 2>err
	[ $? = 1 ] || complain "ps of silent memory: $(cat out err)"
	kill $liar
else
	echo 'skipped: memory that never comes, because userfaultfd(2) is not permitted'
fi
wait $liar 2>/dev/null
liar=
exit $status
