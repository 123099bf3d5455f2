#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The fields of tracepoints in `perfvisor script`:
#
# - No plugins of libtraceevent are loaded: they are shared objects in folders that the environment
#   names.
# - Formats in a recording that lead libtraceevent out of a sample's data, to pointers of the file's
#   choice or to the end of the stack print what the data has, or the fields alone.
# - Of all tracepoints of this kernel, as many are printed like stock perf does as MOST_DIFFERENT
#   allows. docs/tested.md says in what the others differ, as far as it was found.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tools=$(realpath tests/cli)
golden=$(realpath tests/golden/perfdata)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0
MOST_DIFFERENT=6 # per cent
complain() {
	echo "$*"
	status=1
}

check_plugins() {
	local folder=home/.local/lib/traceevent/plugins
	mkdir -p $folder
	cat >plugin.c <<-'PLUGIN'
		#include <fcntl.h>
		#include <stdlib.h>
		__attribute__((constructor)) static void loaded(void)
		{
			creat(getenv("LOADED"), 0600);
		}
	PLUGIN
	gcc -shared -fPIC -o $folder/plugin_x.so plugin.c || exit 1
	LOADED=$here/loaded env LD_PRELOAD="$here/$folder/plugin_x.so" true
	[ -e loaded ] || complain "the plugin shows no sign of being loaded"
	rm -f loaded
	HOME=$here/home TRACEEVENT_PLUGIN_DIR=$here/$folder LOADED=$here/loaded \
		"$perfvisor" script -i "$golden/tracepoint.data" >out.txt 2>err.txt ||
		complain "script with plugins: $(cat err.txt)"
	grep -q filename= out.txt || complain "no field is printed: $(head -n 3 out.txt)"
	[ ! -e loaded ] || complain "a plugin of libtraceevent was loaded"
}

write_format() { # NAME ID, PRINT FORMAT
	mkdir -p "formats/hostile/$1"
	cat >"formats/hostile/$1/format" <<-FORMAT
		name: $1
		ID: $2
		format:
			field:unsigned short common_type;	offset:0;	size:2;	signed:0;

			field:u64 value;	offset:8;	size:8;	signed:0;
			field:u8 bytes[4];	offset:16;	size:4;	signed:0;

		print fmt: $3
	FORMAT
}

repeat() { # TEXT COUNT
	printf "%0$2d" 0 | sed "s/0/$1/g"
}

check_hostile() {
	write_format count 1 '"%s", __print_hex(REC->bytes, 15000000)'
	write_format pointer 2 '"%s", __print_hex((u8 *)1, 16)'
	write_format confused 3 '"%s", __print_array(REC->value + 1, 4, 1)'
	write_format divide 4 '"%llu", REC->value / (REC->value - REC->value)'
	write_format index 5 '"%d", REC->bytes[REC->value]'
	write_format deep 6 "\"%d\", $(repeat '(' 200000)1"
	write_format many 7 "\"%d\", $(repeat 'REC->value + ' 50000)1"
	write_format width 8 '"%2000000000d", REC->value'
	write_format precision 9 '"%.*s", REC->value, REC->bytes'
	write_format no_argument 10 '"%s %s %n"'
	write_format text 11 '"%s", (char *)REC->value'
	write_format choice 12 '"%s", __print_hex(REC->value ? 1 : 2, 8)'
	for format in formats/hostile/*/format; do
		name=$(basename "$(dirname "$format")")
		python3 "$tools/tracepoint_recording.py" "$name.data" "$format" || exit 1
		timeout 60 "$perfvisor" script -i "$name.data" -F trace >out.txt 2>err.txt ||
			complain "$name: status $?: $(head -n 3 err.txt)"
		[ "$(wc -l <out.txt)" = 12 ] || complain "$name: $(wc -l <out.txt) lines"
		[ "$(wc -c <out.txt)" -lt 2000 ] || complain "$name: $(wc -c <out.txt) bytes"
	done
}

compare_all() {
	local formats=(/sys/kernel/tracing/events/*/*/format)
	if ! [ -r "${formats[0]}" ] || ! command -v perf >/dev/null; then
		echo "skipped: all formats, because there is no perf or tracefs cannot be read"
		return
	fi
	python3 "$tools/tracepoint_recording.py" all.data "${formats[@]}" || exit 1
	perf script -i all.data -F time,trace >perf.txt 2>/dev/null
	"$perfvisor" script -i all.data -F time,trace >ours.txt 2>err.txt ||
		complain "all formats: $(head -n 3 err.txt)"
	python3 "$tools/check_tracepoints.py" perf.txt ours.txt \
		$((${#formats[@]} * MOST_DIFFERENT / 100)) "${formats[@]}" >differences.txt ||
		complain "$(head -n 100 differences.txt | cut -c 1-300)"
	tail -n 1 differences.txt
}

check_plugins
check_hostile
compare_all
exit $status
