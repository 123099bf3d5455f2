#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --engine qmp reads the memory of a QEMU. When that process executes another program, which
# may have other rights and secrets, nothing of it is recorded any more, whatever its monitor says.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
here=$PWD/tests/cli
. tests/cli/looping_guest.sh # wait_for, samples_in
folder=$(mktemp -d)
vmm=
trap 'kill $vmm 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
status=0
complain() {
	echo "FAILED: $1"
	status=1
}
# It is taken for a QEMU because of its name.
cp "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" qemu-system-x86_64
./qemu-system-x86_64 "$here/executing_qemu.py" "$folder" -qmp "unix:$folder/qmp,server=on" &
vmm=$!
wait_for [ -S qmp ] || exit 1

"$perfvisor" record --engine qmp -p $vmm --max-overhead 100 --no-memory -F 100 -o data 2>err &
recorder=$!
wait_for [ -e asked-again ] || complain "the recorder does not ask any more: $(cat err)"
kill -INT $recorder
wait $recorder || complain "record: $(cat err)"
grep -q "process $vmm has ended, or has executed another program" err || complain "$(cat err)"
samples=$(samples_in data)
# The last look may come before the process has executed the program, or after it.
if [ "$samples" -lt 19 ] || [ "$samples" -gt 20 ]; then
	complain "$samples samples of 20 looks before the process executed another program"
fi
exit $status
