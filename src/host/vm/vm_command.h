/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of a VMM, argument by argument, and the values of QEMU's options. Pure: works on
 * given bytes. Any user of the host may have written them.
 */
#ifndef HOST_VM_VM_COMMAND_H
#define HOST_VM_VM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* As in /proc/PID/cmdline: each argument is followed by a 0 byte, which the last one may lack. */
struct vm_command {
	const char *bytes;
	size_t size;
};

/* Bytes of an argument or of a part of it; borrowed, not terminated. */
struct vm_span {
	const char *text;
	size_t length;
};

/* Returns the argument at *OFFSET and moves *OFFSET past it; false: there is none. */
bool vm_command_next(const struct vm_command *command, size_t *offset, struct vm_span *ret);

/*
 * Finds the next OPTION from *OFFSET on, with one dash or two, and its value: -option VALUE,
 * --option=VALUE. *OFFSET is 0 at first, before the program's name, and is moved past it.
 */
bool vm_command_next_option(const struct vm_command *command, const char *option, size_t *offset,
			    struct vm_span *ret);

/*
 * Takes the first property off LIST, "a,b=c,…" as in QEMU's options, where two commas stand for
 * one; false: the list is at its end. Without a "=", VALUE's text is NULL and KEY is all of it.
 */
struct vm_property {
	struct vm_span key, value;
};
bool vm_property_next(struct vm_span *list, struct vm_property *ret);
bool vm_span_is(struct vm_span span, const char *text);
/* A property's text, terminated, with ",," replaced by ","; owned by the caller. */
char *vm_property_text(struct vm_span text);

#endif
