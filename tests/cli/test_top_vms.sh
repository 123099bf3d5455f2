#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor top` with 300 VMs at a time, which come and go: each screen has the samples of each VM
# that the generator of the recording counts, also of one that is chosen before it has come; and
# what a VM leaves behind is small.
release=$(realpath "${PERFVISOR_RELEASE:-build/release/perfvisor}")
. tests/cli/common.sh
seconds=600

rows() { # the number of the screen, VM, mode and samples
	awk '/^# [0-9]+ samples in / { screen++ } !/^#/ && NF { print screen, $3, $4, $5, $2 }' |
		sort
}
top_of() { # FILE ARGUMENTS…
	"$perfvisor" top -i - -z -E 100000 -s vm,mode -n -d $seconds "${@:2}" <"$1" 2>ours.err |
		rows
}
for count in 300 3000; do
	python3 "$tests/many_vms.py" $count >vms.data
	python3 "$tests/many_vms.py" $count $seconds | sort >want.txt
	[ "$(cut -d' ' -f1 want.txt | uniq | wc -l)" = 6 ] && [ "$(wc -l <want.txt)" -gt 3000 ] ||
		complain "$count VMs: there is little to compare"
	top_of vms.data >got.txt
	diff want.txt got.txt >differences ||
		complain "$count VMs: $(head -n 5 differences; cat ours.err)"
done
# In the last sixth, and in the first.
for vm in 2900 17; do
	grep " vm$vm-" want.txt >some.txt
	[ "$(wc -l <some.txt)" -ge 2 ] || complain "vm$vm has no samples"
	top_of vms.data --vm vm$vm-$((1000 + vm)) | sed 's/^[0-9]* //' >got.txt
	sed 's/^[0-9]* //' some.txt | awk '{ sum[$1 " " $2 " " $3] += $4 }
		END { for (key in sum) print key, sum[key] }' | sort >want-one.txt
	awk '{ sum[$1 " " $2 " " $3] += $4 } END { for (key in sum) print key, sum[key] }' got.txt |
		sort | cmp -s - want-one.txt || complain "--vm vm$vm: $(cat got.txt ours.err)"
done
# As many rows as fit, and the VMs with the most samples first.
"$perfvisor" top -i - -z -s vm -d 100000 <vms.data >ours.txt 2>ours.err
[ "$(grep -c '%  ' ours.txt)" = 20 ] || complain "rows: $(cat ours.txt ours.err)"
awk '/%  / { print $1 + 0 }' ours.txt | sort -rnc || complain "not in order: $(cat ours.txt)"

# The release build: sanitizers keep what was freed.
peak_kb() { # COUNT
	python3 "$tests/many_vms.py" "$1" >vms.data
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdin=open("vms.data"), stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$release" top -i - -z -s vm,sym \
		-d $seconds
}
few=$(peak_kb 3000) many=$(peak_kb 30000)
[ "${few:-0}" -gt 5000 ] && [ $(((many - few) / 27000)) -lt 4 ] ||
	complain "$few kB for 3,000 VMs, $many kB for 30,000"
exit $status
