#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# look_at_recordings.sh FOLDER: read each recording NAME.data in FOLDER with stock perf and
# perfvisor. It writes NAME.samples (from stock perf: "MISC PID TID IP TIME VM VCPU", in hexadecimal
# except the ids and the time in ns, "-" if perf knows no VM), NAME.perf_ips, and perfvisor's
# NAME.ips and NAME.report.
set -u
cd "$1" || exit
perfvisor=${PERFVISOR:?}

look() {
	local fields=machine_pid,vcpu,ip
	# perf's own recordings have no VMs, and it prints no guest samples.
	[ "$1" != perf ] || fields=ip
	perf script -D -F $fields -i "$1.data" 2>"$1.perf.err" | awk '
		match($0, /PERF_RECORD_SAMPLE\(IP, 0x[0-9a-f]+\): [0-9-]+\/[0-9-]+: 0x[0-9a-f]+ /) {
			if (sample)
				print sample, "- -"
			split(substr($0, RSTART, RLENGTH), part, /[(), :\/]+/)
			sample = substr(part[3], 3) " " part[4] " " part[5] " " substr(part[6], 3)
			sample = sample " " ($2 ~ /^0x/ ? $1 : $2)
		}
		sample && /^(VM: *[0-9]+ VCPU:-?[0-9]+)? *[0-9a-f]+ *$/ {
			gsub(/VM:|VCPU:/, "")
			print sample, NF == 3 ? $1 " " $2 : "- -"
			sample = ""
		}
		END {
			if (sample)
				print sample, "- -"
		}' >"$1.samples"
	perf script -F ip -i "$1.data" 2>/dev/null | awk '{ print $1 }' >"$1.perf_ips"
	"$perfvisor" script -F ip -i "$1.data" 2>"$1.script.err" | awk '{ print $1 }' >"$1.ips"
	"$perfvisor" report -i "$1.data" --sort vm,mode >"$1.report" 2>&1
}

for recording in *.data; do
	look "${recording%.data}"
done
if [ -e tracepoint.data ]; then # not on all hosts
	perf kvm --guest report -i two.data --stdio >perf_report 2>perf_report.err
	echo $? >perf_report.status
	perf buildid-list -i two.data >build_ids
	perf script -i tracepoint.data 2>/dev/null | head -n 100 >tracepoint.text
	"$perfvisor" script -i budget.data -F time,period >budget.periods
fi
for recording in killed.data random?.data; do
	[ ! -e "$recording" ] ||
		"$perfvisor" report -i "$recording" --sort vm,sym >"${recording%.data}.names" 2>&1
done
if [ -e piped.pipe ]; then
	"$perfvisor" report -i - --sort vm,sym <piped.pipe >piped.names 2>&1
	"$perfvisor" script -i - -F ip <piped.pipe 2>/dev/null | awk '{ print $1 }' >piped.ips
	perf script -i - -F ip <piped.pipe 2>/dev/null | awk '{ print $1 }' >piped.perf_ips
fi
