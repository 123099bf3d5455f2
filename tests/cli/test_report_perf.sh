#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# For recordings that stock perf makes here, `perfvisor report` shows the same rows as `perf
# report`: share, command, object and symbol, in the same order.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
golden=$(realpath tests/golden/perfdata)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0

perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }

cat >workload.sh <<'WORKLOAD'
for i in 1 2 3; do
	ls -laR /usr/share/doc >/dev/null
	perl -e 'my %h; $h{$_ % 997} += $_ for 1 .. 200000'
	(find /usr/include -name '*.h' | head -200 | xargs cat) | md5sum >/dev/null
	awk 'BEGIN { for (i = 0; i < 300000; i++) s += i }'
done
WORKLOAD

rows() { grep -v '^#' | grep . | sed 's/ *$//; s/  */ /g'; }

compare() { # NAME, ARGUMENTS OF perf record
	local name=$1
	shift
	perf record -q -o "$name" "$@" 2>record.err >/dev/null ||
		{ echo "perf record -o $name $*: $(cat record.err)"; status=1; return; }
	# By default perf makes the column as wide as threads' last names, and truncates earlier
	# ones.
	perf report -i "$name" --stdio -g none --no-children -w 0,16 2>/dev/null | rows >perf.rows
	"$perfvisor" report -i "$name" -g none --no-children >ours.txt 2>ours.err ||
		{ cat ours.err; status=1; }
	rows <ours.txt >ours.rows
	if [ "$(wc -l <perf.rows)" -lt 50 ]; then
		echo "$name: perf shows $(wc -l <perf.rows) rows: too few to compare"
		status=1
	fi
	if ! diff perf.rows ours.rows >differences; then
		echo "$name: $(grep -c '^<' differences) of $(wc -l <perf.rows) rows differ:"
		head -n 20 differences
		status=1
	fi
	[ -s ours.err ] && { echo "$name: $(cat ours.err)"; status=1; }
}

compare plain -e cpu-clock -F 10000 sh workload.sh
compare chains -e cpu-clock -F 5000 -g sh workload.sh
compare all-cpus -e cpu-clock -a -c 200000 sh workload.sh
compare two-events -e cpu-clock -e task-clock -F 5000 sh workload.sh
compare build-ids -e cpu-clock -F 5000 --buildid-mmap sh workload.sh
compare compressed -e cpu-clock -F 10000 -z sh workload.sh
compare user-only -e cpu-clock:u -F 20000 sh workload.sh

# All forms of the file: byte orders, pipe, directory, compressed, old attrs. Except kvm, of which
# perf shows no guest samples without options, and new-attr, which perf 6.1 rejects. perf takes the
# names of the kernel that runs here, also for a recording of another one.
for file in "$golden"/*.data; do
	case $file in */kvm.data | */new-attr.data) continue ;; esac
	names=()
	perf report -i "$file" --header-only 2>/dev/null | grep -qxF "# os release : $(uname -r)" ||
		names=(--kallsyms /dev/null)
	perf report -i "$file" --stdio -g none --no-children "${names[@]}" 2>/dev/null |
		rows >perf.rows
	"$perfvisor" report -i "$file" -g none --no-children 2>ours.err | rows >ours.rows
	[ -s perf.rows ] && diff perf.rows ours.rows >differences ||
		{ echo "$file differs:"; head -n 20 differences ours.err; status=1; }
	perf script -i "$file" "${names[@]}" >perf.txt 2>/dev/null
	"$perfvisor" script -i "$file" >ours.txt 2>ours.err
	[ -s perf.txt ] && diff perf.txt ours.txt >differences ||
		{ echo "script of $file differs:"; head -n 20 differences ours.err; status=1; }
done

# The totals equal the number of samples in the file.
want=$(perf script -i plain -F ip 2>/dev/null | wc -l)
got=$("$perfvisor" report -i plain |
	sed -n 's/^# Totals: \([0-9]*\) samples: \([0-9]*\) host.*/\1 \2/p')
[ "$got" = "$want $want" ] || { echo "totals: '$got' of $want samples"; status=1; }
exit $status
