#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every source file has its licence in its first lines: GPL-2.0-only below src/bpf and guest/ and in
# guest modules, GPL-2.0-or-later elsewhere. Unsafe string functions are not used.
set -u
status=0 files=0
complain() {
	echo "$*"
	status=1
}
list() { git ls-files 2>/dev/null || find . -type f -not -path './build/*' | sed 's|^\./||'; }
while read -r file; do
	[ -f "$file" ] || continue
	case $file in
	src/bpf/*.[ch] | guest/*.[ch] | tests/lab/guest/known_chains/*.[ch]) want=GPL-2.0-only ;;
	*.c | *.h | *.S | *.ld | *.sh | *.py | *.html | *meson.build | meson_options.txt | \
		Makefile | tests/run | lab/run | lab/shell | lab/demo | scripts/* | bench/run)
		want=GPL-2.0-or-later ;;
	*) continue ;;
	esac
	files=$((files + 1))
	mapfile -n 3 -t head <"$file"
	[[ ${head[*]} == *"SPDX-License-Identifier: $want"* ]] ||
		complain "$file: its first three lines have no SPDX-License-Identifier: $want"
	case $file in
	*.[ch]) ;;
	*) continue ;;
	esac
	if grep -nE '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|alloca)\(' "$file"; then
		complain "$file: uses an unsafe function (lines above)"
	fi
	case $file in
	# What is printed depends on these variables, no more; and a pager has no capabilities.
	src/base/terminal.h | src/cmd/pager.c) ;;
	src/*)
		! grep -nE '(^|[^_[:alnum:]])getenv\(' "$file" ||
			complain "$file: a program with capabilities may not heed the environment" \
				"of who starts it; use secure_getenv()"
		;;
	esac
	case $file in
	tests/unit/*.c)
		! grep -n '\bskip()' "$file" ||
			complain "$file: skip() is invisible;" \
				"use skip_because() in tests/unit/test.h"
		;;
	src/arch/* | src/base/* | src/guest/* | src/service/* | src/symbol/* | src/unwind/*)
		! grep -n '\bqsort(' "$file" ||
			complain "$file: qsort() does not work in the guest parser's cage;" \
				"use base/sort.h"
		;;
	esac
done < <(list)
[ $files -ge 400 ] || complain "only $files files were checked"
exit $status
