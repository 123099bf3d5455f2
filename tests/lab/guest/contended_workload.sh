# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: two threads that wait for each other's spinlock of the kernel, on two vCPUs.
exec contended
