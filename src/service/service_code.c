/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers with the code of functions. A kernel's code is as it is in memory, where the kernel
 * patches it while it runs: that is what its CPUs execute. Of a file it is what the page cache has.
 */
#include <elf.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "service/service_private.h"
#include "symbol/code_pieces.h"
#include "symbol/table.h"

#define MAX_FUNCTIONS GUEST_FUNCTION_ADDRESSES

/* Ranges of addresses, each once. */
struct functions {
	struct {
		uint64_t start;
		uint32_t bytes;
	} items[MAX_FUNCTIONS];
	size_t count, bytes;
};

/* The functions in TABLE around the addresses in REQUEST, as many as there is room for. */
static void find_functions(const struct symbol_table *table, struct cursor *request,
			   struct functions *ret)
{
	_cleanup_map_ struct map seen;

	ret->count = ret->bytes = 0;
	map_init(&seen);
	while (cursor_left(request) >= sizeof(uint64_t) && ret->count < MAX_FUNCTIONS) {
		const struct symbol *symbol = symbol_table_find(table, cursor_u64(request));
		uint64_t bytes = symbol ? symbol->end - symbol->start : 0;
		bool added;

		if (!symbol)
			continue;
		if (bytes > GUEST_FUNCTION_BYTES)
			bytes = GUEST_FUNCTION_BYTES;
		map_insert(&seen, symbol->start, &added);
		if (!added || bytes > GUEST_FUNCTIONS_BYTES - ret->bytes)
			continue;
		ret->items[ret->count].start = symbol->start;
		ret->items[ret->count++].bytes = bytes;
		ret->bytes += bytes;
	}
}

static uint16_t kernel_machine(const struct service *service)
{
	const struct arch *arch = service->space.mmu.arch;

	if (arch == &arch_x86_64)
		return EM_X86_64;
	if (arch == &arch_i386)
		return EM_386;
	return arch == &arch_arm64 ? EM_AARCH64 : EM_PPC64;
}

static void append_kernel(struct service *service, const struct functions *functions)
{
	_cleanup_free_ uint8_t *code = memory_alloc(GUEST_FUNCTION_BYTES);

	code_pieces_begin(&service->answer, kernel_machine(service), false);
	for (size_t i = 0; i < functions->count; i++) {
		struct code_piece piece = { functions->items[i].start, code,
					    functions->items[i].bytes };

		if (guest_space_read_now(&service->space, GVA(piece.address), code, piece.size))
			code_pieces_add(&service->answer, &piece);
	}
}

static struct error *append_program(struct service *service, const struct guest_program *program,
				    const struct functions *functions)
{
	_cleanup_free_ uint8_t *code = memory_alloc(functions->bytes + 1);
	_cleanup_free_ struct guest_program_part *parts =
		memory_calloc(functions->count + 1, sizeof(*parts));
	uint8_t head[EI_NIDENT + 4]; /* up to e_machine */
	size_t at = 0, count = functions->count;
	struct error *error;

	for (size_t i = 0; i < count; i++) {
		parts[i] = (struct guest_program_part){ .offset = functions->items[i].start,
							.bytes = functions->items[i].bytes,
							.data = code + at };
		at += parts[i].bytes;
	}
	parts[count] = (struct guest_program_part){ .bytes = sizeof(head), .data = head };
	error = guest_program_read(service->programs, program, parts, count + 1);
	if (!error && !parts[count].there)
		error = error_create(ERROR_NOT_FOUND, "its ELF header is not in memory");
	if (error)
		return error;
	code_pieces_begin(&service->answer, head[EI_NIDENT + 2] | head[EI_NIDENT + 3] << 8, false);
	for (size_t i = 0; i < count; i++) {
		struct code_piece piece = { parts[i].offset, parts[i].data, parts[i].bytes };

		if (parts[i].there)
			code_pieces_add(&service->answer, &piece);
	}
	return NULL;
}

struct error *service_answer_functions(struct service *service, struct cursor *request)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	_cleanup_free_ struct functions *functions = memory_alloc(sizeof(*functions));
	struct gva mm = GVA(cursor_u64(request)), start = GVA(cursor_u64(request));
	struct guest_program program;
	struct error *error = NULL;

	if (mm.value) {
		error = service_find_program(service, mm, start, &program);
		if (!error)
			error = guest_program_symbols(service->programs, &program, &table);
	} else {
		guest_space_forget(&service->space);
		table = service_kernel_symbols(service);
	}
	if (error)
		return error;
	find_functions(table, request, functions);
	if (mm.value)
		return append_program(service, &program, functions);
	append_kernel(service, functions);
	return NULL;
}
