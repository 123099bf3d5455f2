#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perfvisor doctor on this machine: its lines have the right format, the exit status matches them,
# its findings about this machine are true, and colours are used only on a terminal.
set -u
perfvisor=${PERFVISOR:-build/release/perfvisor}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
complain() {
	echo "$1"
	status=1
}
# check COMMAND…: run doctor with COMMAND; check the format and the exit status
check() {
	local got lines
	"$@" >"$folder/out" 2>"$folder/err" </dev/null
	got=$?
	[ -s "$folder/err" ] && complain "stderr: $(cat "$folder/err")"
	format='^\[(ok|--|no)\]  [A-Za-z][A-Za-z_ -]*[A-Za-z]  +[^ ].*$|^ +-> .+$|^$'
	lines=$(grep -vcE "$format|^A recording would" "$folder/out")
	[ "$lines" = 0 ] || complain "$lines lines with another format in: $(cat "$folder/out")"
	if grep -q '^\[no\]' "$folder/out"; then
		want='1 A recording would not work now: see the lines marked [no].'
		[ "$got $(tail -n 1 "$folder/out")" = "$want" ] ||
			complain "[no], but exit status $got: $(cat "$folder/out")"
	else
		want='0 A recording would work: perfvisor record'
		[ "$got $(tail -n 1 "$folder/out")" = "$want" ] ||
			complain "no [no], but exit status $got: $(cat "$folder/out")"
	fi
	# Below a finding that does not work is a line with a fix.
	awk '/^\[(--|no)\]/ && !/Guests only/ { want = $0; next }
	     want && !/^ +-> / { print; bad = 1 } { want = "" } END { exit bad }' "$folder/out" ||
		complain "a finding has no fix in: $(cat "$folder/out")"
}
says() {
	grep -qE -e "$1" "$folder/out" || complain "it does not say '$1': $(cat "$folder/out")"
}

check "$perfvisor" doctor
says "perf_event_paranoid +$(cat /proc/sys/kernel/perf_event_paranoid)"
if [ -e /dev/kvm ]; then
	echo 'skipped: a host without KVM, because this one has /dev/kvm'
else
	says '^\[no\]  KVM +there is no /dev/kvm'
fi
if [ -e /sys/kernel/btf/vmlinux ]; then
	says '^\[ok\]  BTF'
else
	echo 'skipped: the finding about BTF, because this kernel has none'
fi
grep -q $'\033' "$folder/out" && complain 'colours, but stdout is no terminal'
script -qec "TERM=xterm $perfvisor doctor" /dev/null </dev/null | grep -q $'\033\[32m\[ok\]' ||
	complain 'no colours on a terminal'
script -qec "TERM=xterm NO_COLOR=1 $perfvisor doctor" /dev/null </dev/null | grep -q $'\033' &&
	complain 'colours in spite of NO_COLOR'
"$perfvisor" doctor now >"$folder/out" 2>&1
[ $? = 2 ] || complain "an argument gives exit status $?"

if [ "$(id -u)" != 0 ]; then
	echo 'skipped: users with fewer rights, and a container, because this is not root'
	exit $status
fi
# An unprivileged user: each missing capability is named, with a way to get it.
chmod 755 "$folder"
cp "$perfvisor" "$folder/perfvisor"
check setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/perfvisor" doctor
says '^\[no\]  Processes +[0-9]+ of other users'
says '^\[--\]  Capabilities +missing: CAP_PERFMON .*CAP_BPF .*CAP_SYS_PTRACE'
says '^\[--\]  BPF '
# They are not given to everyone who may run the program. The advice appears once.
says '^ +-> run it as root, or for a group, .*chgrp perfvisor "\$f"; chmod 0750 "\$f"; setcap '
[ "$(grep -c setcap "$folder/out")" = 1 ] ||
	complain "setcap is advised more than once: $(cat "$folder/out")"
says '^ +-> as for Processes$'
# With exactly these capabilities, the findings are gone.
caps=$(sed -nE 's/.* setcap ([a-z_,]+)\+ep .*/\1/p' "$folder/out" | head -n 1)
caps=${caps//cap_/+}
check setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" \
	"$folder/perfvisor" doctor
if "$perfvisor" version | grep -qE '^ +bpf +yes'; then
	says '^\[ok\]  Capabilities'
else
	echo 'skipped: the capabilities for BPF, because this build has none'
fi
says '^\[ok\]  perf_event_paranoid'
grep -qE '^\[..\]  Processes' "$folder/out" && complain "hidden: $(cat "$folder/out")"
# Some containers do not allow new pid namespaces.
if unshare --pid --fork --mount-proc true; then
	check unshare --pid --fork --mount-proc "$perfvisor" doctor
	says '^\[--\]  Container'
	says '^\[no\]  VMs +KVM runs none$'
else
	echo 'skipped: a container, because no pid namespace can be made here'
fi
exit $status
