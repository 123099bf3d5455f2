# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: user7525, which prints hot_a()'s share of its time on the console.
exec user7525 /dev/console
