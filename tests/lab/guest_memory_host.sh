#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: what perfvisor reads of guest1, and what guest1 says of itself, into $OUT.
set -u
guest=/run/lab/guest1
for _ in $(seq 300); do
	grep -q VDSO-END $guest/console.log && break
	sleep 0.2
done
grep -q TRUTH-END $guest/console.log || exit 99
cp $guest/kallsyms $guest/modules $guest/version $guest/console.log "$OUT/" || exit
perfvisor list --json >"$OUT/list.json" || exit
perfvisor symbols --vm guest1 >"$OUT/symbols" || exit
perfvisor symbols --modules >"$OUT/symbols.modules" || exit
perfvisor ps --json >"$OUT/ps.json" || exit
# Of kernel threads, which have nothing mapped, one is enough: each question takes seconds here.
for pid in $(perfvisor ps | awk '$1 == 2 || (NR > 1 && $4 !~ /^\[/) { print $1 }'); do
	echo "=== $pid"
	# A process that ended since then is told by the comparison.
	perfvisor ps --maps "$pid"
done >"$OUT/maps"
/root/guest_programs user7525 big7525 user32 dynamic sleep >"$OUT/programs" || exit
perfvisor ps --json --maps "$(awk '/^===.*\/dynamic / { print $2 }' "$OUT/programs")" >"$OUT/maps.json" || exit
cp -r /usr/share/perfvisor-lab "$OUT/files" && cp /usr/bin/busybox "$OUT/files/" || exit
perfvisor record --duration 2 -F 200 -o "$OUT/named" || exit
perfvisor record --duration 2 -F 200 --no-memory -o "$OUT/unnamed" || exit
perfvisor report -i "$OUT/named" >"$OUT/named.txt" || exit
perfvisor report -i "$OUT/unnamed" >"$OUT/unnamed.txt"
# A guest that crashed and booted anew meanwhile is not the one that the truth is of.
[ "$(grep -c TRUTH-BEGIN $guest/console.log)" = 1 ] || exit 99
