#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: record guest1's programs, until there are as many samples as the check needs.
set -u
. /root/record_known.sh
record_known 4 /tmp/short -g -F 997 <<END || exit
350 ^short_dynamic [^ ]+ _start
350 ^short_static [^ ]+ _start
END
cp /tmp/short "$OUT/"
