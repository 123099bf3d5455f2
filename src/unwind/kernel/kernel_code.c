/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code is not decoded: each byte is treated as a possible start of an instruction. That misses no
 * call or jump, and finds false ones, nearly all of which lead nowhere and are dropped. Too many
 * false short jumps would be left, so those from or to C code only count if they lead to the start
 * of a function. C code is recognised by its slot for the function tracer. Only other code falls
 * through, at its end, into the code that follows.
 */
#include "unwind/kernel/kernel_calls_private.h"

#include <string.h>

#define MAX_IN_FRONT 16 /* bytes of padding in front of a function: CONFIG_FUNCTION_PADDING_BYTES */
#define LONGEST_CALL 7
#define MAX_PADDING 10
#define ENDBR_BYTES 4

/* A function in copied code, with offsets into the copy. */
struct own {
	uint32_t number;
	uint64_t start, end;
	bool is_c;
};

static bool has_endbr(const struct code *code, uint64_t at)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return at + ENDBR_BYTES <= code->size && !memcmp(code->bytes + at, endbr, ENDBR_BYTES);
}

/*
 * Whether the function starts with the function tracer's no-op or call, perhaps after endbr or the
 * no-op that the kernel replaced it with.
 */
static bool is_traced(const struct code *code, uint64_t at)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const uint8_t sealed[] = { 0x66, 0x0f, 0x1f, 0x00 },
			     later_sealed[] = { 0x0f, 0x1f, 0x40 };

	if (at + ENDBR_BYTES + sizeof(nop) > code->size)
		return false;
	if (has_endbr(code, at) || !memcmp(code->bytes + at, sealed, sizeof(sealed)) ||
	    !memcmp(code->bytes + at, later_sealed, sizeof(later_sealed)))
		at += ENDBR_BYTES;
	return code->bytes[at] == 0xe8 || !memcmp(code->bytes + at, nop, sizeof(nop));
}

static struct own own_of(const struct reading *reading, const struct code *code, size_t function)
{
	const struct unwind_function *its = &reading->functions.items[function];
	bool last = function + 1 == reading->functions.count;
	struct own own = { .number = its->number,
			   .start = its->start - (uint32_t)code->start,
			   .end = code->size };

	if (!last && its[1].start - (uint32_t)code->start < code->size)
		own.end = its[1].start - (uint32_t)code->start;
	/*
	 * A part that was moved away belongs to another function. noinstr code is written in C,
	 * except for the copying functions.
	 */
	own.is_c = range_holds(&reading->untraced, UNWIND_CODE_START | its->start) ||
		   (its->flags & UNWIND_FUNCTION_MOVED) || is_traced(code, own.start);
	return own;
}

static int32_t distance_at(const struct code *code, uint64_t end)
{
	int32_t distance;

	memcpy(&distance, code->bytes + end - sizeof(distance), sizeof(distance));
	return distance;
}

/* Where the 32-bit displacement that ends at offset END leads; false: outside of all code. */
static bool find_target(const struct reading *reading, const struct code *code, uint64_t end,
			uint32_t *ret_number)
{
	uint64_t target = code->start + end + (int64_t)distance_at(code, end);
	size_t function;

	if (!reading_is_code(reading, target) || !reading_find_function(reading, target, &function))
		return false;
	*ret_number = reading->functions.items[function].number;
	return true;
}

/*
 * Looks at TARGET, which is outside of all code that is read: it may be a thunk that the kernel
 * made for an indirect jump (ITS), or a trampoline. False: nothing is there.
 */
static bool look_outside(struct reading *reading, uint64_t target, bool *ret_indirect)
{
	const struct guest_kernel_image *image = guest_kernel_get_image(reading->kernel);
	uint8_t bytes[3];
	const uint8_t *jump = bytes;

	if (target < image->end.value || target >= UNWIND_CODE_END || !reading->outside_left)
		return false;
	reading->outside_left--;
	if (!guest_space_read(guest_kernel_space(reading->kernel), GVA(target), bytes,
			      sizeof(bytes)))
		return false;
	jump += bytes[0] == 0x41;
	*ret_indirect = jump[0] == 0xff && (jump[1] & 0xf8) == 0xe0;
	return true;
}

/*
 * A direct call that ends at END. Some lead to a point in front of a function (call depth
 * tracking).
 */
static void look_at_call(struct reading *reading, const struct code *code, uint64_t end)
{
	uint64_t target = code->start + end + (int64_t)distance_at(code, end);
	size_t function;
	bool indirect;

	if (reading_is_code(reading, target) && reading_find_function(reading, target, &function)) {
		const struct unwind_function *its = &reading->functions.items[function];
		bool in_front = its->start != (uint32_t)target &&
				function + 1 < reading->functions.count &&
				its[1].start - (uint32_t)target <= MAX_IN_FRONT;

		reading_add_call(reading, code, end, in_front ? UNWIND_ANY_FUNCTION : its->number);
	} else if (look_outside(reading, target, &indirect)) {
		reading_add_call(reading, code, end,
				 indirect ? UNWIND_ANY_TARGET : UNWIND_ANY_FUNCTION);
	}
}

/* A jump in function OWN that ends at END. */
static void look_at_jump(struct reading *reading, const struct code *code, uint64_t end,
			 const struct own *own)
{
	uint32_t target;
	bool indirect;

	if (find_target(reading, code, end, &target))
		reading_add_jump(reading, own->number, target);
	else if (look_outside(reading, code->start + end + (int64_t)distance_at(code, end),
			      &indirect) &&
		 indirect)
		reading_add_jump(reading, own->number, UNWIND_ANY_TARGET);
}

/* Function OWN, from START to END, may have a short jump at AT. All are offsets. */
static void look_at_short_jump(struct reading *reading, const struct code *code, uint64_t at,
			       const struct own *own)
{
	uint64_t target = at + 2 + (int64_t)(int8_t)code->bytes[at + 1];
	size_t function;

	if (target - own->start < own->end - own->start || target >= code->size ||
	    !reading_find_function(reading, code->start + target, &function))
		return;
	if (reading->functions.items[function].start == (uint32_t)(code->start + target) ||
	    (!own->is_c && !own_of(reading, code, function).is_c))
		reading_add_jump(reading, own->number, reading->functions.items[function].number);
}

/* The size of the instruction ff with OPERANDS: 2 to 7 bytes. */
static int indirect_bytes(const uint8_t *operands)
{
	int mode = operands[0] >> 6, place = operands[0] & 7;
	bool scaled = mode != 3 && place == 4;
	bool based = mode || (scaled ? (operands[1] & 7) != 5 : place != 5);

	return 2 + scaled + (mode == 1 ? 1 : mode == 2 || !based ? 4 : 0);
}

static void look_at_indirect(struct reading *reading, const struct code *code, uint64_t at,
			     const struct own *own)
{
	const uint8_t *operands = code->bytes + at + 1;
	int kind = operands[0] >> 3 & 7;
	bool by_register = operands[0] >> 6 == 3;

	if (kind == 2)
		reading_add_call(reading, code, at + indirect_bytes(operands), UNWIND_ANY_TARGET);
	else if (kind == 4 && (by_register || !reading->has_thunks))
		reading_add_jump(reading, own->number, UNWIND_ANY_TARGET);
}

/* Looks at each byte of function OWN; at least LONGEST_CALL more bytes follow. */
static void look_at(struct reading *reading, const struct code *code, uint64_t at,
		    const struct own *own)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 },
			     old_nop[] = { 0x66, 0x66, 0x66, 0x66, 0x90 };
	const uint8_t *bytes = code->bytes + at;
	uint32_t target;

	switch (bytes[0]) {
	case 0xe8:
		look_at_call(reading, code, at + 5);
		return;
	case 0xcc:
		if (find_target(reading, code, at + 5, &target))
			reading_add_call(reading, code, at + 5, UNWIND_ANY_FUNCTION);
		return;
	case 0xe9:
		look_at_jump(reading, code, at + 5, own);
		return;
	case 0x0f:
		if (!memcmp(bytes, nop, sizeof(nop)))
			reading_add_call(reading, code, at + sizeof(nop), UNWIND_ANY_FUNCTION);
		else if (bytes[1] >> 4 == 8)
			look_at_jump(reading, code, at + 6, own);
		return;
	case 0x66:
		if (!memcmp(bytes, old_nop, sizeof(old_nop)))
			reading_add_call(reading, code, at + sizeof(old_nop), UNWIND_ANY_FUNCTION);
		return;
	case 0xff:
		look_at_indirect(reading, code, at, own);
		return;
	default:
		if (bytes[0] >> 4 == 7 || bytes[0] == 0xeb ||
		    (bytes[0] >= 0xe0 && bytes[0] <= 0xe3))
			look_at_short_jump(reading, code, at, own);
	}
}

/*
 * Whether code does not fall through at offset END: it returns, jumps, traps or is padding there.
 */
static bool stops(const struct reading *reading, const struct code *code, uint64_t end)
{
	const uint8_t *last = code->bytes + end - 1;
	uint32_t target;

	if (end < MAX_PADDING)
		return false;
	if (*last == 0xc3 || *last == 0xcc || *last == 0x90 || last[-1] == 0xeb ||
	    (last[-1] == 0x0f && *last == 0x0b))
		return true;
	if (last[-4] == 0xe9 && find_target(reading, code, end, &target))
		return true;
	for (int i = 2; !*last && i < MAX_PADDING; i++) /* a long no-op */
		if (last[-i] == 0x0f && last[1 - i] == 0x1f)
			return true;
	return false;
}

/* Code in front of the first function belongs to none. */
void reading_look_at_code(struct reading *reading, const struct code *code)
{
	size_t function;

	if (!reading_find_function(reading, code->start, &function))
		function = 0;
	for (; function < reading->functions.count; function++) {
		struct own own = own_of(reading, code, function);

		if (reading->functions.items[function].start < (uint32_t)code->start)
			continue;
		if (own.start >= code->size)
			return;
		if (!own.is_c || has_endbr(code, own.start))
			reading->functions.items[function].flags |= UNWIND_FUNCTION_TARGET;
		for (uint64_t at = own.start; at < own.end && at + LONGEST_CALL <= code->size; at++)
			look_at(reading, code, at, &own);
		if (!own.is_c && own.end < code->size &&
		    !own_of(reading, code, function + 1).is_c && !stops(reading, code, own.end))
			reading_add_jump(reading, own.number,
					 reading->functions.items[function + 1].number);
	}
}
