#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor flamegraph` makes a page that works in a browser: VMs, vCPUs, processes and frames with
# their shares, zoom, search, keys, light and dark. A guest's names cannot inject anything.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
write_chains=$(dirname "$perfvisor")/tests/unit/write_chains
tools=$(realpath tests/cli)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
[ -x "$write_chains" ] || { echo "$write_chains is not built"; exit 1; }
status=0

"$write_chains" vm.data >truth || exit 1
"$perfvisor" flamegraph -i vm.data -o vm.html 2>err.txt || { cat err.txt; exit 1; }
grep -q "wrote 'vm.html'" err.txt || { echo "says nothing of the page: $(cat err.txt)"; status=1; }
"$perfvisor" flamegraph -i vm.data -o - | cmp - vm.html ||
	{ echo '-o - writes another page'; status=1; }
"$perfvisor" flamegraph -i vm.data 2>/dev/null && cmp flame.html vm.html ||
	{ echo 'without -o there is no flame.html'; status=1; }
"$perfvisor" flamegraph -i vm.data -o /nonexistent/vm.html 2>err.txt
[ $? = 1 ] && grep -q "could not write" err.txt || { echo "unwritable: $(cat err.txt)"; status=1; }
"$perfvisor" flamegraph -i vm.data -o /dev/full 2>err.txt
[ $? = 1 ] || { echo "a full disk: $(cat err.txt)"; status=1; }

# Far more frames than can be seen: the largest are kept, and no sample is lost.
python3 -B "$tools/many_stacks.py" | python3 -B "$tools/build_recording.py" many.data || status=1
"$perfvisor" flamegraph -i many.data -o many.html 2>err.txt || { cat err.txt; status=1; }
python3 -B "$tools/many_stacks.py" many.html || status=1

# A single VM; the contents of a page, without a browser.
"$perfvisor" flamegraph -i vm.data --vm db -o db.html 2>/dev/null || status=1
python3 - vm.html db.html <<'CHECK' || status=1
import json, re, sys
for path, periods in (sys.argv[1], 123), (sys.argv[2], 16):
    page = open(path, encoding="utf-8").read()
    data = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    if len(data) != 1 or "<" in data[0] or page.count("<script") != 2:
        sys.exit(f"{path}: a name has broken out of the data")
    tree = json.loads(data[0])
    if (sum(tree["tree"][1::3]) * tree["unit"] != periods * 250000
            or sum(tree["samples"]) != periods):
        sys.exit(f"{path}: not {periods} samples")
    if re.search(r'(src|href)\s*=\s*["\']?(https?:)?//|url\(|@import|fetch\(|XMLHttp',
                 page.replace(data[0], "")):
        sys.exit(f"{path}: loads something")
CHECK
[ $status = 0 ] || exit 1

for program in chromium chromedriver; do
	command -v $program >/dev/null || {
		echo "skipped: the page in a browser, because $program is not installed:" \
			"'make setup' does it"
		exit 0
	}
done
export HOME=$here # use no files of the user
python3 -B "$tools/flamegraph_page.py" "$here/vm.html" truth
