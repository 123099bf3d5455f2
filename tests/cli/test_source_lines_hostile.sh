#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A program whose debugging information makes each lookup of an address dear: a function of 100,000
# blocks of a byte each (DWARF 4, 7.5), without addresses and children. They are read once for all
# addresses; if they were read for each, this would take many minutes.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
builder=$PWD/tests/cli/build_recording.py
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
LIMIT_SECONDS=120
ADDRESSES=4000

cat >program.s <<'ASSEMBLER'
	.text
	.globl main
main:	.fill 65536, 1, 0x90
	ret
	.size main, . - main
	.section .debug_abbrev, "", @progbits
	.uleb128 1; .uleb128 0x11; .byte 1	# DW_TAG_compile_unit, with children
	.uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .byte 0, 0
	.uleb128 2; .uleb128 0x2e; .byte 1	# DW_TAG_subprogram
	.uleb128 3; .uleb128 8; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .byte 0, 0
	.uleb128 3; .uleb128 0x0b; .byte 0; .byte 0, 0	# DW_TAG_lexical_block
	.uleb128 4; .uleb128 0x1d; .byte 0	# DW_TAG_inlined_subroutine
	.uleb128 3; .uleb128 8; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .byte 0, 0
	.byte 0
	.section .debug_info, "", @progbits
begin:	.long end - start
start:	.short 4
	.long 0
	.byte 8
	.uleb128 1; .quad main; .quad 65537
	.uleb128 2; .asciz "outer"; .quad main; .quad 65537
	.fill 100000, 1, 3
	.uleb128 4; .asciz "inner"; .quad main + 4; .quad 65532
	.byte 0, 0
end:
ASSEMBLER
gcc -nostdlib -static -no-pie -Wl,-e,main -o program program.s || exit 1
main=0x$(nm program | sed -n 's/ T main$//p')
read -r offset address _ bytes < <(readelf -lW program |
	sed -nE 's/^ *LOAD +(\S+) (\S+) (\S+) (\S+) .* R E .*/\1 \2 \3 \4/p')
{
	echo "event sample=IP,TID,TIME,PERIOD,CALLCHAIN"
	echo "mmap 7 $address $(((bytes + 4095) / 4096 * 4096)) $offset $folder/program"
	for ((i = 0; i < ADDRESSES; i++)); do
		echo "sample pid=7 time=$((i + 1)) ip=$((main + i)) chain=USER,$((main + i))"
	done
} | python3 "$builder" blocks.data
timeout $LIMIT_SECONDS "$perfvisor" script -i blocks.data -F ip,sym --inline >out 2>err
code=$?
[ $code = 0 ] && [ ! -s err ] || { echo "status $code: $(cat err)"; exit 1; }
# All but the first four addresses are in an inlined function.
[ "$(grep -c ' inner.*(inlined)$' out)" = $((ADDRESSES - 4)) ] ||
	{ echo "not the functions: $(head -n 20 out)"; exit 1; }
