#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Modules are at other addresses after a reboot, even where the kernel itself does not move. They
# are named from this machine's /proc/kallsyms only if the recording says that they are the same.
# "This machine" is one with a /proc and a /sys/module of the test's own, in a mount namespace.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
edit=$(realpath tests/cli/edit_recording.py)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here XDG_CACHE_HOME=$here/cache
status=0
path=/lib/modules/6.1.0-1-amd64/kernel/sound/snd-hda.ko.xz
id=00112233445566778899aabbccddeeff01234567
other=0f112233445566778899aabbccddeeff01234567

complain() {
	echo "$*"
	status=1
}

# Runs a command where the modules are those of FILE: lines of NAME START FUNCTION BUILD-ID.
cat >machine.sh <<'MACHINE'
set -e
rm -rf proc
mkdir -p real proc
mount --bind /proc real
for file in real/*; do
	ln -s "$PWD/$file" "proc/${file##*/}"
done
rm -f proc/kallsyms proc/modules
cat real/kallsyms >proc/kallsyms
: >proc/modules
mount -t tmpfs none /sys/module
while read -r name start function id; do
	echo "$name 65536 0 - Live 0x$start" >>proc/modules
	printf '%s t %s\t[%s]\n' "$start" "$function" "$name" >>proc/kallsyms
	mkdir -p "/sys/module/$name/notes"
	printf '\4\0\0\0\24\0\0\0\3\0\0\0GNU\0%b' "$(sed 's/../\\x&/g' <<<"$id")" \
		>"/sys/module/$name/notes/.note.gnu.build-id"
done <"$1"
shift
mount --bind proc /proc
exec "$@"
MACHINE
: >none
unshare -m bash machine.sh none true 2>unshare.err ||
	{ echo "no mount namespace with a /proc of its own: $(tail -n 1 unshare.err)"; exit 77; }

perf record -q -e cpu-clock:k -F 5000 -o kernel.data ls -laR /usr/share/doc >/dev/null 2>&1 ||
	{ echo "perf cannot record here"; exit 77; }
rm -rf .debug

# Of the samples in the module, all are in FUNCTION here, and NOTE (or nothing) is said.
look() { # WHAT FUNCTION NOTE MODULES CHANGE…
	python3 "$edit" kernel.data made.data "module=$path" "${@:5}" || complain "$1: not made"
	echo "$4" | tr ';' '\n' >modules
	unshare -m bash machine.sh modules "$perfvisor" script -i made.data -F ip,sym,dso \
		>out 2>err || complain "$1: $(cat err)"
	grep -E '^ *ffffffffc04' out >inside
	[ "$(wc -l <inside)" -ge 20 ] || complain "$1: $(wc -l <inside) samples"
	if [ "$2" ]; then
		grep -vq " $2 " inside && complain "$1: $(grep -v " $2 " inside | head -n 3)"
	elif grep -vq ' \[unknown\] ' inside; then
		complain "$1: $(grep -v ' \[unknown\] ' inside | head -n 3)"
	fi
	if [ "$3" ]; then
		[ "$(wc -l <err)" = 1 ] && grep -q "$3" err || complain "$1: $(cat err)"
	else
		[ ! -s err ] || complain "$1: $(cat err)"
	fi
	unshare -m bash machine.sh modules "$perfvisor" report -i made.data -s sym >out 2>err2
	cmp -s err err2 || complain "$1: report: $(cat err2)"
}

same=ffffffffc0400000 moved=ffffffffc0900000
look 'the same place' play '' "snd_hda $same play $id"
look 'the same place and build' play '' "snd_hda $same play $id" module-id=$id
look 'another build' '' "no module with that build-id" "snd_hda $same play $id" module-id=$other
look 'it moved' '' "'\[snd_hda\]' is not here at the address where it was" "snd_hda $moved play $id"
look 'it moved, and another is there' '' "'\[snd_hda\]' is not here at the address" \
	"snd_hda $moved play $id;snd_usb $same stop $other"
look 'it moved, and has the build-id' play '' \
	"snd_hda $moved play $id;snd_usb $same stop $other" module-id=$id
look 'it is not loaded' '' "no module with that build-id" \
	"snd_usb $same stop $other" module-id=$id
look 'the recording does not have it' '' "does not say where 'snd_hda' was" \
	"snd_hda $same play $id" unmapped
# Where modules seem to overlap, as since Linux 6.4, the symbol says which it is.
look 'behind another' play '' "snd_hda $same play $id;before ffffffffc03ff000 wrong $other"
exit $status
