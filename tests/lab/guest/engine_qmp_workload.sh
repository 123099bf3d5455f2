# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload for three vCPUs: a program whose profile is known, and says which share of its time hot_a()
# takes; the kernel at work for another; nothing on the third.
reader &
exec user7525 /dev/console
