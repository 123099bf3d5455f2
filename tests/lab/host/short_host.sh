#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In the lab's host: record guest1's programs, until there are as many samples as the check needs.
set -u
. /root/record_known.sh
record_known 4 /tmp/short -g -F 997 <<END || exit
450 ^short_dynamic 
450 ^short_static 
END
cp /tmp/short "$OUT/"
cp /tmp/record_known.err "$OUT/said"
