# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: user7525, which says on the console which share of its time hot_a() takes.
exec user7525 /dev/console
