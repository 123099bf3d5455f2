#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest turns its kernel structures against perfvisor while it is looked at and recorded
# (scribble.c, from the host: the guest itself goes on): perfvisor ends each look soon, with a
# result or a message, its caged parser neither dies nor hangs, and the recording goes on. A guest
# process that plants a false VMCOREINFO before that changes no name.
set -u
. tests/lab/in_lab.sh
scribble=build/release/tests/lab/programs/scribble
command -v qemu-system-x86_64 >/dev/null || { echo "no qemu-system-x86_64: make setup"; exit 77; }
[ -x "$scribble" ] || { echo "no $scribble: run make"; exit 1; }
work=build/lab/hostile_guest
rm -rf "$work"
mkdir -p "$work"
failed=0
# is DESCRIPTION COMMAND…
is() {
	local description=$1
	shift
	"$@" && return
	echo "FAILED: $description"
	failed=1
}
none() { # a file that is not there is not without it
	grep -E "$@"
	[ $? = 1 ]
}

OUT=$work/out in_lab 1200 --guest-cpus 1 --guest-workload tests/lab/guest/hostile_guest_workload.sh \
	--add "$scribble:/usr/bin/scribble" --add tests/lab/host/hostile_guest_host.sh -- \
	bash /root/hostile_guest_host.sh || { echo "the lab failed"; exit 1; }
cat "$work/out/looks" "$work/out/scribble" "$work/out/record.err"
[ ! -e "$work/out/revived" ] || cat "$work/out/revived"

is "the false VMCOREINFO is there" grep -q '^planted 1000' "$work/out/console.log"
for file in kallsyms symbols; do
	grep -v '\[' "$work/out/$file" >"$work/out/$file.core"
done
is "the guest has names" [ "$(wc -l <"$work/out/kallsyms.core")" -gt 50000 ]
is "every name is the guest's own" cmp "$work/out/kallsyms.core" "$work/out/symbols.core"
is "each attack took place" [ "$(grep -c ': 0$' "$work/out/scribble")" = 4 ]
for attack in data lists stacks tables; do
	is "perfvisor looked during $attack" grep -q "^$attack '" "$work/out/looks"
done
# 1: it said what it could not do. 124: it hung; more: it died.
is "each look ends by itself" none -v "' [01] [0-9]+ [0-9]+\$" "$work/out/looks"
for file in errors record.err symbols.err report; do
	is "no parser died, hung or lied ($file)" none -i \
		'sanitizer|runtime error|parser|out of memory|forged' "$work/out/$file"
done
is "each failure has a message" \
	[ "$(grep -c '^perfvisor: ' "$work/out/errors")" -ge "$(grep -c "' 1 " "$work/out/looks")" ]
is "the recording ended well" [ "$(cat "$work/out/record.status")" = 0 ]
is "and is read" [ "$(cat "$work/out/report.status")" = 0 ]
# 200 a second for 24 seconds, less what the guest does not live to see.
samples=$(sed -nE 's/^# Totals:.* ([0-9]+) guest kernel.*/\1/p' "$work/out/report")
is "the guest was sampled" [ "${samples:-0}" -ge 200 ]
# A guest's names do not steer the terminal of who looks at it.
python3 - "$work/out/texts" <<'END' || failed=1
import os
import sys

sys.path[:0] = ["tests/lab/check", "tests/cli"]
from steering import find_steering
from verdict import check, exit_status

folder = sys.argv[1]
for name in sorted(os.listdir(folder)):
    with open(f"{folder}/{name}", "rb") as file:
        text = file.read()
    found = find_steering(text)
    check(found is None, f"{name}: {len(text)} bytes" + (f" with {found!r}" if found else ", none of which steers a terminal"))
    if not name.startswith("stack") and not name.endswith(".err"):
        check(any(escaped in text for escaped in (b"e?[31m??", rb"e\x1b[31m\xc2\x9b\xe2\x80\xae", rb"e\u001b[31m\u009b\u202e")),
              f"{name}: it has the name")
sys.exit(exit_status())
END
# Chains are finite, each of them says how it ends, and they cost the recording nothing.
python3 - "$work/out" <<'END' || failed=1
import re
import sys

sys.path.insert(0, "tests/lab/check")
from verdict import check, exit_status

folder = sys.argv[1]
blocks = [block.splitlines() for block in open(f"{folder}/script").read().split("\n\n") if block.strip()]
times = [float(re.search(r"([0-9]+\.[0-9]+):", block[0]).group(1)) for block in blocks]
check(max(len(block) for block in blocks) <= 2 + 2 * 512, f"{max(map(len, blocks))} frames at most")
report = open(f"{folder}/report.chains").read()
complete, chains = map(int, re.search(r"^# Guest call chains: (\d+) of (\d+) complete", report, re.M).groups())
totals = re.search(r"^# Totals:.*?(\d+) guest kernel, (\d+) guest user", report, re.M)
check(chains == sum(map(int, totals.groups())), f"{complete} of {chains} chains are complete, all say so")
print(re.search(r"^# Guest call chains:.*", report, re.M).group(0))
sampled = 0
for line in open(f"{folder}/times"):
    attack, *numbers = line.split()
    begin, end, time_then, time_now = map(float, numbers)
    seen, ran = sum(begin <= time < end for time in times), (time_now - time_then) / 100
    # 200 for each second that the vCPU was in the guest, as the host's ticks count these: at 4 ms a tick, 25 are
    # far more than their error. A guest that crashed may have done nothing.
    check(100 * ran - 25 <= seen <= 400 * ran + 25,
          f"{attack}: {seen} samples in {ran:.1f} of {end - begin:.1f} seconds in the guest")
    sampled += seen
check(sampled >= 1000, f"{sampled} samples while it was attacked")
check(complete < chains, "some of them are not complete")
sys.exit(exit_status())
END
exit $failed
