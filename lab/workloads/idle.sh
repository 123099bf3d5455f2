# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Nothing: the vCPUs halt.
exec sleep infinity
