#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# KVM of Linux 5.17 to 6.8 on x86 labels guest samples with the mode of another moment. In
# recordings that others made there, the address decides between kernel and user; elsewhere the
# label stays.
. tests/cli/common.sh

# The guest of process 77 has a kernel in the upper half: of its 15 samples 5 are labelled wrongly,
# and one is in the vsyscall page. Process 78 runs a unikernel in the lower half.
samples() { # COUNT PID MISC IP
	for _ in $(seq "$1"); do
		time=$((time + 1000))
		echo "sample pid=$2 time=$time misc=$3 ip=$4"
	done
}
time=1000000
{
	echo event sample=IP,TID,TIME,PERIOD
	echo comm 77 first
	echo comm 78 second
	samples 2 77 4 0x401000
	samples 3 77 5 0xffffffff81000010
	samples 4 77 4 0xffffffff81000020
	samples 5 77 5 0x401000
	samples 1 77 5 0xffffffffff600400
	samples 6 78 4 0x401000
	samples 2 77 2 0x401000
} | python3 "$tests/build_recording.py" built.data
cat >symbols <<'SYMBOLS'
ffffffff81000000 T _text
ffffffff81000000 T in_kernel
ffffffff81001000 T _etext
SYMBOLS

counts() { # "PID MODE SAMPLES" of all guests, from a report
	"$perfvisor" report -i made.data --sort vm,mode -F vm,mode,sample -t, 2>err |
		grep -v -e '^#' -e host |
		awk -F, '$3 ~ /[0-9]/ { gsub(/ /, ""); print $1, $2, $3 }' | sort >out
}

expect() { # WHAT RELEASE MACHINE WRONG LINES…
	python3 "$tests/edit_recording.py" built.data made.data release="$2" arch="$3"
	counts
	printf '%s\n' "${@:5}" | sort >wanted
	cmp -s wanted out || complain "$1, $2 $3: $(diff wanted out)"
	said=$(grep -c 'guest samples are recorded as of the wrong mode' err)
	[ "$said" = $(($4 > 0)) ] || complain "$1, $2 $3: $(cat err)"
	[ "$4" = 0 ] || grep -q "$4 of 21 guest samples" err || complain "$1, $2 $3: $(cat err)"
}

for release in 5.17.0 5.19.17-2-generic 6.1.0-13-amd64 6.8.12; do
	expect 'a host with wrong labels' $release x86_64 5 'first-77 guestkernel 7' \
		'first-77 guestuser 8' 'second-78 guestkernel 6'
done
for release in 5.16.20 5.4.0-1 6.9.0 6.18.44 7.2.0 4.18.0; do
	expect 'a host with true labels' $release x86_64 0 'first-77 guestkernel 6' \
		'first-77 guestuser 9' 'second-78 guestkernel 6'
done
expect 'another architecture' 6.1.0 aarch64 0 'first-77 guestkernel 6' 'first-77 guestuser 9' \
	'second-78 guestkernel 6'

# All that name functions look in the right half: seven samples are in the kernel's function.
python3 "$tests/edit_recording.py" built.data made.data release=6.1.0 arch=x86_64
names=$("$perfvisor" script -i made.data -F ip,sym --guestkallsyms symbols 2>/dev/null |
	grep -c in_kernel)
[ "$names" = 7 ] || complain "script names $names samples"
names=$("$perfvisor" fold -i made.data --guestkallsyms symbols 2>/dev/null |
	awk '/in_kernel/ { sum += $NF } END { print sum }')
[ "$names" = 7 ] || complain "fold names $names samples"

# The filter by mode follows the address, too.
taken=$("$perfvisor" script -i made.data -F ip --mode kernel 2>/dev/null | grep -c ffffffff81)
[ "$taken" = 7 ] || complain "--mode kernel takes $taken samples in the kernel"
exit "$status"
