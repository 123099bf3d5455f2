#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perfvisor and stock perf read the same from a recording with guest processes: comm, pid, tid, and
# dso of every guest sample, and the functions of a guest's file that is in perf's build-id cache.
# What stock perf cannot show is compared with what write_example reports to have written.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
write_example=$(dirname "$perfvisor")/tests/unit/write_example
library=$(realpath tests/fuzz/corpus/elf/so64)
command -v perf >/dev/null || { echo 'perf is not installed'; exit 77; }
[ -x "$write_example" ] || { echo "$write_example is not built"; exit 1; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export HOME=$folder # no perfconfig, and only our build-id cache
status=0
complain() {
	echo "$1"
	status=1
}

"$write_example" data guest-processes >truth || complain 'write_example failed'

same_script() { # same_script WHAT [OPTION…]
	local what=$1
	shift
	perf script -i data "$@" >perf.txt 2>/dev/null
	"$perfvisor" script -i data "$@" >ours.txt 2>ours.err || cat ours.err
	[ "$(wc -l <perf.txt)" = 450 ] ||
		complain "$what: perf script shows $(wc -l <perf.txt) lines"
	diff perf.txt ours.txt >differences ||
		{ complain "$what: script differs:"; head -n 20 differences; }
}
fields=comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso,machine_pid,vcpu
same_script 'without symbols'
same_script 'all fields' -F "$fields"

# The guest's library is found by its build-id; there is none at its path here.
perf buildid-cache -a "$library" || complain 'perf buildid-cache failed'
same_script 'build-id cache' -F "$fields"
for name in label entry; do
	grep -q "^VM: 5000 .* $name+0x[0-9a-f]* (/usr/lib/libserver.so)$" ours.txt ||
		complain "no sample is in '$name' of the guest's library"
done

# Rows of a report, with samples of both events: "COUNT COMM PID DSO SYMBOL".
perf report -i data --stdio -n --sort comm,dso,sym 2>/dev/null | grep -v '^#' | grep . |
	sed 's/  */ /g; s/^ [0-9.]*% *[0-9]* //; s/ *$//' >perf.rows
"$perfvisor" report -i data --sort comm,dso,sym 2>/dev/null | grep -v '^#' | grep . |
	sed 's/  */ /g; s/^ [0-9.]*% //; s/ *$//' >ours.rows
[ "$(wc -l <perf.rows)" -gt 20 ] || complain "perf report shows $(wc -l <perf.rows) rows"
diff perf.rows ours.rows >differences || { complain 'report differs:'; head -n 20 differences; }

# By guest: comms and pids as they were written; the host's samples belong to no guest.
by_guest() { # by_guest EVENT: "COMM PID" and the share of the event's periods
	"$perfvisor" report -i data --sort gcomm,gpid 2>/dev/null |
		awk -v event="'$1'" '/^# Samples/ { on = $NF == event }
			on && /^ / { print $2, $3, $1 }' | sort
}
for event in cpu-clock cycles:G; do
	awk -v event=$event '$6 == event {
		who = $7 == "-" ? "[host] -" : $1 == -1 ? "[unknown] -" : $10 " " $1
		sum[who] += $5; all += $5
	} END { for (who in sum) printf "%s %.2f%%\n", who, 100 * sum[who] / all }' truth |
		sort >want
	by_guest $event >got
	[ -s want ] || complain "$event: write_example wrote nothing"
	diff -u want got || complain "$event: guest commands and pids differ"
done
"$perfvisor" report -i data 2>/dev/null |
	grep -q '^# Overhead  VM  *Guest Command  Shared Object *Symbol$' ||
	complain 'a report of guest processes does not show them by default'
"$perfvisor" report -i data --sort gcomm,gpid,dso,sym --json 2>/dev/null >json
python3 - truth json <<'CHECK' || complain 'JSON differs'
import collections, json, sys

want, got, dsos = collections.Counter(), collections.Counter(), set()
for line in open(sys.argv[1]):
    words = line.split()
    who = (None, None) if words[6] == "-" or words[0] == "-1" else (words[9], int(words[0]))
    want[(words[5],) + who] += 1
report = json.load(open(sys.argv[2]))
for event in report["events"]:
    for row in event["rows"]:
        got[(event["event"], row["gcomm"], row["gpid"])] += row["samples"]
        dsos.add(row["dso"])
        if (row["sym"] is None) == (row["address"] is None):
            sys.exit("neither a symbol nor an address: %s" % row)
if want != got:
    sys.exit("wanted %s, got %s" % (want, got))
if dsos != {None, "example-host", "libserver.so", "server", "editor"}:
    sys.exit("dsos: %s" % dsos)
totals = report["totals"]
if totals["samples"] != sum(want.values()) + 7 or totals["lost"] != 7:
    sys.exit("totals: %s" % totals)
if report["vms"][0]["kernel_release"] != "6.1.0-example" or report["vms"][1]["host_name"]:
    sys.exit("VMs: %s" % report["vms"])
CHECK
"$perfvisor" report -i data 2>/dev/null |
	grep -qx '# Guest: first (5000), Linux 6.1.0-example, host name web1' ||
	complain 'a report does not say what runs in a guest'
exit $status
