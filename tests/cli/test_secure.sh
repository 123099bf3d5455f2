#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A perfvisor whose file has capabilities heeds no variable that says where files are, and loads no
# code that a variable names; it reads recordings without these capabilities. The pager has its
# user's rights alone.
set -u
[ "$(id -u)" = 0 ] || { echo 'only root can give a file capabilities'; exit 77; }
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
programs=$(dirname "$perfvisor")/tests/unit
folder=$(mktemp -d)
trap 'exec 3>&-; rm -rf "$folder"' EXIT
status=0
complain() {
	echo "$1"
	status=1
}
chmod 755 "$folder"
cd "$folder" || exit 1
cp "$perfvisor" plain && cp "$perfvisor" capable || exit 1
setcap cap_sys_ptrace+ep capable || { echo 'no file can be given capabilities here'; exit 77; }
"$programs/write_chains" vm.data >/dev/null && chmod 644 vm.data || exit 1
as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
made() {
	find home cache -mindepth 1
}
# looks PROGRAM: at a recording, with folders of its user's choice
looks() {
	rm -rf home cache
	mkdir home cache && chown 65534:65534 home cache
	"${as_user[@]}" env HOME="$folder/home" XDG_CACHE_HOME="$folder/cache" \
		"./$1" report -i vm.data \
		>out 2>err || complain "$1: $(cat err)"
}
looks plain
[ -n "$(made)" ] || complain 'the plain program has no cache'
looks capable
[ -z "$(made)" ] || complain "the capable program made: $(made)"
"${as_user[@]}" env -u XDG_CACHE_HOME HOME="$folder/home" ./capable report -i vm.data >out 2>err
[ -z "$(made)" ] || complain "the capable program made: $(made)"

mkfifo -m 666 pipe
exec 3<>pipe
"${as_user[@]}" ./capable report -i - <pipe >out 2>err 3>&- &
pid=$!
for ((i = 0; i < 600; i++)); do
	[ "$(sed -nE 's/^Seccomp:\s+//p' /proc/$pid/status)" != 2 ] || break
	sleep 0.1
done
caps=$(sed -nE 's/^Cap(Prm|Eff):\s+//p' /proc/$pid/status | tr -d '0\n')
[ $i -lt 600 ] && [ -z "$caps" ] ||
	complain "it reads with: $(grep -E "^(Cap|Secc)" /proc/$pid/status)"
kill -KILL $pid
wait $pid 2>/dev/null

# By mistake, a file may be set-uid: the pager, which its user chooses, is started as that user. It
# waits for the recording. Shells that drop the rights themselves are not relied upon.
cp "$perfvisor" owned && chmod 6755 owned || exit 1
cat >spawn.py <<'PYTHON'
import pty, sys
pty.spawn(sys.argv[1:])
PYTHON
TERM=xterm PERFVISOR_PAGER=cat python3 spawn.py "${as_user[@]}" \
	sh -c 'exec ./owned script -i - <pipe' >out 2>err </dev/null &
spawner=$!
reader=
for ((i = 0; i < 600; i++)); do
	reader=$(pgrep -P "$spawner")
	mode=$(sed -nE 's/^Seccomp:\s+//p' "/proc/${reader:-self}/status")
	[ -z "$reader" ] || [ "$mode" != 2 ] || break
	sleep 0.1
done
ids() { # of each of its processes: real, effective, saved user and group
	local child
	for child in $(pgrep -P "$reader"); do
		sed -nE 's/^[UG]id:\s+//p' "/proc/$child/status" | cut -f 1-3 | tr '\t\n' '  '
		echo
	done
}
[ $i -lt 600 ] && ids | grep -qx '65534 65534 65534 65534 65534 65534 ' ||
	complain "the pager of a set-uid program is not the user's: $(ids; cat out err)"
kill -KILL ${reader:+"$reader"}
wait $spawner 2>/dev/null
exit $status
