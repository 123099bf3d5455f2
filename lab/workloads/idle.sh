# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Does nothing: the vCPUs halt.
exec sleep infinity
