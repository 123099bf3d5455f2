#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: run guest_memory_host.sh without permission to use BPF, so that perfvisor asks
# guest1's QEMU where the guest's memory is; then run perfvisor while another client holds QEMU's
# socket.
set -u
without_bpf=(setpriv-full "--bounding-set=-bpf,-sys_admin")
sysctl -q -w kernel.perf_event_paranoid=2 # Debian's 3 requires CAP_SYS_ADMIN
"${without_bpf[@]}" bash /root/guest_memory_host.sh unnamed || exit
"${without_bpf[@]}" perfvisor doctor >"$OUT/doctor"
perfvisor list --json >"$OUT/list.bpf.json"
"${without_bpf[@]}" /root/show_qmp_memory "$(cat /run/lab/guest1/pid)" >"$OUT/slots" || exit
# A client that sends nothing.
tail -f /dev/null | socat - UNIX-CONNECT:/run/lab/guest1/qmp.sock >"$OUT/greeting" &
for _ in $(seq 50); do
	grep -q QMP "$OUT/greeting" && break
	sleep 0.2
done
"${without_bpf[@]}" perfvisor ps >"$OUT/busy" 2>&1
echo $? >>"$OUT/busy"
"${without_bpf[@]}" perfvisor list >"$OUT/busy.list" 2>&1
kill %1
