#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest's kernel structures are corrupted while perfvisor reads and records the guest (scribble.c
# does it from the host, so that the guest keeps running). Each perfvisor command ends soon, with a
# result or a message; its caged parser neither dies nor hangs; and the recording continues. A guest
# process that has planted a false VMCOREINFO before does not change any name.
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
none() { # a missing file is a failure, too
	grep -E "$@"
	[ $? = 1 ]
}

OUT=$work/out in_lab 1200 --guest-cpus 1 \
	--guest-workload tests/lab/guest/hostile_guest_workload.sh \
	--add "$scribble:/usr/bin/scribble" --add tests/lab/host/hostile_guest_host.sh -- \
	bash /root/hostile_guest_host.sh || { echo "the lab failed"; exit 1; }
# NAME COMMAND…: read a recording here, where it is faster; keep its output and messages
keep_text() {
	local name=$1
	shift
	"$PERFVISOR" "$@" >"$work/out/texts/$name" 2>"$work/out/texts/$name.err"
}
keep_text release.report report -i "$work/out/release.data"
keep_text release.report.json report -i "$work/out/release.data" --json
recording=$work/out/recording.data
keep_text report report -i "$recording" --sort vm,gcomm,dso,sym
keep_text report.json report -i "$recording" --json
keep_text script script -i "$recording" -F comm,pid,ip,sym,dso
keep_text fold fold -i "$recording"
"$PERFVISOR" report -i "$recording" --sort vm,mode >"$work/out/report" 2>&1
echo $? >"$work/out/report.status"
"$PERFVISOR" report -i "$recording" -g --sort vm,mode >"$work/out/report.chains" 2>&1
"$PERFVISOR" script -i "$recording" -F time,ip >"$work/out/script" 2>&1
cat "$work/out/looks" "$work/out/scribble" "$work/out/record.err"
[ ! -e "$work/out/revived" ] || cat "$work/out/revived"

is "the false VMCOREINFO is there" grep -q '^planted 1024' "$work/out/console.log"
for file in kallsyms symbols; do
	grep -v '\[' "$work/out/$file" >"$work/out/$file.core"
done
is "the guest has symbols" [ "$(wc -l <"$work/out/kallsyms.core")" -gt 50000 ]
is "every name is the guest's own" cmp "$work/out/kallsyms.core" "$work/out/symbols.core"
is "the guest's release was changed" [ "$(grep -c 'Linux .*31m' \
	"$work/out/texts/release.record.err")" = 1 ]
is "each attack took place" [ "$(grep -c ': 0$' "$work/out/scribble")" = 4 ]
for attack in data lists stacks tables; do
	is "perfvisor ran during $attack" grep -q "^$attack '" "$work/out/looks"
done
# 1: it printed an error; 124: it hung; higher: it died.
is "each command ends by itself" none -v "' [01] [0-9]+ [0-9]+\$" "$work/out/looks"
for file in errors record.err symbols.err report; do
	is "no parser died, hung or gave false results ($file)" none -i \
		'sanitizer|runtime error|parser|out of memory|forged' "$work/out/$file"
done
is "each failure has a message" \
	[ "$(grep -c '^perfvisor: ' "$work/out/errors")" -ge "$(grep -c "' 1 " "$work/out/looks")" ]
is "the recording ended well" [ "$(cat "$work/out/record.status")" = 0 ]
is "the recording can be read" [ "$(cat "$work/out/report.status")" = 0 ]
# 200 per second for 24 seconds, minus the time after a crash of the guest.
samples=$(sed -nE 's/^# Totals:.* ([0-9]+) guest kernel.*/\1/p' "$work/out/report")
is "the guest was sampled" [ "${samples:-0}" -ge 200 ]
# Names chosen by a guest cannot control the user's terminal.
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
    check(found is None, f"{name}: {len(text)} bytes"
          + (f" with {found!r}" if found else ", none of which can control a terminal"))
    if not name.startswith("stack") and not name.endswith(".err"):
        check(any(escaped in text for escaped in (b"e?[31m??", rb"e\x1b[31m\xc2\x9b\xe2\x80\xae",
                                                  rb"e\u001b[31m\u009b\u202e")),
              f"{name}: it contains the name")
sys.exit(exit_status())
END
# Chains are finite, each says how it ends, and no sample is lost because of them.
python3 - "$work/out" <<'END' || failed=1
import re
import sys

sys.path.insert(0, "tests/lab/check")
from verdict import check, exit_status

folder = sys.argv[1]
blocks = [block.splitlines() for block in open(f"{folder}/script").read().split("\n\n")
          if block.strip()]
times = [float(re.search(r"([0-9]+\.[0-9]+):", block[0]).group(1)) for block in blocks]
check(max(len(block) for block in blocks) <= 2 + 2 * 512, f"{max(map(len, blocks))} frames at most")
report = open(f"{folder}/report.chains").read()
complete, chains = map(int, re.search(r"^# Guest call chains: (\d+) of (\d+) complete",
                                      report, re.M).groups())
totals = re.search(r"^# Totals:.*?(\d+) guest kernel, (\d+) guest user", report, re.M)
check(chains == sum(map(int, totals.groups())),
      f"{complete} of {chains} chains are complete, and each says how it ends")
print(re.search(r"^# Guest call chains:.*", report, re.M).group(0))
sampled = 0
for line in open(f"{folder}/times"):
    attack, *numbers = line.split()
    begin, end, time_then, time_now = map(float, numbers)
    seen, ran = sum(begin <= time < end for time in times), (time_now - time_then) / 100
    # 200 for each second that the vCPU spent in the guest, as counted by the host's ticks. At 4 ms
    # per tick, 25 samples are far more than the error. A guest that crashed may have run nothing.
    check(100 * ran - 25 <= seen <= 400 * ran + 25,
          f"{attack}: {seen} samples in {ran:.1f} s in the guest, of {end - begin:.1f} s")
    sampled += seen
check(sampled >= 1000, f"{sampled} samples during the attacks")
check(complete < chains, "some chains are not complete")
sys.exit(exit_status())
END
exit $failed
