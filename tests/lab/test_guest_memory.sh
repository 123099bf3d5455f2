#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What perfvisor reads from guest memory equals what the guest reports itself: kallsyms and modules
# line by line, processes and their mappings, and the build-ids and symbols of their programs. The
# guests have five kernels with KASLR, with four and five levels of page tables, on two hosts. One
# of them is read again without BPF, by querying the guest's QEMU; another case is a QEMU that
# cannot be queried.
set -u
. tests/lab/in_lab.sh
status=0
out=build/lab/guest-memory
look=(bash /root/guest_memory_host.sh)
without_bpf=(--add build/release/tests/unit/show_qmp_memory
	--add "$(command -v setpriv):/usr/bin/setpriv-full" --add tests/lab/host/qmp_host.sh)

# check FOLDER PART: check FOLDER, and the PART of it
check() {
	local recording
	for recording in named unnamed; do
		[ ! -e "$1/$recording" ] ||
			"$PERFVISOR" report -i "$1/$recording" >"$1/$recording.txt" || status=1
	done
	python3 tests/lab/check/check_guest_memory.py "$1" "$2" || status=1
	python3 tests/lab/check/check_guest_programs.py "$1" || status=1
}

# try HOST GUEST OPTION… -- COMMAND…
try() {
	echo "== host $*"
	LEAKS=$leaks OUT=$out in_lab 300 --steady --host-kernel "$1" --guest-kernel "$2" \
		--guest-workload tests/lab/guest/guest_truth_workload.sh \
		--add build/release/tests/lab/programs/guest_programs \
		--add build/release/tests/lab/programs/guest_cpus \
		--add tests/lab/host/guest_memory_host.sh "${@:3}" || status=1
	check "$out" cpus
}
leaks=1
try 6.1 5.10 -- "${look[@]}" cpus
leaks=0
# shellcheck disable=SC2016 # OUT is expanded in the host
try 6.1 6.1 "${without_bpf[@]}" -- bash -c '"$@" cpus && rm -r /var/cache/perfvisor &&
	mkdir "$OUT/qmp" && OUT=$OUT/qmp bash /root/qmp_host.sh' bash "${look[@]}"
check "$out/qmp" unnamed
python3 tests/lab/check/check_qmp.py "$out/qmp" || status=1
# Without sanitizers: the same code runs with them in the other cases.
PERFVISOR=$PERFVISOR_RELEASE try 6.1 6.1-full -- "${look[@]}" cpus
PERFVISOR=$PERFVISOR_RELEASE try sid 6.12 --no-la57 -- "${look[@]}" cpus
try 6.1 sid -- "${look[@]}" cpus
exit $status
