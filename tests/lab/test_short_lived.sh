#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples of processes that have ended before anybody could look for them: their names, and their
# call chains by the source of the program. With guests that keep mappings in a tree, and in a list.
set -u
. tests/lab/in_lab.sh
# Without sanitizers: with them, the reader is slower than processes come. The same code runs with
# them in the other tests.
PERFVISOR=$PERFVISOR_RELEASE
programs=build/release/tests/lab/programs
status=0
for guest in 6.1 5.10; do
	echo "== guest $guest"
	out=build/lab/short-$guest
	# shellcheck disable=SC2154
	OUT=$out in_lab 600 --steady --host-kernel 6.1 --guest-kernel "$guest" \
		--guest-add "$programs/short_dynamic" --guest-add "$programs/short_static" \
		--guest-workload tests/lab/guest/short_workload.sh "${records[@]}" \
		--add tests/lab/host/short_host.sh -- bash /root/short_host.sh || status=1
	"$PERFVISOR" script -i "$out/short" -F comm,pid,ip,sym >"$out/script" || status=1
	python3 tests/lab/check/check_short.py "$out" || status=1
done
exit $status
