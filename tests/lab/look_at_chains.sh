#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# look_at_chains.sh FOLDER [native]: what is read of the recordings that chains_host.sh left in FOLDER: all by
# perfvisor as `script` prints it, and the first by stock perf; with "native" that after convert --native,
# else the host's part of it.
set -u
cd "$1" || exit
perfvisor=${PERFVISOR:?}
"$perfvisor" script --max-stack 1000 -i chains -F comm,pid,ip,sym >./script || exit
"$perfvisor" report -i chains >./report || exit
"$perfvisor" script -i kernel_only -F comm,pid,ip >kernel_only.script || exit
[ ! -e beside ] || "$perfvisor" script --max-stack 1000 -i beside -F comm,pid,ip,sym >beside.script || exit
[ ! -e without_sp ] || "$perfvisor" script --max-stack 1000 -i without_sp -F comm,pid,ip,sym >without_sp.script || exit
if [ "${2-}" = native ]; then
	fields=comm,pid,tid,time,period,ip,sym,symoff,dso
	"$perfvisor" script --max-stack 1000 -i chains -F $fields,machine_pid,vcpu >as_guest || exit
	"$perfvisor" convert --native -i chains -o native || exit
	perf --buildid-dir native/debug script --max-stack 1000 --no-inline -i native -F $fields,cpu >as_native
else
	perf script -i chains -F comm,pid,ip,sym >perf_script 2>perf_script.err
fi
