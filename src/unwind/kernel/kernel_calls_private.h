/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by kernel_calls.c, kernel_code.c and kernel_functions.c. */
#ifndef UNWIND_KERNEL_KERNEL_CALLS_PRIVATE_H
#define UNWIND_KERNEL_KERNEL_CALLS_PRIVATE_H

#include "base/vector.h"
#include "guest/kernel/kernel.h"
#include "guest/kernel/module.h"
#include "unwind/table/calls.h"

/* for static calls: like UNWIND_ANY_TARGET, whatever the current target is */
#define CHANGING_TARGET (UINT32_MAX - 2)
#define MAX_FOUND ((size_t)2 << 20) /* calls or jumps; a kernel has 330,000 and 30,000 */

struct range {
	uint64_t start, end;
};

struct code_ranges {
	VECTOR(struct range) items;
};

struct reading {
	const struct guest_kernel *kernel;
	const struct code_ranges *code; /* the kernel's, and each module's */
	struct range entry, untraced;
	bool has_thunks; /* indirect jumps use a register */
	uint64_t code_left, outside_left;
	VECTOR(struct unwind_function) functions;
	VECTOR(struct unwind_call) calls;
	VECTOR(struct unwind_jump) jumps;
	VECTOR(struct unwind_known_range) ranges;
	VECTOR(uint32_t) targets; /* numbers of functions that static calls lead to */
};

/* A copy of some code. */
struct code {
	const uint8_t *bytes;
	uint64_t size, start;
};

static inline bool range_holds(const struct range *range, uint64_t address)
{
	return address - range->start < range->end - range->start;
}

/*
 * Sorts COUNT items of BYTES each by their first two words. FIRST: only by the first word; stable.
 */
void reading_sort(void *items, size_t count, size_t bytes, bool first);
#define SORT(vector, first)                                                                        \
	reading_sort((vector)->items, (vector)->count, sizeof(*(vector)->items), first)

/* The index of the last function that starts at or below ADDRESS; false if there is none. */
bool reading_find_function(const struct reading *reading, uint64_t address, size_t *ret);
bool reading_is_code(const struct reading *reading, uint64_t address);
/* BEHIND is an offset in CODE; calls beyond MAX_FOUND are dropped. */
void reading_add_call(struct reading *reading, const struct code *code, uint64_t behind,
		      uint32_t callee);
void reading_add_jump(struct reading *reading, uint32_t from, uint32_t to);

/* Finds the functions in the code of READING, using the symbols. */
void reading_find_functions(struct reading *reading, const struct guest_modules *modules);
/* Finds all that indirect calls may lead to, once all code has been examined. */
void reading_spread_targets(struct reading *reading);
/* Finds the calls and jumps in CODE. */
void reading_look_at_code(struct reading *reading, const struct code *code);

#endif
