#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# processes_host.sh [kinds] in the lab's host: write recordings of guest1, which runs
# processes_workload.sh, and guest1's own list of its processes to $OUT. kinds: also recordings with
# less information, and as a folder.
set -u
. /root/record_known.sh
guest=/run/lab/guest1
for _ in $(seq 300); do
	grep -q TRUTH $guest/console.log && break
	sleep 0.2
done
sed -nE 's/.*TRUTH ([a-z0-9 ]+).*/\1/p' $guest/console.log >"$OUT/truth"
cp $guest/kallsyms /usr/share/perfvisor-lab/user7525 "$OUT/"
record_known 4 /tmp/processes -F 500 <<'END' || exit
1200 .
600 ^user7525 (hot_[ab]|main)
120 ^reader chacha_permute
200 ^(sh|exe|busybox|true) .
END
if [ "${1-}" = kinds ]; then
	for name in kernel_only no_memory; do
		perfvisor record --max-overhead 100 --${name//_/-} --duration 1 -F 500 \
			-o "$OUT/$name" || exit
	done
	record_known 1 /tmp/folder --dir -F 500 <<<'130 ^reader ' || exit
	cp -r /tmp/folder "$OUT/folder.data"
fi
# As on an Intel host (CONTRIBUTING.md); kernels provide the IP in time since 6.3.
uname -r >"$OUT/host_kernel"
PERFVISOR_TEST_KVM=intel perfvisor doctor >"$OUT/doctor_intel"
if [ "$(printf '%s\n' 6.3 "$(uname -r)" | sort -V | head -n 1)" = 6.3 ]; then
	PERFVISOR_TEST_KVM=intel record_known 3 /tmp/intel -F 500 <<-'END' || exit
		600 .
		250 ^user7525 (hot_[ab]|main)
		70 ^reader chacha_permute
	END
	cp /tmp/intel "$OUT/"
else
	echo "skipped: processes as on an Intel host, because this host's kernel, $(uname -r)," \
		"provides the IP too late (needs 6.3)"
fi

# The lines of "unharmed", and which of them were printed while it was sampled with call chains.
unharmed() {
	# The last line may be incomplete.
	sed -nE 's/.*(UNHARMED [0-9]+ [0-9]+ [0-9]+ [0-9]+)\r$/\1/p' $guest/console.log
}
first=$(unharmed | wc -l)
record_known 3 /tmp/chains -g -F 500 <<<'120 ^unharmed ' || exit
last=$(unharmed | wc -l)
for _ in $(seq 300); do
	[ "$(unharmed | wc -l)" -ge $((last + 2)) ] && break
	sleep 0.2
done
unharmed >"$OUT/unharmed"
echo "$first $last" >"$OUT/unharmed.lines"
cp /tmp/chains "$OUT/chains.data" && cp /tmp/processes "$OUT/"
