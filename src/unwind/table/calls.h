/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of a kernel and its modules can have been called from where: this decides whether
 * a word on a stack can be a frame's return address. Whatever the code may do, a true caller is
 * never ruled out.
 */
#ifndef UNWIND_TABLE_CALLS_H
#define UNWIND_TABLE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/*
 * The code is in the upper 2 GiB, so 32 bits are enough for an address. Functions are sorted and
 * identified by a number; parts of one that the compiler moved away (.cold) have the number of the
 * first.
 */
#define UNWIND_CODE_START 0xffffffff80000000ULL /* __START_KERNEL_map; modules are above */
#define UNWIND_CODE_END 0xffffffffff000000ULL   /* MODULES_END */
#define UNWIND_ANY_FUNCTION UINT32_MAX
#define UNWIND_ANY_TARGET (UINT32_MAX - 1) /* anything that an indirect call or jump can lead to */

struct unwind_function {
	uint32_t start; /* it extends to the start of the next one */
	uint32_t number;
	uint32_t flags;
};
/* May run on a stack other than the task's or the IRQ stack: entry code, and what it calls. */
#define UNWIND_FUNCTION_ELSEWHERE 1
#define UNWIND_FUNCTION_MOVED 2  /* a part that was moved away (.cold) */
#define UNWIND_FUNCTION_TARGET 4 /* of indirect calls and jumps, perhaps through another function */

struct unwind_call {
	uint32_t behind; /* the return address */
	uint32_t callee; /* its number, or UNWIND_ANY_* */
};

/* One function continues in another without a call. */
struct unwind_jump {
	uint32_t from, to; /* numbers; TO may be UNWIND_ANY_* */
};

/* Addresses where all code is known: if there is no call, there is none. */
struct unwind_known_range {
	uint32_t start, end; /* end is exclusive */
};

/* Each is sorted by its first field, without duplicates except for jumps; borrowed. */
struct unwind_calls_source {
	const struct unwind_function *functions;
	const struct unwind_call *calls;
	const struct unwind_jump *jumps;
	const struct unwind_known_range *ranges;
	size_t function_count, call_count, jump_count, range_count;
};

enum unwind_calls_answer { UNWIND_CALLS_NO, UNWIND_CALLS_YES, UNWIND_CALLS_UNKNOWN };

struct unwind_calls;

void unwind_calls_destroy(struct unwind_calls *calls); /* takes NULL */
size_t unwind_calls_bytes(const struct unwind_calls *calls); /* what they take in memory */
/*
 * Whether the call before BEHIND can have led to the code at IP. Takes at most as much work as is
 * left since unwind_calls_begin(), some 0.5 ms; after that, a call counts as leading anywhere.
 */
enum unwind_calls_answer unwind_calls_lead(const struct unwind_calls *calls, uint64_t behind,
					   uint64_t ip);
void unwind_calls_begin(const struct unwind_calls *calls);
#define UNWIND_CALLS_WORK ((size_t)1 << 17) /* jumps examined */
size_t unwind_calls_work_left(const struct unwind_calls *calls);
/* The code at IP may run on a stack of its own, or is unknown. */
bool unwind_calls_elsewhere(const struct unwind_calls *calls, uint64_t ip);

/* As bytes, in this machine's byte order. */
void unwind_calls_encode(const struct unwind_calls_source *source, struct buffer *out);
/* ERROR_BAD_DATA: not a valid encoding. Decoded contents may be wrong, but are safe to use. */
struct error *unwind_calls_decode(const void *data, size_t size,
				  struct unwind_calls **ret) MUST_CHECK;

DEFINE_CLEANUP(cleanup_unwind_calls, struct unwind_calls *, unwind_calls_destroy)
#define _cleanup_unwind_calls_ _cleanup_(cleanup_unwind_calls)

#endif
