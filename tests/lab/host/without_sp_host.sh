#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: record guest1 for check_chains.py as on an Intel host (CONTRIBUTING.md) with
# Linux 6.3 or later, that is, without stack pointers and CR3. Then record it with guesses, while
# stack pointers that are searched for are compared with the true ones.
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
