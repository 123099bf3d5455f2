# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload for three vCPUs: a program whose profile is known and which reports hot_a()'s share
# of its time; a program that keeps the kernel busy; nothing on the third.
reader &
exec user7525 /dev/console
