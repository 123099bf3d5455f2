#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains in `perfvisor report` are those of `perf report`, for recordings made here: the shares
# of each row, with and without children, and the chains below each row, in every direction.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tools=$(realpath tests/cli)
golden=$(realpath tests/golden/perfdata)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here # no perfconfig
status=0

perf record -q -e cpu-clock -g -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }
gcc -O1 -fno-omit-frame-pointer -static -o workload "$tools/chain_workload.c" || exit 1

widths=()
compare() { # HOW, RECORDING, ARGUMENTS OF report
	local how=$1 name=$2
	shift 2
	perf report --stdio --no-inline "${widths[@]}" -i "$name" "$@" >perf.txt 2>/dev/null
	"$perfvisor" report -i "$name" "$@" >ours.txt 2>ours.err || { cat ours.err; status=1; }
	sed -i '/addr2line/d' perf.txt ours.txt # see unnamed_plt.sed
	python3 "$tools/chains.py" $how perf.txt ours.txt >differences ||
		{ echo "$name $*:"; cut -c1-2000 differences; status=1; }
	[ -s ours.err ] && { echo "$name $*: $(cat ours.err)"; status=1; }
}

perf record -q -e cpu-clock -F 5000 -g -o chains ./workload || exit 1
[ "$(perf script -i chains -F ip | grep -c '^$')" -gt 1000 ] || { echo "too few samples"; exit 1; }
compare '' chains
compare '' chains --children
compare '' chains --children -g callee
compare '' chains --children -g caller,2
compare '' chains --no-children
compare '' chains --no-children -g
compare '' chains --no-children -g caller
compare '' chains --no-children -g callee,3 --sort dso,sym
compare '' chains --percent-limit 3
compare '' chains --sort sym
compare '' chains --sort sym,dso --no-children
compare '' chains --sort dso,comm
compare '' chains -g none
compare '' chains -g none --no-children

# Other forms of the file: compressed, with the other byte order.
perf record -q -z -e cpu-clock -F 5000 -g -o compressed ./workload || exit 1
compare '' compressed
for name in chains big-endian-chains; do
	perf report --stdio --no-inline -i "$golden/$name.data" >perf.txt 2>/dev/null
	"$perfvisor" report -i "$golden/$name.data" >ours.txt 2>/dev/null
	python3 "$tools/chains.py" --named perf.txt ours.txt >differences ||
		{ echo "$name.data:"; cut -c1-2000 differences; status=1; }
done

# JSON has the same shares.
"$perfvisor" report -i chains --json >ours.json 2>/dev/null || status=1
perf report --stdio --no-inline -i chains -g none >perf.txt 2>/dev/null
python3 - ours.json <<'CHECK' >ours.rows || status=1
import json, sys
event = json.load(open(sys.argv[1]))["events"][0]
for row in event["rows"]:
    if row["sym"]:
        shares = ("%.2f%%" % (100 * row[part] / event["period"]) for part in ("children", "period"))
        print(*shares, row["sym"])
CHECK
sed -nE 's/^ +([0-9.]+%) +([0-9.]+%) .*\[[k.]\] ([^ ]+) *$/\1 \2 \3/p' perf.txt |
	grep -v ' 0x' | grep -v ' 0000' | sort >perf.rows
sort ours.rows | diff perf.rows - >differences && [ -s perf.rows ] ||
	{ echo 'JSON differs:'; head -n 20 differences; status=1; }

# Two events, one of them without chains; then only user chains, which do not begin where the sample
# was taken.
perf record -q -e cpu-clock -e task-clock -F 3000 -g -o events ./workload || exit 1
compare --rows events -g none
perf record -q -e cpu-clock -F 5000 -g --user-callchains -o user-chains ./workload || exit 1
compare --rows user-chains -g none
compare --rows user-chains -g none --no-children

# The whole system: many processes, with programs without symbols and frame pointers.
perf record -q -a -e cpu-clock -F 3000 -g -o system -- sh -c '
	ls -laR /usr/share/doc >/dev/null
	perl -e "my %h; \$h{\$_ % 997} += \$_ for 1 .. 100000"
	find /usr/include -name "*.h" | head -200 | xargs cat | md5sum >/dev/null
	./workload' || exit 1
# perf makes the column of commands as wide as the last command of each thread, and truncates longer
# ones.
widths=(-w 0,200,200)
compare --rows system -g none
compare --rows system -g none --no-children

# Wrong usage is reported.
"$perfvisor" report -i chains -g sideways >out.txt 2>err.txt
[ $? = 2 ] && grep -q "unknown word 'sideways'" err.txt ||
	{ echo "-g sideways: $(cat err.txt)"; status=1; }
"$perfvisor" report -i chains --percent-limit 101 >out.txt 2>err.txt
[ $? = 2 ] || { echo "--percent-limit 101: $(cat err.txt)"; status=1; }
perf record -q -e cpu-clock -o plain ./workload || exit 1
"$perfvisor" report -i plain -g >out.txt 2>err.txt
[ $? = 1 ] && grep -q 'no call chains' err.txt ||
	{ echo "-g without chains: $(cat err.txt)"; status=1; }
exit $status
