/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function that keeps a frame pointer begins with
 *
 * 	[endbr64]  push %rbp  …  mov %rsp,%rbp
 *
 * with little in between, and ends with leave or pop %rbp, and ret. A caller is always after the
 * first two and before the others. Interrupted code may be anywhere: at the start of a function and
 * at ret, its address shows that; up to the mov, BP still has the value that was pushed. Between
 * leaving the frame and ret there may be other instructions. The return address is at SP there, so
 * if SP points to one, the position counts as unknown. A return address that does not follow a call
 * instruction is rejected.
 *
 * Source: System V ABI, x86-64, 3.2.2 and 3.4.1 (BP is 0 in the outermost frame). Limits: chains
 * end at functions without a symbol, and at those without a frame pointer.
 */
#include "unwind/program/frame_code.h"

#include <string.h>

#define MAX_CALL_BYTES 8
#define PUSH_BP 0x55
#define MAX_BETWEEN 64 /* bytes between the push and the mov */

enum place { PLACE_UNKNOWN, PLACE_ENTRY, PLACE_PUSHED, PLACE_BODY, PLACE_RETURN, PLACE_FRAMELESS };

/* COUNT bytes at OFFSET; NULL if they are not in the file. */
static const uint8_t *bytes_at(const struct unwind_functions *functions, uint64_t offset,
			       uint64_t count)
{
	return offset <= functions->bytes && count <= functions->bytes - offset
		       ? functions->file + offset
		       : NULL;
}

/* Finds the push in FUNCTION, and the end of the mov; false: it has no frame. */
static bool find_frame(const struct unwind_functions *functions, const struct symbol *function,
		       uint64_t *ret_push, uint64_t *ret_body)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t move[] = { 0x48, 0x89, 0xe5 }, other[] = { 0x48, 0x8b, 0xec };
	const uint8_t *code = bytes_at(functions, function->start, sizeof(endbr));
	uint64_t push = code && !memcmp(code, endbr, sizeof(endbr)) ? sizeof(endbr) : 0;

	code = bytes_at(functions, function->start + push, 1);
	if (!code || *code != PUSH_BP)
		return false;
	for (uint64_t at = push + 1; at <= push + MAX_BETWEEN; at++) {
		code = bytes_at(functions, function->start + at, sizeof(move));
		if (!code ||
		    (memcmp(code, move, sizeof(move)) && memcmp(code, other, sizeof(other))))
			continue;
		*ret_push = push;
		*ret_body = at + sizeof(move);
		return *ret_body <= function->end - function->start;
	}
	return false;
}

static bool is_return(const struct unwind_functions *functions, uint64_t offset)
{
	const uint8_t *code = bytes_at(functions, offset, 2);

	return code && (code[0] == 0xc3 || code[0] == 0xc2 ||
			((code[0] == 0xf3 || code[0] == 0xf2) && code[1] == 0xc3));
}

static enum place place_of(const struct unwind_functions *functions, uint64_t offset,
			   bool interrupted)
{
	const struct symbol *function = symbol_table_find(functions->symbols, offset);
	uint64_t push = 0, body = 0, inside;
	bool has_frame;

	if (!function)
		return PLACE_UNKNOWN;
	has_frame = find_frame(functions, function, &push, &body);
	inside = offset - function->start;
	if (!interrupted)
		return has_frame ? PLACE_BODY : PLACE_FRAMELESS;
	if (is_return(functions, offset))
		return PLACE_RETURN;
	if (!inside || inside == push)
		return PLACE_ENTRY;
	if (!has_frame || inside < push)
		return PLACE_UNKNOWN;
	return inside < body ? PLACE_PUSHED : PLACE_BODY;
}

/*
 * Whether the instruction ff /2, with its first byte before OPERANDS, is SIZE bytes long: 2 to 7.
 */
static bool is_indirect_call(const uint8_t *operands, int size)
{
	int mode = operands[0] >> 6, place = operands[0] & 7;
	bool scaled = mode != 3 && place == 4;
	bool based = mode;

	if ((operands[0] >> 3 & 7) != 2 || (scaled && size < 3))
		return false;
	if (!mode)
		based = scaled ? (operands[1] & 7) != 5 : place != 5;
	return size == 2 + scaled + (mode == 1 ? 1 : mode == 2 || !based ? 4 : 0);
}

/* call rel32, or call through a register or memory. */
static bool is_behind_call(const struct unwind_functions *functions, uint64_t offset)
{
	const uint8_t *code = offset >= MAX_CALL_BYTES
				      ? bytes_at(functions, offset - MAX_CALL_BYTES, MAX_CALL_BYTES)
				      : NULL;

	if (!code)
		return false;
	if (code[MAX_CALL_BYTES - 5] == 0xe8)
		return true;
	for (int size = 2; size <= 7; size++)
		if (code[MAX_CALL_BYTES - size] == 0xff &&
		    is_indirect_call(code + MAX_CALL_BYTES - size + 1, size))
			return true;
	return false;
}

/* Whether the word at AT in the stack can be a return address. */
static bool has_return_address(const struct unwind_program *program, const struct unwind_walk *walk,
			       uint64_t at)
{
	const struct unwind_mapping *mapping;
	uint64_t value;

	if (!unwind_walk_peek(walk, at, &value))
		return false;
	mapping = unwind_program_find(program, value);
	return mapping && mapping->functions &&
	       is_behind_call(mapping->functions, value - mapping->start.value + mapping->offset);
}

/* BP was pushed and is still unchanged: a frame does not contain its own BP. */
static bool has_pushed(const struct unwind_walk *walk)
{
	uint64_t value;

	return unwind_walk_peek(walk, walk->sp, &value) && value == walk->bp;
}

static const struct unwind_row *checked(const struct unwind_program *program,
					const struct unwind_walk *walk,
					const struct unwind_row *row, uint64_t frame)
{
	return has_return_address(program, walk, frame + row->sp_offset - UNWIND_WORD) ? row : NULL;
}

const struct unwind_row *unwind_row_by_code(const struct unwind_program *program,
					    const struct unwind_mapping *mapping,
					    const struct unwind_walk *walk)
{
	static const struct unwind_row entry = { .type = UNWIND_ROW_CALL,
						 .sp_base = UNWIND_BASE_SP,
						 .sp_offset = UNWIND_WORD };
	static const struct unwind_row pushed = { .type = UNWIND_ROW_CALL,
						  .sp_base = UNWIND_BASE_SP,
						  .sp_offset = 2 * UNWIND_WORD,
						  .bp_base = UNWIND_BASE_PREV_SP,
						  .bp_offset = -2 * (int)UNWIND_WORD };
	static const struct unwind_row body = { .type = UNWIND_ROW_CALL,
						.sp_base = UNWIND_BASE_BP,
						.sp_offset = 2 * UNWIND_WORD,
						.bp_base = UNWIND_BASE_PREV_SP,
						.bp_offset = -2 * (int)UNWIND_WORD };
	static const struct unwind_row outermost = { .type = UNWIND_ROW_END };
	uint64_t offset = walk->ip - !walk->signal - mapping->start.value + mapping->offset;

	if (!walk->sp_known) /* needed to tell where in its function it is */
		return &entry;
	switch (place_of(mapping->functions, offset, walk->signal)) {
	case PLACE_ENTRY:
	case PLACE_RETURN:
		return checked(program, walk, &entry, walk->sp);
	case PLACE_PUSHED:
		return has_pushed(walk) ? checked(program, walk, &pushed, walk->sp) : NULL;
	case PLACE_BODY:
		if (!walk->bp_known || walk->bp < walk->sp || walk->bp % UNWIND_WORD ||
		    (walk->signal &&
		     (has_pushed(walk) || has_return_address(program, walk, walk->sp))))
			return NULL;
		return checked(program, walk, &body, walk->bp);
	case PLACE_FRAMELESS:
		return walk->bp_known && !walk->bp ? &outermost : NULL;
	case PLACE_UNKNOWN:
		break;
	}
	return NULL;
}
