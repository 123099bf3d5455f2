#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tinyvm rejects bad unikernels with one line and status 1, and wrong usage with status 2. Every
# case ends before /dev/kvm is opened, so it is not needed.
set -u
folder=${TINYVM_FOLDER:-build/release/lab/tinyvm}
tinyvm=$folder/tinyvm
if [ ! -x "$tinyvm" ]; then
	[ "$(uname -m)" = x86_64 ] || { echo "tinyvm is for x86-64 only"; exit 77; }
	echo "no $tinyvm: run make"
	exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
fail() {
	echo "$*"
	status=1
}

# STATUS PATTERN ARGUMENT…: one line "tinyvm: …" with PATTERN (for wrong usage, also a hint to
# --help)
expect() {
	local want=$1 pattern=$2 got lines
	shift 2
	timeout 20 "$tinyvm" "$@" >"$work/out" 2>"$work/err"
	got=$?
	lines=$(wc -l <"$work/err")
	[ $got = "$want" ] || fail "tinyvm $*: status $got, not $want: $(head -c 300 "$work/err")"
	[ "$lines" = "$want" ] || fail "tinyvm $*: $lines lines of message, not $want"
	grep -q -- "$pattern" "$work/err" ||
		fail "tinyvm $*: no \"$pattern\" in: $(cat "$work/err")"
	[ ! -s "$work/out" ] || fail "tinyvm $*: something on stdout"
}

"$tinyvm" --help >"$work/help" || fail "--help fails"
grep -q '^Examples:' "$work/help" || fail "--help has no examples"

for number in 0 65 -1 x 1x '' 99999999999999999999; do
	expect 2 'wants a number from 1 to 64' --vcpus "$number"
done
expect 2 'wants a number from 1 to 1024' --mem 1025
expect 2 'wants 4 MB at least' --mem 3
expect 2 'wants a number' --seconds 0
expect 2 'unknown mode' --mode sleep
expect 2 'wants 1 to 64 characters' --name ''
expect 2 'printable' --name 'a b'
expect 2 'unrecognized option' --frobnicate
expect 2 'requires an argument' --vcpus
expect 2 'one unikernel at most' a b

expect 1 'No such file' "$work/missing"
expect 1 'not a regular file' "$work"
mkfifo "$work/fifo"
expect 1 'not a regular file' "$work/fifo"
: >"$work/empty"
expect 1 'not an ELF file' "$work/empty"
echo 'hello' >"$work/text"
expect 1 'not an ELF file' "$work/text"
truncate -s 65M "$work/huge"
expect 1 'larger than 64 MB' "$work/huge"
expect 1 'not a static executable' "$(command -v cat)"
objcopy --strip-all "$folder/unikernel.elf" "$work/stripped"
expect 1 'no symbol vcpu_areas' "$work/stripped"

# One changed field each; tests/cli/elf_edit.py makes the file from the good one.
edited() {
	local pattern=$1
	shift
	python3 tests/cli/elf_edit.py "$folder/unikernel.elf" "$work/edited" "$@" ||
		fail "elf_edit.py $* fails"
	expect 1 "$pattern" "$work/edited"
}
edited 'not an ELF for x86-64' class=1
edited 'not an ELF for x86-64' machine=183
edited 'not a static executable' type=3
edited 'unknown size' phentsize=55
edited 'no program headers' phnum=0
edited 'no program headers' phnum=65535
edited 'truncated program headers' phoff=0xffffffffffffffff
edited 'truncated program headers' phoff=0xffffffffffffffc8
edited 'entry is in no' entry=0
edited 'entry is in no' phdr.0.flags=4
edited 'is not all in the file' phdr.0.offset=0xfffffffffffff000
edited 'larger in the file than in memory' phdr.0.filesz=0xffffffffffffffff
edited 'needs 0xffffffffffffffff bytes' phdr.0.memsz=0xffffffffffffffff
edited 'needs 0x40000000 bytes' phdr.2.memsz=0x40000000
edited 'try a larger --mem' phdr.0.paddr=0xfffffffffffff000
edited 'below the first MB' phdr.0.paddr=0x1000
edited 'does not start on a page' phdr.0.vaddr=0xffffffff80100010
edited 'virtual addresses' phdr.0.vaddr=0xffff800000000000
edited 'virtual addresses' phdr.0.vaddr=0x100000
edited 'virtual addresses' phdr.2.vaddr=0xfffffffffffff000
edited 'share the page' phdr.1.vaddr=0xffffffff80100000
edited 'no symbol vcpu_areas' shoff=0xffffffffffffffff
edited 'no symbol vcpu_areas' shentsize=1
edited 'is not what guestabi.h' symbol.size=64
edited 'is not what guestabi.h' symbol.value=0xffffffff80100000

size=$(stat -c %s "$folder/unikernel.elf")
for ((length = 1; length < size; length += length < 512 ? 7 : 997)); do
	head -c "$length" "$folder/unikernel.elf" >"$work/truncated"
	expect 1 "$work/truncated: " "$work/truncated"
done
exit $status
