#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel of another build is never named from this machine's /proc/kallsyms: whatever a recording
# of stock perf says of its kernel, names are shown where it is the one that runs here, and else
# addresses and one line of reason. A vmlinux with the build-id, in perf's cache, names it.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
edit=$(realpath tests/cli/edit_recording.py)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
export HOME=$here XDG_CACHE_HOME=$here/cache
status=0
other=00112233445566778899aabbccddeeff01234567

complain() {
	echo "$*"
	status=1
}

perf record -q -e cpu-clock:k -F 5000 -o ids.data ls -laR /usr/share/doc >/dev/null 2>&1 ||
	{ echo "perf cannot record here"; exit 77; }
perf record -q --buildid-mmap -e cpu-clock:k -F 5000 -o mmap.data ls -laR /usr/share/doc \
	>/dev/null 2>record.err ||
	{ echo "perf record --buildid-mmap: $(cat record.err)"; exit 77; }
rm -rf .debug # what perf put there names everything
perf script -i ids.data -F ip,sym 2>/dev/null | awk '$2 != "[unknown]"' | grep -q . ||
	{ echo "the kernel's symbols cannot be read here"; exit 77; }
kernel_id=$(perf buildid-list -i ids.data | awk '$2 == "[kernel.kallsyms]" { print $1 }')

# Of the recording OUT: how many kernel samples, how many with a name, and how many lines were said.
look() { # RECORDING
	"$perfvisor" script -i "$1" -F ip,sym >out 2>err || complain "$1: $(cat err)"
	samples=$(grep -c . out)
	named=$(grep -vc '\[unknown\]' out)
}

named() { # WHAT IN CHANGE…
	python3 "$edit" "$2" made.data "${@:3}" || complain "$1: cannot be made"
	look made.data
	[ "$samples" -ge 20 ] && [ "$named" -ge $((samples * 9 / 10)) ] ||
		complain "$1: $named of $samples samples are named: $(cat err)"
	[ ! -s err ] || complain "$1: $(cat err)"
}

nameless() { # WHAT WORDS-OF-THE-REASON IN CHANGE…
	python3 "$edit" "$3" made.data "${@:4}" || complain "$1: cannot be made"
	look made.data
	[ "$samples" -ge 20 ] && [ "$named" = 0 ] ||
		complain "$1: $named of $samples samples are named: $(head -n 3 out)"
	[ "$(wc -l <err)" = 1 ] && grep -q "$2" err || complain "$1: $(cat err)"
	"$perfvisor" report -i made.data --sort sym 2>err >out
	[ "$(grep -c "$2" err)" = 1 ] || complain "report: $1: $(cat err)"
}

named 'as it was recorded' ids.data
named 'as a vmlinux' ids.data kernel-path=/usr/lib/debug/boot/vmlinux-1
nameless 'another build' "its build-id is $other" ids.data kernel-id=$other
nameless 'another build as a vmlinux' "its build-id is $other" ids.data kernel-id=$other \
	kernel-path=/usr/lib/debug/boot/vmlinux-1
named 'the id is in the MMAP2 record' mmap.data no-build-ids
nameless 'another id is in the MMAP2 record' "its build-id is $other" mmap.data no-build-ids \
	mmap-id=$other release="$(uname -r)"
named 'no id, the same release' ids.data no-build-ids
nameless 'no id, another release' 'of Linux 6.1.67-1-lts' ids.data no-build-ids release=6.1.67-1-lts
nameless 'no id, another architecture' 'of an aarch64 machine' ids.data no-build-ids arch=aarch64
nameless 'no id, another size' 'another build' ids.data no-build-ids text-bytes=65544
named 'nothing but its size' ids.data no-features
nameless 'nothing, and another size' 'another build' ids.data no-features text-bytes=65544

# An id that is equal outweighs all else.
named 'the same id, another release' ids.data release=6.1.67-1-lts

# perf's cache helps: with kallsyms by any build-id, with a vmlinux by its own.
cat >kernel.s <<'VMLINUX'
.globl _text, all_of_it
_text: .type all_of_it, @function
all_of_it: .fill 0x4000000, 1, 0x90
.size all_of_it, 0x4000000
VMLINUX
start=$(awk '$3 == "_text" { print "0x" $1; exit }' /proc/kallsyms)
if gcc -nostdlib -static -Wl,--build-id=0x$other "-Wl,-Ttext=$start" -Wl,-e,_text \
	-o vmlinux kernel.s 2>gcc.err; then
	perf buildid-cache --add vmlinux || complain 'perf buildid-cache --add fails'
	python3 "$edit" ids.data made.data kernel-id=$other
	look made.data
	[ "$(grep -c all_of_it out)" -ge $((samples * 9 / 10)) ] ||
		complain "with a vmlinux: $(head -n 3 out)"
	[ ! -s err ] || complain "with a vmlinux: $(cat err)"
else
	complain "gcc: $(cat gcc.err)"
fi
[ -n "$kernel_id" ] || complain 'perf lists no build-id of the kernel'
exit $status
