#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Paths that a recording, its folder or a guest chooses: FIFOs, devices and links out of the folder
# are not opened, and one guest's files cost no other guest its names.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
builder=$PWD/tests/cli/build_recording.py
golden=$(realpath tests/golden/perfdata)
work=$(mktemp -d)
writers=()
end() {
	[ ${#writers[@]} = 0 ] || kill "${writers[@]}" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
cd "$work" || exit 1
status=0
complain() {
	echo "$*"
	status=1
}
hex() { # FORMAT VALUE…: struct.pack() of Python
	python3 -c 'import struct, sys
words = [int(word, 0) for word in sys.argv[2:]]
print(struct.pack("<" + sys.argv[1], *words).hex())' "$@"
}
text() { # TEXT: as in a record, padded
	printf '%s' "$1" | python3 -c 'import sys
text = sys.stdin.buffer.read()
print((text + bytes(8 - len(text) % 8)).hex())'
}
# A writer waits until somebody opens the FIFO for reading, however shortly, and then leaves a mark.
trap_fifo() { # PATH
	mkdir -p "$(dirname "$1")"
	mkfifo "$1"
	{
		trap '' PIPE
		echo x >"$1"
		: >"$1.opened"
	} 2>/dev/null &
	writers+=($!)
}
run() { # ARGUMENT…: sets code
	timeout 60 "$perfvisor" "$@" >out 2>err </dev/null
	code=$?
	[ $code -le 1 ] || complain "$*: status $code: $(head -n 5 err)"
}
untouched() { # WHAT FIFO
	sleep 0.2
	[ ! -e "$2.opened" ] || complain "$1: it was opened"
}

# Files that processes have mapped, and a kernel's module with a path for its name.
trap_fifo "$work/program"
trap_fifo "$work/module/notes/.note.gnu.build-id"
up=../../../../../../..
{
	echo 'event sample=IP,TID,TIME,PERIOD'
	echo 'comm 7 seven'
	echo "mmap 7 0x10000 0x1000 0 $work/program"
	echo 'mmap 7 0x20000 0x1000 0 /dev/ptmx'
	echo 'mmap 7 0x30000 0x1000 0 /proc/self/fd/0'
	echo 'mmap 7 0x40000 0x1000 0 /dev/tty'
	# MMAP2 with a build-id, of the kernel
	echo "record 10 0x4001 $(hex IIQQQIQQIII 0xffffffff 0 0xffffffffc0000000 0x1000 0 \
		20 1 2 3 5 2) $(text "[$up$work/module]")"
	echo 'sample pid=7 time=1 ip=0xffffffffc0000010 misc=1'
	for ip in 0x10010 0x20010 0x30010 0x40010; do
		echo "sample pid=7 time=$((ip)) ip=$ip"
	done
} >names.txt
python3 "$builder" names.data <names.txt || exit 1
for command in report script fold; do
	run $command -i names.data
	[ $code = 0 ] || complain "$command: status $code: $(cat err)"
	grep -q program out || complain "$command: no row of the program: $(cat out)"
done
run flamegraph -i names.data -o page.html
untouched 'a FIFO instead of a program' "$work/program"
untouched 'a FIFO below a path that is the name of a module' \
	"$work/module/notes/.note.gnu.build-id"

# A recording's folder. What is wrong is an error that names the file, or costs only names.
folder() { # make it new
	rm -rf folder
	cp -r "$golden/directory.data" folder
}
refused() { # WHAT PATTERN
	local command
	for command in report script; do
		run $command -i folder
		[ $code = 1 ] || complain "$1: $command ends with status $code: $(head -n 3 err)"
		grep -q "$2" err || complain "$1: $command: no '$2' in $(cat err)"
	done
}
folder
trap_fifo folder/data.7
refused 'a FIFO among the data' "'data.7' is not a regular file"
untouched 'a FIFO among the data' folder/data.7
for file in /dev/ptmx /dev/zero /proc/kmsg; do
	folder
	ln -s $file folder/data.7
	refused "a link to $file" data.7
done
folder
mv folder/data elsewhere
ln -s ../elsewhere folder/data
refused 'a link out of the folder' "could not open 'data' below 'folder'"
rm folder/data elsewhere
trap_fifo folder/data
refused 'a FIFO instead of the data' "'data' is not a regular file"
untouched 'a FIFO instead of the data' folder/data
folder
trap_fifo folder/kcore_dir/kallsyms
run report -i folder
[ $code = 0 ] && grep -q 'kallsyms. is not a regular file' err ||
	complain "a FIFO instead of the kernel's symbols: $code $(cat err)"
untouched "a FIFO instead of the kernel's symbols" folder/kcore_dir/kallsyms
rm folder/kcore_dir/kallsyms
echo 'ffffffff81000000 T _text' >elsewhere
ln -s "$work/elsewhere" folder/kcore_dir/kallsyms
run report -i folder
[ $code = 0 ] && grep -q 'kcore_dir/kallsyms' err ||
	complain "a link to other symbols: $code $(cat err)"

# The guest of kvm.data is VM 120.
rm -rf folder
mkdir folder
cp "$golden/kvm.data" folder/data
trap_fifo folder/kcore_dir__120/kallsyms
run report -i folder
[ $code = 0 ] && grep -q "VM '.*' cannot be used: .*kallsyms. is not a regular file" err ||
	complain "a FIFO instead of a guest's symbols: $code $(cat err)"
untouched "a FIFO instead of a guest's symbols" folder/kcore_dir__120/kallsyms

# --guestmount: garbage in one guest's files is that guest's loss.
mkdir -p mount/120/proc
head -c 100000 /dev/urandom >mount/120/proc/kallsyms
run report -i "$golden/kvm.data" --guestmount mount
[ $code = 0 ] && grep -q "VM '.*' cannot be used: --guestmount: .*format of /proc/kallsyms" err ||
	complain "garbage below --guestmount: $code $(cat err)"
grep -q '52 samples' out || complain "garbage below --guestmount: $(cat out)"
rm mount/120/proc/kallsyms
trap_fifo mount/120/proc/kallsyms
run report -i "$golden/kvm.data" --guestmount mount
[ $code = 0 ] || complain "a FIFO below --guestmount: $code $(cat err)"
untouched 'a FIFO below --guestmount' mount/120/proc/kallsyms
exit $status
