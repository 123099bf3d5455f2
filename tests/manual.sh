# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Commands and options as documented in the manual pages, to compare with the program's own tables.

# Print the commands, in the order of perfvisor(1).
documented_commands() {
	sed -nE '/^\.SH COMMANDS/,/^\.SH FILES/s/^\.BR? perfvisor[- ]([a-z]+).*/\1/p' \
		docs/man/perfvisor.1
}

# COMMAND: print the path of its page
manual_page() {
	echo "docs/man/perfvisor-$1.1"
}

# COMMAND: print the options that have their own paragraph in its page, each as "-s --long", "-s" or
# "--long", sorted; without --help, which perfvisor(1) describes.
documented_options() {
	sed -n '/^\.TP/{n; s/\\-/-/g; s/\\f.//g; s/[",]/ /g; p}' "$(manual_page "$1")" |
		awk '{ option = ""
		       for (i = 2; i <= NF && $i ~ /^-(-[a-z][a-z-]*|[A-Za-z])$/; i++)
		               option = option (i > 2 ? " " : "") $i
		       if (option != "" && option != "--help") print option }' | LC_ALL=C sort
}
