# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# In the lab's host: recordings with as many samples as the checks need.
#
# record_known SECONDS FILE OPTION…: record into FILE for SECONDS, which are few because samples are
# expensive under emulation. The requirements are read from stdin, in lines of these forms:
#
#	COUNT PATTERN			so many samples, as "COMM INNERMOST OUTERMOST"
#					(functions), match
#	COUNT PATTERN of PATTERN	and are at least 60 % of those that match the second PATTERN
#
# If they are not met, the recording is repeated for twice as long: a slow host takes fewer samples,
# and takes longer to read what a program's chains need (left_out.py).
MOST_TIMES=8 # SECONDS

# Start a recorder in the background, wait until it is recording, and set RECORDER. Samples have
# neither process nor call chain until the guest's kernel is known. A busy host may take longer for
# that than the recorder waits; then start again, and after the last attempt continue anyway. The
# check of the recording shows whether it has enough samples.
begin_known() {
	local attempt
	for attempt in 1 2 3 4 5 6 7 8; do
		: >"$SAID"
		perfvisor record -v --max-overhead 100 "$@" 2>"$SAID" &
		RECORDER=$!
		until grep -q '^perfvisor: recording ' "$SAID"; do
			kill -0 "$RECORDER" 2>/dev/null || { cat "$SAID"; return 1; }
			sleep 0.1
		done
		awk '/ runs Linux / { known = 1 } /^perfvisor: recording / { exit !known }' \
			"$SAID" && return
		[ $attempt != 8 ] || return 0
		echo "the guest's kernel was not known in time"
		kill -INT "$RECORDER"
		wait "$RECORDER"
	done
}

# FILE: true if it meets all requirements in WANTED; print the others. Uses a perfvisor without
# sanitizers.
has_wanted() {
	perfvisor-release script --max-stack 1000 -i "$1" -F comm,ip,sym 2>/dev/null |
		WANTED=$WANTED awk '
		function word(line, number, words) {
			split(line, words, " ")
			return words[number]
		}
		function count(pattern, also, sample, sum) {
			for (sample in seen)
				if (sample ~ pattern && sample ~ also)
					sum += seen[sample]
			return sum + 0
		}
		BEGIN { RS = ""; FS = "\n" }
		$2 ~ /^\t/ { seen[word($1, 1) " " word($2, 2) " " word($NF, 2)]++; next }
		{ # without call chains each line is a sample
			for (line = 1; line <= NF; line++)
				seen[word($line, 1) " " word($line, 3) " "]++
		}
		END {
			lines = split(ENVIRON["WANTED"], wanted, "\n")
			for (line = 1; line <= lines; line++) {
				split(wanted[line], parts, " of ")
				least = parts[1] + 0
				sub(/^[0-9]+ /, "", parts[1])
				found = count(parts[1], parts[2])
				all = parts[2] == "" ? found : count(parts[2], "")
				if (found >= least && found >= 0.6 * all)
					continue
				print found " of " all " samples match: " wanted[line]
				lack = 1
			}
			exit lack
		}'
}

# until_there SECONDS LOOK COMMAND…: run COMMAND with a number of seconds, and repeat it with twice
# as many until LOOK succeeds.
until_there() {
	local seconds=$1 most=$(($1 * MOST_TIMES)) look=$2
	shift 2
	for (( ; ; seconds *= 2)); do
		"$@" "$seconds" || return
		"$look" && return
		[ $((seconds * 2)) -le "$most" ] ||
			{ echo "not enough after $seconds seconds: $*"; return 1; }
		echo "repeating for $((seconds * 2)) seconds: $*"
	done
}

record_once() {
	rm -rf "$FILE"
	begin_known -o "$FILE" "${@:1:$#-1}" --duration "${!#}" || return
	wait "$RECORDER" || { cat $SAID; return 1; }
	tail -n 1 $SAID
}

look_at_file() {
	[ -z "$WANTED" ] || has_wanted "$FILE"
}

record_known() {
	local seconds=$1 FILE=$2 SAID=/tmp/record_known.err RECORDER WANTED
	WANTED=$(cat)
	shift 2
	until_there "$seconds" look_at_file record_once "$@"
}
