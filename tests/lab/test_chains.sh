#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains of guest kernels, under many kinds of kernel load with interrupts and faults. Every
# frame of every chain is compared with the guest's own code. Chains through a module with known
# chains, from user code to interrupts, are compared with its source and with the guest's own
# unwinder. Chains are also recorded together with those of the host, and compared with what perf
# records inside the guest. The code that is recorded for annotate is compared with the guest's own.
# The guests have four kernels, on two hosts, with four and five levels of page tables, and one and
# four vCPUs. Finally, the same where stack pointers are out of reach.
set -u
. tests/lab/in_lab.sh
bytes=build/release/tests/lab/programs/guest_bytes
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
[ -x "$bytes" ] || { echo "no $bytes: run make"; exit 1; }
status=0
# For all recordings: samples in the module's code, and how many of their chains are right.
tally=build/lab/known_chains
mkdir -p build/lab
: >"$tally"

# check FOLDER PARTS CHECK…: check a recording, with additional CHECKs
check() {
	local out=$1 status=0 parts more
	read -ra parts <<<"$2"
	tests/lab/look_at_chains.sh "$out" "${parts[@]}" || status=1
	python3 tests/lab/check/check_chains.py "$out" "${parts[@]}" || status=1
	python3 tests/lab/check/check_known.py "$out" "$tally" || status=1
	PERFVISOR=$PERFVISOR python3 tests/lab/check/check_code.py "$out" || status=1
	for more in "${@:3}"; do
		python3 "tests/lab/check/$more.py" "$out" || status=1
	done
	return $status
}

# finish_check: finish the check of the previous recording, if there is one
finish_check() {
	[ -n "$checking" ] || return
	wait "$checking" || status=1
	cat "$log"
}
checking='' log=build/lab/chains.log
trap '[ -z "$checking" ] || kill "$checking" 2>/dev/null' EXIT

# try PARTS CHECK… -- HOST GUEST OPTION… -- COMMAND…: run COMMAND in the lab's host. Its results are
# checked while the next host boots, which does not keep two processors busy.
try() {
	local checks=() out
	while [ "$1" != -- ]; do
		checks+=("$1")
		shift
	done
	shift
	out=build/lab/chains-$1-$2
	OUT=$out in_lab 600 --steady --host-kernel "$1" --guest-kernel "$2" \
		--guest-module tests/lab/guest/known_chains --guest-add "${bytes%/*}/known_calls" \
		--guest-workload tests/lab/guest/chains_workload.sh \
		--add "$bytes:/usr/bin/guest_bytes" "${records[@]}" \
		--add tests/lab/host/chains_host.sh "${@:3}" || status=1
	finish_check
	{
		echo "== host $*"
		check "$out" "${checks[@]}"
	} >"$log" 2>&1 &
	checking=$!
}
# PROGRAM FUNCTIONS COUNT: print a requirement for whole chains from these functions
# (record_known.sh)
whole() {
	echo "$3 ^$1 $2 _start of ^$1 $2"
}
# All recordings together need 5000 chains (below).
many=$(whole known_calls 'known_[a-z]*_leaf' 1500)
try native -- 6.1 5.10 -- bash /root/chains_host.sh 5 "$many"
# Without sanitizers: the same code runs with them in the other cases.
PERFVISOR=$PERFVISOR_RELEASE try 'host user32 deep' check_host_chains -- \
	6.1 6.1 --guest-cpus 4 --guest-add "${bytes%/*}/deep_frames" -- \
	bash /root/chains_host.sh 7 "$many
$(whole user32 '(hot32|middle32)' 130)
$(whole deep_frames deep_leaf 130)
$(whole deep_frames '[^ ]*' 280)
80 ^qemu-system-x86" --host --guest
# shellcheck disable=SC2016 # for the host's shells
PERFVISOR=$PERFVISOR_RELEASE try 'native beside' check_guest_perf -- \
	sid 6.12 --no-la57 --guest-add tests/lab/guest/guest_perf.sh \
	--guest-add "$(command -v perf):/usr/bin/perf" --add tests/lab/host/guest_perf_host.sh -- \
	bash -c 'bash /root/chains_host.sh 5 "$0" && bash /root/guest_perf_host.sh' "$many"
# shellcheck disable=SC2016
try 'host without_sp scanned' check_host_chains -- \
	sid sid --guest-cpus 1 --guest-add "${bytes%/*}/known_frames" \
	--guest-add "${bytes%/*}/untold_frames" --add tests/lab/host/without_sp_host.sh -- \
	bash -c 'bash /root/chains_host.sh 7 "$0" --host --guest && bash /root/without_sp_host.sh' \
	"$(whole known_calls 'known_[a-z]*_leaf' 600)
80 ^qemu-system-x86"
finish_check
checking=''
awk '{ all += $1; right += $2 } END {
	print right, "of", all, "chains in the module are right in all recordings;",
		"required: all, and at least 5000"
	exit !(all >= 5000 && right == all)
}' "$tally" || status=1
exit $status
