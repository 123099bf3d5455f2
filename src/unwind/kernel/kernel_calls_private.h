/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kernel_calls.c, kernel_code.c and kernel_functions.c share. */
#ifndef UNWIND_KERNEL_KERNEL_CALLS_PRIVATE_H
#define UNWIND_KERNEL_KERNEL_CALLS_PRIVATE_H

#include "base/vector.h"
#include "guest/kernel/kernel.h"
#include "guest/kernel/module.h"
#include "unwind/table/calls.h"

/* of static calls: as UNWIND_ANY_TARGET, whatever it is just now */
#define CHANGING_TARGET (UINT32_MAX - 2)
#define MAX_FOUND ((size_t)2 << 20) /* calls, and jumps; a kernel has 330,000, and 30,000 */

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
	bool has_thunks; /* indirect jumps are by register */
	uint64_t code_left, outside_left;
	VECTOR(struct unwind_function) functions;
	VECTOR(struct unwind_call) calls;
	VECTOR(struct unwind_jump) jumps;
	VECTOR(struct unwind_known_range) ranges;
	VECTOR(uint32_t) targets; /* numbers of functions that static calls have */
};

/* Code that was copied. */
struct code {
	const uint8_t *bytes;
	uint64_t size, start;
};

static inline bool range_holds(const struct range *range, uint64_t address)
{
	return address - range->start < range->end - range->start;
}

/*
 * COUNT items of BYTES each, by their first two words; FIRST: by the first alone, the others stay
 * in order.
 */
void reading_sort(void *items, size_t count, size_t bytes, bool first);
#define SORT(vector, first)                                                                        \
	reading_sort((vector)->items, (vector)->count, sizeof(*(vector)->items), first)

/* The index of the last function that begins at or below ADDRESS; false: there is none. */
bool reading_find_function(const struct reading *reading, uint64_t address, size_t *ret);
bool reading_is_code(const struct reading *reading, uint64_t address);
/* BEHIND is an offset in CODE; more than MAX_FOUND are left out. */
void reading_add_call(struct reading *reading, const struct code *code, uint64_t behind,
		      uint32_t callee);
void reading_add_jump(struct reading *reading, uint32_t from, uint32_t to);

/* The functions of the code that READING has, by the symbols. */
void reading_find_functions(struct reading *reading, const struct guest_modules *modules);
/* Which of them indirect calls may lead to, when all code has been looked at. */
void reading_spread_targets(struct reading *reading);
/* Calls and jumps of CODE. */
void reading_look_at_code(struct reading *reading, const struct code *code);

#endif
