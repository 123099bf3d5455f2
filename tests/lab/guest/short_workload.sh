# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: programs with a known call tree that live for 40 ms each, one after another.
(while :; do /root/short_dynamic; done) &
while :; do /root/short_static; done
