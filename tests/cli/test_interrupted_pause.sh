#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --engine qmp stops a guest for a moment at each sample. Whenever Ctrl-C comes, the guest
# runs afterwards.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
. tests/cli/looping_guest.sh
here=$(mktemp -d)
guest=
trap 'kill $guest 2>/dev/null; rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0
complain() {
	echo "FAILED: $1"
	status=1
}
guest_status() {
	printf '{"execute": "%s"}\n' qmp_capabilities query-status |
		timeout 60 socat -t 10 - UNIX-CONNECT:qmp | grep -o '"status": "[a-z]*"'
}
is_recording() {
	grep -q '^perfvisor: recording' err
}

start_looping_guest
[ "$(guest_status)" = '"status": "running"' ] || { echo "the guest does not run"; exit 1; }
for attempt in {1..12}; do
	: >err
	"${record[@]}" -F 500 -o data 2>err &
	recorder=$!
	wait_for is_recording || complain "attempt $attempt: $(cat err)"
	sleep 0.$((RANDOM % 9))$((RANDOM % 9))
	kill -INT $recorder
	wait $recorder
	code=$?
	got=$(guest_status)
	[ "$got" = '"status": "running"' ] ||
		complain "attempt $attempt: record ended with $code, and the guest is: $got"
	printf '{"execute": "%s"}\n' qmp_capabilities cont |
		timeout 60 socat -t 1 - UNIX-CONNECT:qmp >/dev/null
done
exit $status
