/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary code, walked using the frame pointers that it seems to keep, over an arbitrary stack.
 *
 * The input: registers u64 ip, sp, bp; u16 bytes of code, in two functions of equal size; the code;
 * the stack.
 */
#include <assert.h>

#include "base/cursor.h"
#include "fuzz.h"
#include "unwind/program/frame_code.h"

#define CODE 0x401000
#define STACK 0x7ffff0000000ULL
#define MAX_FRAMES 64

static struct symbol_table *make_symbols(uint64_t bytes)
{
	struct symbol_builder *builder = symbol_builder_create();

	symbol_builder_add(builder, 0, bytes / 2, 't', "first", NULL);
	symbol_builder_add(builder, bytes / 2, bytes, 't', "second", NULL);
	return symbol_builder_finish(builder);
}

static void run(struct cursor *input, const struct unwind_registers *registers,
		const struct unwind_functions *functions)
{
	struct unwind_mapping mapping = { .start = GVA(CODE),
					  .end = GVA(CODE + functions->bytes),
					  .functions = functions };
	struct unwind_program program = { .mappings = &mapping, .count = 1 };
	struct unwind_stack stack = { .start = GVA(STACK), .bytes = cursor_left(input) };
	struct unwind_frame frames[MAX_FRAMES];
	struct unwind_chain chain = { .frames = frames, .capacity = MAX_FRAMES };

	stack.data = cursor_bytes(input, stack.bytes);
	stack.end = GVA(STACK + stack.bytes);
	unwind_run_user(&program, registers, &stack, 1, &chain);
	assert(chain.count && chain.count <= MAX_FRAMES && chain.end < UNWIND_ENDS);
	for (size_t i = 0; i < chain.count; i++)
		assert(!frames[i].guessed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor input = cursor_make(data, size, false);
	struct unwind_registers registers = { .ip = cursor_u64(&input) };
	struct unwind_functions functions = { 0 };

	registers.sp = cursor_u64(&input);
	registers.bp = cursor_u64(&input);
	functions.bytes = cursor_u16(&input);
	functions.file = cursor_bytes(&input, functions.bytes);
	if (!functions.file || !functions.bytes)
		return 0;
	functions.symbols = make_symbols(functions.bytes);
	run(&input, &registers, &functions);
	symbol_table_destroy((struct symbol_table *)functions.symbols);
	return 0;
}
