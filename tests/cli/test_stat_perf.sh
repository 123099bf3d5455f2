#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# stat report prints the lines of `perf kvm stat report`, followed by columns of its own: of traces
# that are made up, with VMs whose vCPUs wander between CPUs, and with lost records.
. tests/cli/common.sh
golden=$(realpath "$tests/../golden/exits")
SEEDS='1 2 3 4'
command -v perf >/dev/null || { echo 'there is no perf here'; exit 77; }

compare() { # FILE ARGUMENTS…
	perf kvm -i "$1" stat report "${@:2}" >perf.txt 2>&1
	"$perfvisor" stat report -i "$1" "${@:2}" >ours.txt 2>ours.err ||
		complain "$*: $(cat ours.err)"
	python3 "$tests/compare_exits.py" perf.txt ours.txt "$*" || status=1
}

rows=0
for seed in $SEEDS; do
	python3 "$tests/exits_recording.py" trace.data "$golden/vmx.txt" "$seed" || exit 1
	for arguments in --event=vmexit --event=mmio --event=ioport '--vcpu 1' '-k time' \
		'--event=mmio --vcpu 2 -k time' '-p 1100'; do
		# shellcheck disable=SC2086 # several words
		compare trace.data $arguments
		rows=$((rows + $(grep -c us perf.txt)))
	done
done
[ $rows -ge 200 ] || complain "perf has only $rows lines in all"
# perf does not see what is of VMX, and not that 0xffffffff is -1.
grep -v '^6400 \|^6405 \|^5600 \|^5610 ' "$golden/svm.txt" >svm.txt
python3 "$tests/exits_recording.py" svm.data svm.txt || exit 1
compare svm.data
exit $status
