/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .eh_frame or .debug_frame: the section's address (8 bytes), flags (1 byte; 1: .debug_frame, 2:
 * i386), the section. Then a chain is walked over the same bytes as if they were a stack, into
 * which the general registers may point, and continued with guesses.
 */
#include <elf.h>
#include <string.h>

#include "fuzz.h"
#include "unwind/program/scan.h"
#include "unwind/table/dwarf_cfi.h"

#define CODE_BYTES (1u << 20)
#define CODE_AT 0x7f0000000000ULL
#define STACK_AT 0x7ffff0000000ULL
#define MAX_FRAMES 64

static void walk(const struct unwind_table *table, const uint8_t *data, size_t size)
{
	struct unwind_frame frames[MAX_FRAMES];
	struct unwind_chain chain = { .frames = frames, .capacity = MAX_FRAMES };
	struct unwind_mapping mapping = { GVA(CODE_AT), GVA(CODE_AT + CODE_BYTES), 0, table };
	struct unwind_program program = { &mapping, 1, size & 1 };
	struct unwind_stack stack = { GVA(STACK_AT), size, data, GVA(STACK_AT + size) };

	uint64_t general[UNWIND_GENERAL_REGISTERS];

	for (uint64_t at = 0; at < CODE_BYTES; at += CODE_BYTES / 64 - 1) {
		struct unwind_registers registers = { .ip = CODE_AT + at,
						      .sp = STACK_AT,
						      .bp = STACK_AT + at % 256,
						      .others = size & 2 ? general : NULL };

		for (size_t i = 0; i < UNWIND_GENERAL_REGISTERS; i++)
			general[i] = STACK_AT + (at + i * 8) % (size + 1);
		unwind_run_user(&program, &registers, &stack, 1, &chain);
		unwind_scan_user(&program, &stack, 1, &chain);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	struct dwarf_code code = { .address = 0, .bytes = CODE_BYTES, .offset = 0 };
	static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64, EM_PPC64 };
	struct cfi_section section = { 0 };

	if (size < 9)
		return 0;
	memcpy(&section.address, data, 8);
	section.debug_frame = data[8] & 1;
	section.machine = machines[data[8] >> 1 & 3];
	section.data = data + 9;
	section.bytes = size - 9;
	if (dwarf_add_section(table, &section, &code, 1))
		walk(table, data, size);
	return 0;
}
