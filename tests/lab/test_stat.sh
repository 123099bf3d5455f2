#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# stat in the lab: a guest that writes to a port, to an MSR and to a device, reads from the device,
# and calls the hypervisor, in known numbers and from known functions (lab/tinyvm), is reported with
# these numbers, whether perfvisor has recorded it or stock perf; and stock perf's tables of the
# same recordings are ours, also of a Linux guest beside a VM that ends meanwhile.
set -u
. tests/lab/in_lab.sh
folder=build/release/lab/tinyvm
[ "$(uname -m)" = x86_64 ] || { echo "tinyvm is for x86-64 only"; exit 77; }
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
[ -x "$folder/tinyvm" ] || { echo "no $folder/tinyvm: run make"; exit 1; }
out=build/lab/stat
LEAKS=1 OUT=$out in_lab 600 --add tests/lab/host/stat_host.sh -- bash /root/stat_host.sh || exit 1

report() { # NAME EVENT
	"$PERFVISOR" stat report -i "$out/$1.data" --guestvmlinux "$folder/unikernel.elf" \
		--event "$2" --by reason,gsym --json >"$out/$1.$2.json" || exit 1
}
for event in vmexit ioport mmio; do
	report perfvisor $event
	report perf $event
done
report perfvisor msr # which stock perf does not record
report perfvisor hypercall
"$PERFVISOR" stat report -i "$out/all.data" --by gsym --vm guest1 --json >"$out/guest1.json" ||
	exit 1
status=0
for table in "$out"/*.perf; do # NAME.EVENT.perf
	name=$(basename "$table" .perf)
	"$PERFVISOR" stat report -i "$out/${name%.*}.data" --event "${name#*.}" >"$out/ours.txt" ||
		exit 1
	python3 tests/cli/compare_exits.py "$table" "$out/ours.txt" "$name" || status=1
done
python3 tests/lab/check/check_stat.py "$out" lab/tinyvm/guestabi.h || status=1
exit $status
