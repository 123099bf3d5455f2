/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of an event, one after another: what all formats are written from. Those of the host
 * itself come first, then those of each VM. Names are as in the recording, not escaped.
 */
#ifndef EXPORT_STACK_WALK_H
#define EXPORT_STACK_WALK_H

#include <stdint.h>

#include "base/buffer.h"
#include "export/export.h"
#include "profile/calltree.h"

struct export_stack {
	const struct profile_row *owner; /* whose samples: the keys */
	uint16_t cpumode;		 /* of the samples; without CPUMODE_GUESSED */
	uint64_t period, count;
	const uint32_t *frames; /* of the profile's tree, outermost first */
	size_t depth;		/* at least 1 */
	bool first;		/* of its VM, or of the host */
};

struct stack_walk {
	const struct export_input *input;
	VECTOR(uint32_t) roots; /* of the event, in order */
	size_t root;		/* index of the current one */
	uint32_t next;		/* node of the tree */
	bool begun;
	const struct machine *vm; /* of the stack before */
	VECTOR(uint32_t) frames;
};

void stack_walk_init(struct stack_walk *walk, const struct export_input *input);
void stack_walk_deinit(struct stack_walk *walk);
/* False: there are no more. RET is valid until the next call. */
bool stack_walk_next(struct stack_walk *walk, struct export_stack *ret);

/* The name of the process that STACK was sampled in, of a guest or the host; "" if not known. */
const char *stack_process(const struct export_input *input, const struct export_stack *stack);
/* Its pid; PROFILE_NO_PID if not known. */
uint32_t stack_pid(const struct export_stack *stack);
/* The name of its VM; NULL: the host itself. */
const char *stack_vm(const struct export_stack *stack);
/* The function of FRAME; "[file]" where it has no name. */
void stack_append_function(struct buffer *out, const struct export_input *input, uint32_t frame);
/* The build-id of the file that LOCATION is in, in hexadecimal digits; nothing if not known. */
void stack_append_build_id(struct buffer *out, const struct export_input *input,
			   uint32_t location);
/* The file, or kernel, that FRAME is in. */
const char *stack_module(const struct export_input *input, uint32_t frame);
/* "nanoseconds" if periods of the event are times, "count" otherwise. */
const char *stack_unit(const struct export_input *input);

#endif
