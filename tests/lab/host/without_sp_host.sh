#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: guest1 is recorded as on an Intel host (CONTRIBUTING.md), whose kernel has the IP in time
# from 6.3 on: without stack pointers and CR3; and with guesses, while what would be found without stack
# pointers is compared with the truth; for check_chains.py.
set -u
. /root/record_known.sh
PERFVISOR_TEST_KVM=intel record_known 7 /tmp/without_sp -g -F 997 <<'END' || exit
130 ^known_frames frame_3 _start of ^known_frames frame_3
END
PERFVISOR_TEST_KVM=compare record_known 5 /tmp/scanned --unwind scan -F 997 <<'END' || exit
130 ^untold_frames frame_3 [?] of ^untold_frames frame_3
END
cp /tmp/record_known.err "$OUT/compared"
cp /tmp/without_sp /tmp/scanned "$OUT/"
