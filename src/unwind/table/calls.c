/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A direct call leads to its target, and from there on through jumps (tail calls). They are
 * followed until all are known, or until there are too many: then the call counts as leading
 * anywhere.
 *
 * Encoded form: the number of functions, calls, jumps and ranges, u32 each; then their arrays as
 * they are in memory.
 */
#include "unwind/table/calls.h"

#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/search.h"

#define MAX_ITEMS ((uint32_t)8 << 20) /* of each kind */
#define MAX_FOLLOWED 512  /* functions, starting from one call: that of system calls has 370 */
/* examined for one answer; beyond that, it counts as leading anywhere, too */
#define MAX_JUMPS 16384
#define FUNCTION_WORK 32 /* what finding a function's jumps takes, in jumps */
#define SEEN_SLOTS 1024   /* a power of two, and more than MAX_FOLLOWED */
#define KEPT_ANSWERS 4096 /* a power of two */

struct answer {
	uint32_t from, to; /* a number and a function's start; 0 and 0: empty slot */
	bool reaches;
};

struct memo {
	size_t work_left;
	/* of can_reach(): the same questions are asked often */
	struct answer answers[KEPT_ANSWERS];
};

struct unwind_calls {
	struct unwind_calls_source of; /* owned arrays */
	struct memo *memo;
};

void unwind_calls_destroy(struct unwind_calls *calls)
{
	if (!calls)
		return;
	free((void *)calls->of.functions);
	free((void *)calls->of.calls);
	free((void *)calls->of.jumps);
	free((void *)calls->of.ranges);
	free(calls->memo);
	free(calls);
}

size_t unwind_calls_bytes(const struct unwind_calls *calls)
{
	const struct unwind_calls_source *of = &calls->of;

	return sizeof(*calls) + sizeof(*calls->memo) +
	       of->function_count * sizeof(*of->functions) + of->call_count * sizeof(*of->calls) +
	       of->jump_count * sizeof(*of->jumps) + of->range_count * sizeof(*of->ranges);
}

/*
 * How many items, of BYTES each, have a first field below KEY, or with UP_TO, up to and including
 * KEY. They are sorted by their first field.
 */
static uint32_t first_field(const void *items, size_t bytes, size_t number)
{
	uint32_t first;

	memcpy(&first, (const uint8_t *)items + number * bytes, sizeof(first));
	return first;
}

static size_t count_below(const void *items, size_t count, size_t bytes, uint32_t key, bool up_to)
{
	return SEARCH_COUNT(i, count,
			    first_field(items, bytes, i) < key ||
				    (up_to && first_field(items, bytes, i) == key));
}

#define COUNT_BELOW(items, count, key) count_below(items, count, sizeof(*(items)), key, false)
#define COUNT_UP_TO(items, count, key) count_below(items, count, sizeof(*(items)), key, true)

/* NULL: unknown. */
static const struct unwind_function *function_at(const struct unwind_calls *calls, uint64_t ip)
{
	size_t place;

	if (ip < UNWIND_CODE_START)
		return NULL;
	place = COUNT_UP_TO(calls->of.functions, calls->of.function_count, (uint32_t)ip);
	return place ? &calls->of.functions[place - 1] : NULL;
}

static bool is_known(const struct unwind_calls *calls, uint64_t address)
{
	size_t place = COUNT_UP_TO(calls->of.ranges, calls->of.range_count, (uint32_t)address);

	return place && (uint32_t)address < calls->of.ranges[place - 1].end;
}

/* A set of numbers; 0 is none. */
struct seen {
	uint32_t slots[SEEN_SLOTS];
	uint32_t items[MAX_FOLLOWED];
	size_t count;
};

static size_t slot_of(uint64_t number, size_t slots)
{
	return hash_u64(number) & (slots - 1);
}

/* False: the set is full. */
static bool see(struct seen *seen, uint32_t number)
{
	size_t slot = slot_of(number, SEEN_SLOTS);

	while (seen->slots[slot] && seen->slots[slot] != number)
		slot = (slot + 1) & (SEEN_SLOTS - 1);
	if (seen->slots[slot] == number)
		return true;
	if (seen->count == MAX_FOLLOWED)
		return false;
	seen->slots[slot] = seen->items[seen->count++] = number;
	return true;
}

static bool is_any(uint32_t number, const struct unwind_function *callee)
{
	return number == UNWIND_ANY_FUNCTION ||
	       (number == UNWIND_ANY_TARGET && callee->flags & UNWIND_FUNCTION_TARGET);
}

static bool spend(const struct unwind_calls *calls, size_t work)
{
	struct memo *memo = calls->memo;

	memo->work_left -= work < memo->work_left ? work : memo->work_left;
	return memo->work_left;
}

/* Whether function FROM is CALLEE or can continue in it. */
static bool follow(const struct unwind_calls *calls, uint32_t from,
		   const struct unwind_function *callee)
{
	struct seen seen = { 0 };
	size_t left = MAX_JUMPS;

	see(&seen, from);
	for (size_t i = 0; i < seen.count && spend(calls, FUNCTION_WORK); i++) {
		uint32_t at = seen.items[i];
		size_t jump = COUNT_BELOW(calls->of.jumps, calls->of.jump_count, at);

		if (at == callee->number)
			return true;
		for (; jump < calls->of.jump_count && calls->of.jumps[jump].from == at; jump++) {
			uint32_t next = calls->of.jumps[jump].to;

			if (!left-- || !spend(calls, 1) || is_any(next, callee))
				return true;
			if (next != UNWIND_ANY_TARGET && !see(&seen, next))
				return true;
		}
	}
	return !calls->memo->work_left;
}

static bool can_reach(const struct unwind_calls *calls, uint32_t from,
		      const struct unwind_function *callee)
{
	size_t slot = slot_of((uint64_t)from << 32 | callee->start, KEPT_ANSWERS);
	struct answer *answer = &calls->memo->answers[slot];
	bool reaches;

	if (from == callee->number)
		return true;
	if (answer->from == from && answer->to == callee->start)
		return answer->reaches;
	reaches = follow(calls, from, callee);
	if (calls->memo->work_left) /* otherwise it is not known */
		*answer = (struct answer){ from, callee->start, reaches };
	return reaches;
}

void unwind_calls_begin(const struct unwind_calls *calls)
{
	calls->memo->work_left = UNWIND_CALLS_WORK;
}

size_t unwind_calls_work_left(const struct unwind_calls *calls)
{
	return calls->memo->work_left;
}

enum unwind_calls_answer unwind_calls_lead(const struct unwind_calls *calls, uint64_t behind,
					   uint64_t ip)
{
	const struct unwind_function *callee = function_at(calls, ip);
	const struct unwind_call *call;
	size_t place;

	if (behind < UNWIND_CODE_START)
		return UNWIND_CALLS_NO;
	place = COUNT_BELOW(calls->of.calls, calls->of.call_count, (uint32_t)behind);
	call = place < calls->of.call_count ? &calls->of.calls[place] : NULL;
	if (!call || call->behind != (uint32_t)behind)
		return is_known(calls, behind - 1) ? UNWIND_CALLS_NO : UNWIND_CALLS_UNKNOWN;
	if (!callee || !is_known(calls, ip) || is_any(call->callee, callee) ||
	    (call->callee != UNWIND_ANY_TARGET && can_reach(calls, call->callee, callee)))
		return UNWIND_CALLS_YES;
	return UNWIND_CALLS_NO;
}

bool unwind_calls_elsewhere(const struct unwind_calls *calls, uint64_t ip)
{
	const struct unwind_function *function = function_at(calls, ip);

	return !function || (function->flags & UNWIND_FUNCTION_ELSEWHERE) || !is_known(calls, ip);
}

#define APPEND(out, items, count) buffer_append(out, items, (count) * sizeof(*(items)))

void unwind_calls_encode(const struct unwind_calls_source *source, struct buffer *out)
{
	buffer_append_u32(out, source->function_count);
	buffer_append_u32(out, source->call_count);
	buffer_append_u32(out, source->jump_count);
	buffer_append_u32(out, source->range_count);
	APPEND(out, source->functions, source->function_count);
	APPEND(out, source->calls, source->call_count);
	APPEND(out, source->jumps, source->jump_count);
	APPEND(out, source->ranges, source->range_count);
}

/* NULL: incomplete or not sorted. STRICTLY: no two may be equal. */
static void *take(struct cursor *cursor, size_t count, size_t bytes, bool strictly)
{
	const uint8_t *data = count <= MAX_ITEMS ? cursor_bytes(cursor, count * bytes) : NULL;
	uint32_t last = 0;
	uint8_t *copy;

	if (!data)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		uint32_t first;

		memcpy(&first, data + i * bytes, sizeof(first));
		if (i && (first < last || (strictly && first == last)))
			return NULL;
		last = first;
	}
	copy = memory_calloc(count + 1, bytes);
	memcpy(copy, data, count * bytes);
	return copy;
}

struct error *unwind_calls_decode(const void *data, size_t size, struct unwind_calls **ret)
{
	_cleanup_unwind_calls_ struct unwind_calls *calls = memory_calloc(1, sizeof(*calls));
	struct unwind_calls_source *of = &calls->of;
	struct cursor cursor = cursor_make(data, size, false);

	of->function_count = cursor_u32(&cursor);
	of->call_count = cursor_u32(&cursor);
	of->jump_count = cursor_u32(&cursor);
	of->range_count = cursor_u32(&cursor);
	of->functions = take(&cursor, of->function_count, sizeof(*of->functions), true);
	of->calls = take(&cursor, of->call_count, sizeof(*of->calls), true);
	of->jumps = take(&cursor, of->jump_count, sizeof(*of->jumps), false);
	of->ranges = take(&cursor, of->range_count, sizeof(*of->ranges), true);
	calls->memo = memory_calloc(1, sizeof(*calls->memo));
	unwind_calls_begin(calls);
	if (!of->functions || !of->calls || !of->jumps || !of->ranges || cursor_left(&cursor))
		return error_create(ERROR_BAD_DATA, "malformed list of a kernel's calls");
	*ret = take_pointer(calls);
	return NULL;
}
