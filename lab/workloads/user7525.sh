# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Only user mode: one user7525 per vCPU.
for _ in $(seq 2 "$(nproc)"); do
	user7525 &
done
exec user7525
