/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind data and stacks made up by a guest: arbitrary tables, and two arbitrary stacks, which may
 * point to each other.
 *
 * The input: u8 form (of 4; 4 and above: determined from the entries), u8 flags (1: the other
 * registers are known, 2: IP is a return address, 4: SP is unknown, 8: linked frames are ppc64's,
 * not arm64's, 16: SP is searched for), u16 count of rows, registers: u64 ip, sp, bp, ax, dx, di,
 * r10, r13; then each row's u32 (its ip) and all rows' entries; if SP is searched for, u16 length
 * and the encoded calls; then the two stacks, half of the rest each. Parts of the first one are
 * repeated above it, as pieces.
 */
#include <assert.h>
#include <string.h>

#include "base/cursor.h"
#include "fuzz.h"
#include "unwind/kernel/find_sp.h"
#include "unwind/program/scan.h"
#include "unwind/walk/linked.h"

#define CODE_START 0xffffffff81000000ULL
#define CODE_END (CODE_START + (1 << 20))
#define STACK_START 0xffffc90000100000ULL
#define STACK_DISTANCE 0x10000
#define STACK_BYTES 0x4000
#define MAX_ENTRIES 4096
#define MAX_FRAMES 256
#define PIECES 256
#define PIECE_BYTES 16

static struct unwind_registers take_registers(struct cursor *input, uint8_t flags)
{
	static uint64_t general[UNWIND_GENERAL_REGISTERS];
	struct unwind_registers registers = { .ip = cursor_u64(input) };

	registers.sp = cursor_u64(input);
	registers.bp = cursor_u64(input);
	general[UNWIND_AX] = cursor_u64(input);
	general[UNWIND_DX] = cursor_u64(input);
	general[UNWIND_DI] = cursor_u64(input);
	general[UNWIND_R10] = cursor_u64(input);
	general[UNWIND_R13] = cursor_u64(input);
	registers.others = flags & 1 ? general : NULL;
	registers.ip_is_return_address = flags & 2;
	registers.sp_unknown = flags & 4;
	return registers;
}

static bool add_code(struct cursor *input, uint8_t form, size_t count, struct unwind_table *table)
{
	struct unwind_source source = { .start = GVA(CODE_START),
					.end = GVA(CODE_END),
					.ips_at = GVA(CODE_END),
					.count = count,
					.form = form };

	source.ips = cursor_bytes(input, count * ORC_IP_BYTES);
	source.entries = cursor_bytes(input, count * ORC_ENTRY_BYTES);
	if (!source.ips || !source.entries ||
	    (form >= ORC_FORMS && !orc_find_form(NULL, source.entries, count, &source.form)))
		return false;
	return unwind_table_add(table, &source);
}

static void take_stack(struct cursor *input, size_t number, size_t bytes, struct unwind_stack *ret)
{
	if (bytes > STACK_BYTES)
		bytes = STACK_BYTES;
	ret->start = GVA(STACK_START + number * STACK_DISTANCE);
	ret->end = GVA(ret->start.value + STACK_BYTES);
	ret->bytes = bytes;
	ret->data = cursor_bytes(input, bytes);
}

/* After the copy of STACK, adds pieces of it with gaps of half a piece. */
static void add_pieces(struct unwind_stack *stack, struct unwind_piece *pieces)
{
	stack->pieces = pieces;
	for (uint64_t at = 0; stack->piece_count < PIECES && at + PIECE_BYTES <= stack->bytes;
	     at += PIECE_BYTES)
		pieces[stack->piece_count++] =
			(struct unwind_piece){ GVA(stack->start.value + stack->bytes + at * 3 / 2),
					       PIECE_BYTES, stack->data + at };
}

static void check(const struct unwind_chain *chain)
{
	bool guessed = false;

	assert(chain->count >= 1 && chain->count <= MAX_FRAMES);
	assert(chain->end < UNWIND_ENDS);
	assert(chain->end != UNWIND_TOO_DEEP || chain->count == MAX_FRAMES);
	for (size_t i = 0; i < chain->count; i++) {
		assert(!guessed || chain->frames[i].guessed);
		guessed = chain->frames[i].guessed;
	}
}

static void look_for_sp(struct unwind_table *table, struct cursor *calls,
			struct unwind_registers registers, const struct unwind_stack *stacks,
			struct unwind_chain *chain)
{
	struct unwind_stack whole[2] = { stacks[0], stacks[1] };
	struct unwind_calls *decoded;
	struct error *error = unwind_calls_decode(calls->data, calls->size, &decoded);
	uint64_t sp = 0;

	if (error) {
		error_destroy(error);
		return;
	}
	unwind_table_set_calls(table, decoded);
	for (size_t i = 0; i < 2; i++)
		whole[i].end = GVA(whole[i].start.value + whole[i].bytes);
	if (unwind_find_sp(table, &registers, whole, 2, &sp) != UNWIND_SP_FOUND)
		return;
	registers.sp = sp;
	registers.sp_unknown = false;
	unwind_run(table, &registers, whole, 2, chain);
	check(chain);
	assert(chain->end == UNWIND_COMPLETE || chain->end == UNWIND_TOO_DEEP);
}

/* The calls, of any size; none if they are not used. */
static struct cursor take_calls(struct cursor *input, uint8_t flags)
{
	size_t size = flags & 16 ? cursor_u16(input) : 0;
	const void *bytes = cursor_bytes(input, size);

	return cursor_make(bytes, bytes ? size : 0, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor input = cursor_make(data, size, false);
	uint8_t form = cursor_u8(&input), flags = cursor_u8(&input);
	size_t count = cursor_u16(&input) % MAX_ENTRIES;
	struct unwind_registers registers = take_registers(&input, flags);
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	static struct unwind_piece pieces[PIECES];
	struct unwind_stack stacks[2] = { 0 };
	static struct unwind_frame frames[MAX_FRAMES];
	struct unwind_chain chain = { .frames = frames, .capacity = MAX_FRAMES };
	struct cursor calls;
	size_t half;

	if (!add_code(&input, form, count, table))
		return 0;
	calls = take_calls(&input, flags);
	if (input.failed)
		return 0;
	half = cursor_left(&input) / 2;
	take_stack(&input, 0, half, &stacks[0]);
	take_stack(&input, 1, half, &stacks[1]);
	if (flags & 16)
		look_for_sp(table, &calls, registers, stacks, &chain);
	add_pieces(&stacks[0], pieces);
	unwind_run(table, &registers, stacks, 2, &chain);
	check(&chain);
	unwind_scan(table, stacks, 2, &chain);
	check(&chain);
	unwind_run_linked(flags & 8 ? &arch_ppc64 : &arch_arm64, table, &registers, stacks, 2,
			  &chain);
	check(&chain);
	return 0;
}
