# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The kernel alone, and there one function above all: large reads of /dev/urandom spend
# their time in chacha_permute, which chacha_block_generic calls. One reader per vCPU.
for _ in $(seq 2 "$(nproc)"); do
	reader &
done
exec reader
