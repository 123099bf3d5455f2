#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run by test_doctor.sh in the lab's host: removes things, one at a time, and runs the doctor each
# time. A recording is tried, too: the doctor must have predicted whether it works.
set -u
# perfvisor and its parser take turns; on two CPUs each message would wake up the other one, which
# is slow in emulation.
taskset -p 2 $$ >/dev/null
status=0
fail() {
	echo "FAIL: $*"
	status=1
}

# examine NAME COMMAND…: run doctor and a recording with COMMAND (env: unchanged)
examine() {
	local name=$1 told works
	shift
	"$@" perfvisor doctor >"/tmp/$name" 2>&1
	told=$?
	"$@" perfvisor record --duration 1 -o /tmp/perf.data >"/tmp/record" 2>&1
	works=$?
	[ $told = $works ] ||
		fail "$name: doctor $told, record $works: $(cat "/tmp/$name" /tmp/record)"
	sed "s/^/$name: /" "/tmp/$name" >>"$OUT/doctor"
}
# says NAME PATTERN
says() {
	grep -qE -e "$2" "/tmp/$1" || fail "$1 does not say '$2': $(cat "/tmp/$1")"
}

mediated=$(cat /sys/module/kvm_amd/parameters/enable_mediated_pmu 2>/dev/null)
if [ -d /run/lab/guest1 ]; then
	examine all env
	says all '^\[ok\]  KVM +AMD \(kvm_amd\)$'
	says all '^\[ok\]  VMs +1: guest1$'
	says all '^\[ok\]  vCPU threads +2 of 2 known by BPF$'
	says all '^\[ok\]  cpu-clock'
	says all '^\[ok\]  Sampling +cpu-clock'
	says all '^\[ok\]  BTF +of the kernel and of the module kvm$'
	says all '^\[ok\]  BPF'
	says all '^\[ok\]  Guest memory +of 1 of 1 VMs, found by BPF$'
	says all '^\[ok\]  Guest processes'
	says all '^\[ok\]  Capabilities'
	says all '^A recording would work'
	# The emulated CPU has no PMU for host events.
	perf stat -e cycles true 2>&1 | grep -q 'not supported' && says all '^\[--\]  PMU'
	[ "$mediated" = Y ] && says all '^\[--\]  Mediated vPMU'

	# Debian's kernels forbid users all events (3). Then try the fix that the doctor suggests.
	echo 3 >/proc/sys/kernel/perf_event_paranoid
	examine rightless vm_zoo without-bpf
	says rightless '^\[no\]  Sampling .*perf_event_paranoid is 3'
	says rightless 'sysctl kernel.perf_event_paranoid=-1$'
	says rightless '^\[--\]  BPF .*no CAP_BPF and CAP_PERFMON'
	says rightless '^\[--\]  Guest processes .*samples do not include'
	says rightless '^\[ok\]  Guest memory +of 1 of 1 VMs, found by asking QEMU'
	echo -1 >/proc/sys/kernel/perf_event_paranoid
	examine allowed vm_zoo without-bpf
	says allowed '^\[ok\]  Sampling'
	says allowed '^\[ok\]  perf_event_paranoid +-1$'
	says allowed '^\[ok\]  vCPU threads +2 of 2 known by debugfs$'
	umount -l /sys/kernel/debug
	examine blind vm_zoo without-bpf
	says blind '^\[--\]  vCPU threads +unknown .*debugfs is not mounted'
	mount -t debugfs none /sys/kernel/debug
	examine mended vm_zoo without-bpf
	says mended '^\[ok\]  vCPU threads +2 of 2 known by debugfs$'
else
	examine empty env
	says empty '^\[no\]  VMs +KVM runs none$'
	says empty '^A recording would not work'
	rmmod kvm_amd kvm && rm -f /dev/kvm
	examine without-kvm env
	says without-kvm '^\[no\]  KVM +there is no /dev/kvm'
	says without-kvm 'modprobe kvm_amd'
fi
exit $status
