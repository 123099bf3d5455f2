#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# guest_memory_host.sh cpus|unnamed in the lab's host: write what perfvisor reads from guest1 and
# what guest1 reports itself to $OUT. cpus: also what guest_cpus prints about its CPUs; unnamed:
# also a recording without guest memory.
set -u
# perfvisor and its parser take turns; on two CPUs each message would wake up the other one, which
# is slow in emulation.
taskset -p 2 $$ >/dev/null
guest=/run/lab/guest1
for _ in $(seq 300); do
	grep -q VDSO-END $guest/told.log && break
	sleep 0.2
done
cp $guest/kallsyms $guest/modules $guest/version $guest/told.log "$OUT/" || exit
perfvisor list --json >"$OUT/list.json" || exit
perfvisor symbols --vm guest1 >"$OUT/symbols" || exit
# From here on its kernel is in the cache.
perfvisor symbols --vm guest1 >"$OUT/symbols.later" || exit
ls -ln /var/cache/perfvisor >"$OUT/cache" || exit
perfvisor symbols --modules >"$OUT/symbols.modules" || exit
perfvisor ps --json >"$OUT/ps.json" || exit
# One kernel thread is enough, because they have no mappings. The comparison notices a process that
# has ended in the meantime.
mapfile -t maps < <(perfvisor ps | awk '$1 == 2 || (NR > 1 && $4 !~ /^\[/) { print "--maps=" $1 }')
perfvisor ps "${maps[@]}" >"$OUT/maps"
perfvisor ps "${maps[@]}" --json >"$OUT/maps.json"
cp -r /usr/share/perfvisor-lab "$OUT/files" && cp /usr/bin/busybox "$OUT/files/" || exit
perfvisor record --max-overhead 100 -v --duration 2 -F 200 -o "$OUT/named" 2>"$OUT/named.err" ||
	exit
# Other programs, which overwrite the cache.
if [ "$1" = cpus ]; then
	/root/guest_cpus >"$OUT/cpus" || exit
fi
/root/guest_programs user7525 big7525 user32 dynamic sleep >"$OUT/programs" || exit
[ "$1" = unnamed ] || exit 0
perfvisor record --max-overhead 100 --duration 2 -F 200 --no-memory -o "$OUT/unnamed"
