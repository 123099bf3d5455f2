/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of `perfvisor stack`. */
#ifndef CMD_STACK_STACK_H
#define CMD_STACK_STACK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/intern.h"
#include "host/inspect/guest_stacks.h"
#include "output/json.h"

/* What printing a chain needs to know. */
struct stack_listing {
	const struct guest_stacks *stacks;
	const struct intern *strings;
	bool waiting_hidden; /* hides waiting functions, like /proc/PID/stack; JSON has all */
};

/* Prints one of the listing's stacks: its frames, and why it ends, a line each. */
void stack_print_chain(const struct stack_listing *listing, const struct guest_stack *stack);
/* Writes the members "end", "end_address" and "frames". */
void stack_write_chain(const struct stack_listing *listing, struct json *json,
		       const struct guest_stack *stack);

/* Shows what the vCPUs of the VM that TEXT names run. VCPU: only this one, or VCPU_STACKS_ALL. */
struct error *stack_show_vcpus(const char *text, uint32_t vcpu, bool as_json) MUST_CHECK;

#endif
