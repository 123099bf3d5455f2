/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of a VMM, argument by argument, and the values of QEMU's options. Pure: works on
 * bytes that are given. Any user of the host may have written them.
 */
#ifndef HOST_VM_VM_COMMAND_H
#define HOST_VM_VM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* As in /proc/PID/cmdline: a 0 byte behind each argument; the last one may lack it. */
struct vm_command {
	const char *bytes;
	size_t size;
};

/* Bytes of one argument or of a part of it, borrowed, not terminated. */
struct vm_span {
	const char *text;
	size_t length;
};

/* The argument at *OFFSET, which moves behind it; false: there is none. */
bool vm_command_next(const struct vm_command *command, size_t *offset, struct vm_span *ret);

/*
 * The next option OPTION from *OFFSET on, after one dash or two, with its value: -option VALUE,
 * --option=VALUE. *OFFSET (at first 0: before the program's name) moves behind it.
 */
bool vm_command_next_option(const struct vm_command *command, const char *option, size_t *offset,
			    struct vm_span *ret);

/*
 * Takes the first property off LIST, "a,b=c,…" as QEMU's options have it, in which two commas stand
 * for one; false: the list is at its end. VALUE's text is NULL without a "=": KEY is all of it.
 */
struct vm_property {
	struct vm_span key, value;
};
bool vm_property_next(struct vm_span *list, struct vm_property *ret);
bool vm_span_is(struct vm_span span, const char *text);
/* A property's text, terminated, with ",," as ","; owned by the caller. */
char *vm_property_text(struct vm_span text);

#endif
