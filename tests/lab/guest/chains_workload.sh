# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: the load of `mixed` and, for most of the time, calls whose chains are known
# (known_chains/, loaded by lab/run). It ends if these fail. If the guest has perf and the host
# requests it, the guest records itself (guest_perf.sh).
[ ! -e /root/guest_perf.sh ] || sh /root/guest_perf.sh &
for program in deep_frames known_frames untold_frames; do
	[ ! -e /root/$program ] || /root/$program &
done
[ "$(nproc)" -lt 4 ] || user32 &
syscalls &
user7525 &
reader &
for _ in $(seq 2 "$(nproc)"); do
	/root/known_calls &
done
exec /root/known_calls
