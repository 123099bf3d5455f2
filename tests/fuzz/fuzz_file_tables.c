/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From any bytes as an ELF file to tables of its call frame information, and walks with them: the
 * file itself is the stack.
 */

#include "fuzz.h"
#include "symbol/elf_frames.h"
#include "unwind/sample/file_tables.h"
#include "unwind/sample/link_walk.h"

#define CODE_AT 0x400000ULL
#define STACK_AT 0x7ff000000000ULL
#define MAX_FRAMES 64
#define WALKS 64

static void walk(const struct file_tables *tables, const uint8_t *data, size_t size)
{
	struct unwind_frame frames[MAX_FRAMES];
	struct unwind_chain chain = { .frames = frames, .capacity = MAX_FRAMES };
	struct unwind_mapping mapping = { .start = GVA(CODE_AT),
					  .end = GVA(CODE_AT + size),
					  .table = tables->eh_frame,
					  .more = tables->debug_frame };
	struct unwind_program program = { .mappings = &mapping, .count = 1 };
	struct unwind_stack stack = { GVA(STACK_AT), size, data, GVA(STACK_AT + size) };

	for (size_t i = 0; i < WALKS; i++) {
		struct unwind_registers registers = { .ip = CODE_AT + i * size / WALKS,
						      .sp = STACK_AT,
						      .bp = STACK_AT + i * 16 };

		unwind_run_user(&program, &registers, &stack, 1, &chain);
		unwind_run_link(&program, &registers, registers.ip + 4, UINT32_MAX, &stack, &chain);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_elf_file_ struct elf_file *file = NULL;
	_cleanup_elf_frames_ struct elf_frames frames = { 0 };
	struct file_tables tables;
	struct error *error = elf_file_open_memory(data, size, "input", &file);

	if (!error)
		error = elf_frames_read(file, file, &frames);
	if (error) {
		error_destroy(error);
		return 0;
	}
	file_tables_init(&tables, &frames);
	walk(&tables, data, size);
	file_tables_deinit(&tables);
	return 0;
}
