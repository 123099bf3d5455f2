#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# export, read by others: pprof by `go tool pprof`, speedscope's by its JSON schema, CSV and JSON by
# Python's modules. The numbers are those of `perf script`: of a recording by stock perf, and of two
# with VMs (tests/unit/output/write_chains.c, tests/unit/perfdata/write_example.c).
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
write_chains=$(realpath "$(dirname "$perfvisor")/tests/unit/write_chains")
write_example=$(realpath "$(dirname "$perfvisor")/tests/unit/write_example")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here # of go and npm
status=0
complain() {
	echo "FAILED: $1"
	status=1
}
write() { # RECORDING FORMAT FILE
	"$perfvisor" export -i "$1" -f "$2" -o "$3" 2>err || complain "$1 as $2: $(cat err)"
}

"$write_chains" chains >/dev/null || exit 1
"$write_example" example guest-processes >/dev/null || exit 1
recordings=(chains example)
if perf record -q -g -e cpu-clock -F 4000 -o stock \
	perl -e 'my %h; $h{$_ % 997} += sin $_ for 1 .. 600000; sort values %h for 1 .. 200' \
	2>/dev/null; then
	recordings+=(stock)
else
	echo "skipped: a recording by perf, because perf cannot record here"
fi

# The samples of the first event, and the sum of their periods, as perf script prints them.
sums() {
	perf script -i "$1" -G -F event,period 2>/dev/null | awk '
		NF && !event { event = $2 }
		NF && $2 == event { count++; sum += $1 }
		END { print count + 0, sum + 0 }'
}
for recording in "${recordings[@]}"; do
	for format in pprof speedscope json csv; do
		write "$recording" $format "$recording.$format"
	done
	read -r samples period < <(sums "$recording")
	python3 - "$recording" "$samples" "$period" <<'CHECK' || complain "$recording"
import csv, json, sys

name, samples, period = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = json.load(open(f"{name}.json"))
scope = json.load(open(f"{name}.speedscope"))
rows = list(csv.DictReader(open(f"{name}.csv", newline="")))
failures = []
def check(good, what):
    if not good:
        failures.append(what)
stacks = data["stacks"]
check(samples > 0 and len(stacks) > 1, f"{samples} samples, {len(stacks)} stacks")
check(sum(s["samples"] for s in stacks) == samples, "json: samples")
check(sum(s["period"] for s in stacks) == period, "json: period")
check(sum(int(r["samples"]) for r in rows) == samples, "csv: samples")
check(sum(int(r["period"]) for r in rows) == period, "csv: period")
check(sum(sum(p["weights"]) for p in scope["profiles"]) == period, "speedscope: weights")
check(all(p["endValue"] == sum(p["weights"]) for p in scope["profiles"]), "speedscope: ends")
check([s["frames"] for s in stacks] == [s for p in scope["profiles"] for s in p["samples"]],
      "speedscope and json have the same stacks")
names = [f["function"] for f in data["frames"]]
check([f["name"] for f in scope["shared"]["frames"]] == names, "the same functions")
check([r["stack"].split(";") for r in rows] ==
      [[names[f] for f in s["frames"]] for s in stacks] or any(";" in n for n in names),
      "csv: stacks")
check([r["vm"] for r in rows] == [s["vm"] or "" for s in stacks], "csv: VMs")
print(name, len(stacks), "stacks,", sorted({s["mode"] for s in stacks}), *failures)
sys.exit(bool(failures))
CHECK
done

# go tool pprof: the sum, and the shares of functions, which are those of the JSON.
if command -v go >/dev/null; then
	for recording in "${recordings[@]}"; do
		go tool pprof -raw "$recording.pprof" >raw 2>raw.err ||
			complain "pprof does not read $recording: $(cat raw.err)"
		python3 - "$recording" <<'CHECK' || complain "pprof of $recording"
import json, re, sys

data = json.load(open(f"{sys.argv[1]}.json"))
names = [f["function"] for f in data["frames"]]
raw = open("raw").read()
stacks, rest = raw.split("Samples:\n")[1].split("Locations\n")
locations = dict(re.findall(r"^ +(\d+): 0x[0-9a-f]+ M=\d+ (.*?) \S+:\d+(?::\d+)? s=0", rest, re.M))
got = [(int(count), int(period), [locations.get(i) for i in frames.split()][::-1])
       for count, period, frames in re.findall(r"^ +(\d+) +(\d+): ([\d ]+?) *$", stacks, re.M)]
wanted = [(s["samples"], s["period"], [names[f] for f in s["frames"]]) for s in data["stacks"]]
# pprof shortens what looks like C++ and escapes what is not UTF-8: only plain names are compared.
plain = re.compile(r"[\w.\[\]]+$", re.A)
same = len(got) == len(wanted) > 1 and all(
    a[:2] == b[:2] and len(a[2]) == len(b[2]) and
    all(x == y for x, y in zip(a[2], b[2]) if plain.match(y)) for a, b in zip(got, wanted))
compared = sum(bool(plain.match(y)) for w in wanted for y in w[2])
labels = set(re.findall(r"(\w+):\[([^]]*)\]", stacks))
expected = {("mode", s["mode"]) for s in data["stacks"]}
expected |= {("vm", s["vm"]) for s in data["stacks"] if s["vm"]}
expected |= {("vcpu", str(s["vcpu"])) for s in data["stacks"] if s["vcpu"] is not None}
if not same or expected - labels or compared < 4:
    print("pprof:", got[:4], "wanted:", wanted[:4], expected - labels, compared)
    sys.exit(1)
CHECK
	done
	# The same against itself is nothing.
	go tool pprof -top -diff_base chains.pprof chains.pprof 2>/dev/null |
		grep -q 'accounting for 0, 0%' || complain "a profile differs from itself"
else
	echo "skipped: pprof's own reader, because there is no go"
fi

# speedscope's schema is in its package.
if command -v npm >/dev/null && timeout 120 npm pack --silent speedscope >/dev/null 2>&1 &&
	tar xzf speedscope-*.tgz package/dist/release/file-format-schema.json; then
	for recording in "${recordings[@]}"; do
		python3 - "$recording" <<'CHECK' || complain "speedscope's schema, $recording"
import json, jsonschema, sys
jsonschema.validate(json.load(open(f"{sys.argv[1]}.speedscope")),
                    json.load(open("package/dist/release/file-format-schema.json")))
CHECK
	done
else
	echo "skipped: speedscope's schema, because npm cannot fetch its package"
fi

# Hostile names: what a spreadsheet takes for a formula, and what steers a terminal, stays text.
sed 's/worker/=1+\x1b12/; s/database/@"b,sepq/' example >steering
"$perfvisor" export -i steering -f csv 2>/dev/null >steering.csv
python3 - <<'CHECK' || complain "hostile names"
import csv, sys
rows = list(csv.reader(open("steering.csv", newline="")))
cells = {cell for row in rows for cell in row}
bad = [cell for cell in cells if cell[:1] in ("=", "+", "-", "@") or "\x1b" in cell]
good = len({len(row) for row in rows}) == 1 and not bad
good = good and any(cell.startswith("'=1+") for cell in cells)
if not good:
    print(sorted(cells))
sys.exit(not good)
CHECK
for sign in = + - @ '\t=' '\r=' $'\uff1d' $'\uff0b' $'\uff0d' $'\uff20'; do
	name=$sign.....
	sed "s/worker/$(printf %b "$name" | head -c 6 | sed 's/\r/\\r/')/" example >steering
	"$perfvisor" export -i steering -f csv 2>/dev/null >steering.csv
	python3 - "$(printf %q "$sign")" <<'CHECK' || complain "a formula: $(printf %q "$sign")"
import csv, sys
rows = list(csv.DictReader(open("steering.csv", newline="")))
names = {row["process"] for row in rows if row["process"].endswith("..")}
print(sys.argv[1], names)
sys.exit(not names or not all(name[0] in "'\\" for name in names))
CHECK
done
"$perfvisor" export -i chains -f csv -o mine 2>/dev/null
"$perfvisor" export -i chains -f json -o mine 2>err && complain "a file was replaced"
grep -q 'was not replaced' err || complain "no reason: $(cat err)"
"$perfvisor" export -i chains -f json -o mine --force 2>/dev/null && head -c 1 mine | grep -q '{' ||
	complain "--force does not replace a file"
"$perfvisor" export -i chains 2>err && complain "no format"
grep -q 'format is missing' err || complain "no reason: $(cat err)"
"$perfvisor" export -i chains -f pprof >/dev/full 2>err && complain "a full disk is no success"
exit $status
