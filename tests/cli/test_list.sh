#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perfvisor list without VMs, without privileges, and with wrong usage.
set -u
perfvisor=${PERFVISOR:-build/release/perfvisor}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
complain() {
	echo "$1"
	status=1
}
# expect STATUS COMMAND…: run it; its output is in $folder/out and $folder/err
expect() {
	local want=$1 got
	shift
	"$@" >"$folder/out" 2>"$folder/err" </dev/null
	got=$?
	[ $got = "$want" ] || complain "$*: exit status $got, not $want: $(cat "$folder/err")"
}
says() {
	grep -qE "$1" "$folder/err" || complain "stderr does not say '$1': $(cat "$folder/err")"
}
# holds PYTHON: a condition on d, the JSON document in $folder/out
holds() {
	python3 -c "import json, sys; d = json.load(open('$folder/out')); sys.exit(not ($1))" ||
		complain "not true of $(cat "$folder/out"): $1"
}

expect 2 "$perfvisor" list --frobnicate
expect 2 "$perfvisor" list guest1
says "takes no argument 'guest1'"
expect 0 "$perfvisor" list --json
holds "isinstance(d['vms'], list) and isinstance(d['hidden_processes'], int)"
expect 0 "$perfvisor" list --json --no-memory
holds "all(vm['kernel_release'] is None and vm['host_name'] is None for vm in d['vms'])"

if [ "$(id -u)" != 0 ]; then
	echo 'skipped: users with fewer rights, and a container, because this is not root'
	exit $status
fi

# A new pid namespace has no VM in it. (Some containers do not allow one.)
if unshare --pid --fork --mount-proc true; then
	expect 0 unshare --pid --fork --mount-proc "$perfvisor" list
	[ -s "$folder/out" ] && complain "no VM, but stdout holds: $(cat "$folder/out")"
	says '^perfvisor: no VMs: '
	expect 0 unshare --pid --fork --mount-proc "$perfvisor" list --json
	holds "d['vms'] == [] and d['hidden_processes'] == 0"
else
	echo 'skipped: a container, because no pid namespace can be made here'
fi

# An unprivileged user is told that something is hidden, and why.
chmod 755 "$folder"
cp "$perfvisor" "$folder/perfvisor"
expect 0 setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/perfvisor" list
says 'processes of other users could not be inspected: run as root'
expect 0 setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/perfvisor" list --json
holds "d['hidden_processes'] > 0 and d['threads_from'] is None and d['reason']"

# Without permission to load BPF programs, /proc is searched, and nothing is hidden.
expect 0 setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-all "$perfvisor" list --json
holds "d['hidden_processes'] == 0 and d['threads_from'] != 'bpf' and 'BPF' in d['reason']"
exit $status
