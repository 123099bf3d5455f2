#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a folder of src/ may include is part of the design (docs/ARCHITECTURE.md): every
# #include "FOLDER/…" in src/ is held against the table below.
set -u
declare -A allowed=(
	[base]=''
	[arch]='base'
	[perfdata]='base'
	[symbol]='base arch'
	[guest]='base arch symbol'
	[unwind]='base arch symbol guest'
	[service]='base arch symbol guest unwind'
	[profile]='base arch symbol perfdata'
	[host]='base arch guest unwind perfdata symbol bpf'
	[bpf]=''
	[output]='base profile'
	[tui]='base output profile'
	[cmd]='base arch perfdata symbol guest unwind service profile host output tui bpf'
)
status=0 includes=0
while IFS=: read -r file line text; do
	includes=$((includes + 1))
	from=${file#src/}
	from=${from%%/*}
	to=${text#*\"}
	to=${to%%\"*}
	case $to in
	config.h | *.skel.h) continue ;;
	*/*) to=${to%%/*} ;;
	*)
		echo "$file:$line: \"$to\" has no folder: write \"$from/$to\""
		status=1
		continue
		;;
	esac
	if [ -z "${allowed[$from]+set}" ]; then
		echo "$file: src/$from is in no layout"
		status=1
	elif [ "$to" != "$from" ] && [[ " ${allowed[$from]} " != *" $to "* ]]; then
		echo "$file:$line: src/$from may not include \"$to/…\""
		status=1
	fi
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' src --include='*.[ch]')
[ $includes -ge 1000 ] || { echo "only $includes includes were looked at"; status=1; }
exit $status
