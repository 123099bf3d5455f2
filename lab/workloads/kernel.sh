# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Only the kernel, and mostly one function: large reads of /dev/urandom spend their time in
# chacha_permute, which chacha_block_generic calls. There is one reader per vCPU.
for _ in $(seq 2 "$(nproc)"); do
	reader &
done
exec reader
