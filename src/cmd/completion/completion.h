/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of completion scripts: what is the same whatever the commands are, and fish's options. */
#ifndef CMD_COMPLETION_COMPLETION_H
#define CMD_COMPLETION_COMPLETION_H

#define COMPLETION_SHELLS "bash zsh fish"

/* The files perfvisor.bash, perfvisor.zsh and perfvisor.fish. */
extern const char completion_bash[], completion_zsh[], completion_fish[];

/*
 * A command line of a shell that prints the names of VMs, one a line; COMPLETION_VM_SED is its last
 * argument, to be quoted. Names in which JSON writes a character as \u… are left out.
 */
#define COMPLETION_VM_LIST "perfvisor list --json --no-memory 2>/dev/null | sed -nE "
#define COMPLETION_VM_SED                                                                          \
	"s/^.*\"name\": ?\"(([^\"\\\\]|\\\\[\"\\\\])*)\".*$/\\1/; T; s/\\\\(.)/\\1/g; p"

/* Prints what fish is told of the commands and their options. */
void completion_print_fish(void);

#endif
