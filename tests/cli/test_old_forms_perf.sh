#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What older perfs wrote otherwise, and what is hardly a recording: pipes without the
# names of events, modules whose symbols are not here, recordings without samples,
# bytes after the last record.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
edit=$(realpath tests/cli/edit_recording.py)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0

complain() {
	echo "$*"
	status=1
}

perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }

# Equal to stock perf, and at least MINIMUM lines.
compare() { # WHAT MINIMUM FILE ARGUMENTS…
	perf script -i "$3" "${@:4}" >perf.txt 2>/dev/null
	"$perfvisor" script -i "$3" "${@:4}" >ours.txt 2>ours.err || complain "$1: $(cat ours.err)"
	[ "$(wc -l <perf.txt)" -ge "$2" ] || complain "$1: perf prints $(wc -l <perf.txt) lines"
	cmp -s perf.txt ours.txt || complain "$1: $(diff perf.txt ours.txt | head -n 6)"
}

# Names of events and modifiers, which a pipe of an old perf does not have.
events=(-e cpu-clock:u -e page-faults:k -e task-clock
	-e cpu-clock:ukH -e task-clock:h -e mem:0x1000:w)
if perf record -q -e sched:sched_switch -o try.data true 2>/dev/null; then
	events+=(-e sched:sched_switch)
else
	echo 'skipped: tracepoints, because perf cannot record them here'
fi
# What it runs has its standard output in the pipe.
perf record -q "${events[@]}" -o - -- sh -c 'ls -R /usr/share/doc >/dev/null' \
	>pipe.data 2>record.err ||
	complain "perf record -o -: $(head -n 1 record.err)"
python3 - pipe.data old.data <<'STRIP'
import struct, sys
EVENT_UPDATE, HEADER_FEATURE, TRACING_DATA = 78, 80, 66
data = open(sys.argv[1], "rb").read()
out, at = data[:16], 16
while at < len(data):
    kind, _, size = struct.unpack_from("<IHH", data, at)
    if kind == TRACING_DATA:
        size += struct.unpack_from("<I", data, at + 8)[0]
    if kind not in (EVENT_UPDATE, HEADER_FEATURE):
        out += data[at:at + size]
    at += size
open(sys.argv[2], "wb").write(out)
STRIP
compare 'a pipe' 20 pipe.data -F comm,tid,time,event,ip
compare 'an old pipe' 20 old.data -F comm,tid,time,event,ip
[ "$(sed 's/.*[0-9]: *//; s/: .*//' perf.txt | sort -u | wc -l)" -ge 4 ] ||
	complain "perf shows too few events"

# A module.
perf record -q -e cpu-clock:k -F 5000 -o kernel.data ls -laR /usr/share/doc >/dev/null 2>&1
python3 "$edit" kernel.data module.data module=/lib/modules/6.1.0-1-amd64/kernel/sound/snd-hda.ko.xz
compare 'a module' 20 module.data
[ "$(grep -c '(\[snd_hda\])' perf.txt)" -ge 10 ] ||
	complain "perf shows no module: $(head -n 3 perf.txt)"

says() { # WHAT PATTERN FILE
	"$perfvisor" report -i "$3" >out 2>err || complain "$1: $(cat err)"
	[ "$(wc -l <err)" = 1 ] && grep -q "$2" err || complain "$1: $(cat err)"
}

# Nothing is known of why there are no samples, so nothing is said of it.
perf record -q -e cpu-clock -c 1000000000000 -o empty.data true 2>/dev/null
says 'without samples' 'the profile is empty: the recording has no samples$' empty.data
perf stat record -o stat.data -e cpu-clock true 2>/dev/null
says 'perf stat record' "the profile is empty: it was made by 'perf stat record'" stat.data
python3 - kernel.data damaged.data <<'DAMAGE'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, = struct.unpack_from("<Q", data, 40)
while struct.unpack_from("<I", data, at)[0] != 9:
    at += struct.unpack_from("<H", data, at + 6)[0]
struct.pack_into("<H", data, at + 6, 3)
open(sys.argv[2], "wb").write(data)
DAMAGE
"$perfvisor" report -i damaged.data >out 2>err
grep -q 'the profile is empty: no sample can be read before the damage' err ||
	complain "damaged: $(cat err)"
grep -q 'does not count' err && complain "damaged: $(cat err)"

(cat pipe.data; echo 'some more') >more.data
says 'bytes after the last record' "'more.data' ends within a record.* last 10 bytes" more.data
exit $status
