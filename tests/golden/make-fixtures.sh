#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the recordings in tests/golden/perfdata, and what stock perf prints for each:
#
#   tests/golden/make-fixtures.sh [FOLDER]
#
# Needs root and perf; the committed recordings are from perf 6.1. For each NAME.data there is a
# NAME.expected, with which the unit test of the reader compares what it reads:
#
#   record OFFSET SIZE TYPE TIME                 from perf report -D (all lines are sorted)
#   sample OFFSET SIZE TIME MISC PID/TID IP PERIOD ADDR [CHAIN…]
#   event COUNT NAME                             from perf script
#   feature NAME: VALUE                          from perf report --header-only
#   build-id HEX PATH                            from perf buildid-list
set -eu
rewrite=$(realpath "$(dirname "$0")/rewrite.py")
out=$(realpath "${1:-$(dirname "$0")/perfdata}")
mkdir -p "$out"
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

workload=(dd if=/dev/zero of=/dev/null bs=64k count=20000 status=none)
record() { perf record -q -m 8 --no-bpf-event "$@"; }
read_it() { # NAME COMMAND…
	local name=$1
	shift
	"$@" -i "$name.data" 2>/dev/null </dev/null
}

# Adds BYTES to the offsets in the lines of stdin.
move() { # BYTES
	local kind offset rest
	while read -r kind offset rest; do
		case $kind in record | sample) offset=$(printf '%#x' $((offset + $1))) ;; esac
		printf '%s %s %s\n' "$kind" "$offset" "$rest"
	done
}

expect() { # NAME
	{
		read_it "$1" perf report -D | awk '
			function flush() { if (line != "") print line; line = "" }
			/PERF_RECORD_/ {
				flush()
				for (i = 1; i < NF && $(i + 1) !~ /^\[0x/; i++) ;
				offset = $i; sub(/@.*/, "", offset)
				size = $(i + 1); gsub(/[\[\]:]/, "", size)
				type = $(i + 2)
				sub(/^PERF_RECORD_/, "", type); sub(/[^A-Z0-9_].*/, "", type)
				if (type ~ /^COMPRESSED/) next
				time = i > 1 && $(i - 1) !~ /^-/ ? $(i - 1) : 0
				line = "record " offset " " size " " type " " time
			}
			/PERF_RECORD_SAMPLE/ {
				match($0, /IP, 0x[0-9a-f]+/)
				misc = substr($0, RSTART + 4, RLENGTH - 4)
				match($0, /: [0-9-]+\/[0-9-]+: 0x[0-9a-f]+ period: [0-9]+ addr: .*/)
				split(substr($0, RSTART + 2), part, /:? +/)
				line = "sample " offset " " size " " time " " misc
				line = line " " part[1] " " part[2] " " part[4] " " part[6]
			}
			/^\.\.\.\.\. +[0-9]+: [0-9a-f]+$/ { line = line " " $NF }
			END { flush() }'
		# perf script shows no guest samples without the guest's files.
		if [ "$1" = kvm ]; then
			echo "event $(read_it "$1" perf report -D | grep -c PERF_RECORD_SAMPLE)" \
				"$(read_it "$1" perf evlist)"
		else
			read_it "$1" perf script -G -F event | sed 's/[: ]*$//; s/^ *//' | grep . |
				sort | uniq -c | awk '{ $1 = "event " $1; print }'
		fi
		read_it "$1" perf report --header-only |
			sed -nE 's/^# ([a-z ]+[a-z]) : (.*[^ ]) *$/feature \1: \2/p' |
			grep -Ev 'feature (event|sample duration|header version|directory)'
		read_it "$1" perf buildid-list | sed -n 's/^[0-9a-f]/build-id &/p'
	} | case $1 in
	*pipe) move 16 ;; # perf counts from the end of the header
	*) cat ;;
	esac | LC_ALL=C sort >"$out/$1.expected"
}

record -e cpu-clock -F 499 -o file.data -- "${workload[@]}"
record -e cpu-clock/period=2000000/ -e page-faults/period=20/ -g -o chains.data -- "${workload[@]}"
record -e cpu-clock -F 199 -d -W --phys-data -T -o fields.data -- "${workload[@]}"
record -B -e cpu-clock -F 997 -g -o - -- "${workload[@]}" >pipe.data
record -z -e cpu-clock -F 1997 -g -o zstd.data -- "${workload[@]}"
record -z -B -e cpu-clock -F 997 -o - -- "${workload[@]}" >zstd-pipe.data
record -B -e cpu-clock -F 499 --threads -o directory.data -- "${workload[@]}"
record -B -e sched:sched_process_exec -e cpu-clock -F 199 -o tracepoint.data -- \
	sh -c 'dd if=/dev/zero of=/dev/null bs=64k count=20000 status=none; true'
# kvm.data needs a KVM host with a guest, so it is not made again. It was made in the lab by
#   perf kvm --host --guest --guestkallsyms=/run/lab/guest1/kallsyms \
#	--guestmodules=/run/lab/guest1/modules record -m 8 --no-bpf-event -e cpu-clock -F 47 \
#	-p "$(cat /run/lab/guest1/pid)" -o "$OUT/kvm.data" -- sleep 0.5
cp "$out/kvm.data" .
python3 "$rewrite" swap file.data big-endian.data
python3 "$rewrite" swap chains.data big-endian-chains.data
python3 "$rewrite" attr 64 file.data old-attr.data
# Newer than the installed perf, which rejects such a file.
python3 "$rewrite" attr 192 file.data new-attr.data
for name in *.data; do
	name=${name%.data}
	[ "$name" = new-attr ] || expect "$name"
	rm -rf "$out/$name.data"
	cp -r "$name.data" "$out"
done
move $((192 - 64)) <"$out/old-attr.expected" | LC_ALL=C sort >"$out/new-attr.expected"
