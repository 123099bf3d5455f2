/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "annotate/function_code.h"

#include <string.h>

#include "base/memory.h"
#include "session/code/kernel_file.h"
#include "session/code/recorded_code.h"

#define IN_GUEST "the guest's memory"

/* How much of SYMBOL is shown. */
static uint64_t wanted_bytes(const struct symbol *symbol)
{
	uint64_t bytes = symbol->end - symbol->start;

	return bytes < INSTRUCTIONS_MAX_BYTES ? bytes : INSTRUCTIONS_MAX_BYTES;
}

static void take_recorded(const struct recorded_code *recorded, const struct symbol *symbol,
			  struct function_code *ret)
{
	uint64_t bytes = wanted_bytes(symbol);

	ret->machine = recorded->machine;
	ret->big_endian = recorded->big_endian;
	ret->address = symbol->start;
	ret->source = memory_strdup(IN_GUEST);
	buffer_append(&ret->bytes, recorded->bytes,
		      recorded->size < bytes ? recorded->size : bytes);
}

/* The code at file offset OFFSET of FILE. */
static struct error *read_file(const struct elf_file *file, uint64_t offset,
			       const struct symbol *symbol, struct function_code *ret)
{
	ret->machine = elf_file_machine(file);
	ret->big_endian = elf_file_is_big_endian(file);
	ret->source = memory_strdup(elf_file_name(file));
	if (!elf_file_read_loaded(file, offset, wanted_bytes(symbol), &ret->bytes))
		return error_create(ERROR_BAD_DATA, "'%s' has no code there",
				    elf_file_name(file));
	return NULL;
}

static struct error *find_in_file(struct session *session, const struct dso_entry *entry,
				  const struct symbol *symbol, struct function_code *ret)
{
	_cleanup_free_ char *root = NULL;
	struct dso_request request;
	struct error *error;

	if (entry->guest)
		guest_files_request(session, entry, &request, &root);
	else
		request = dsos_request(&session->dsos, entry);
	error = dso_find_code(&request, &ret->file);
	if (error)
		return error;
	if (!elf_file_to_address(ret->file, symbol->start, &ret->address))
		return error_create(ERROR_BAD_DATA, "'%s' has no code there",
				    elf_file_name(ret->file));
	return read_file(ret->file, symbol->start, symbol, ret);
}

static struct error *find_in_vmlinux(struct session *session, struct machine *machine,
				     uint32_t kernel, const struct symbol *symbol,
				     struct function_code *ret)
{
	_cleanup_elf_file_ struct elf_file *vmlinux = NULL;
	uint64_t delta, offset;
	struct error *error = kernel_file_find(session, machine, kernel, &vmlinux, &delta);

	if (error)
		return error;
	ret->address = symbol->start;
	if (!elf_file_has_code(vmlinux) ||
	    !elf_file_to_offset(vmlinux, symbol->start + delta, &offset))
		return error_create(ERROR_NOT_FOUND, "'%s' does not have its code",
				    elf_file_name(vmlinux));
	return read_file(vmlinux, offset, symbol, ret);
}

static struct error *find_kernel_code(struct session *session, const struct location *location,
				      struct machine *machine, uint32_t kernel,
				      struct function_code *ret)
{
	const struct symbol *symbol = location->symbol;
	struct recorded_code recorded;
	struct error *error;

	if (machine_is_guest(machine) &&
	    recorded_code_of_kernel(session, machine, kernel, location->table, symbol,
				    &recorded)) {
		take_recorded(&recorded, symbol, ret);
		return NULL;
	}
	if (symbol_module(location->table, symbol))
		error = error_create(ERROR_NOT_FOUND, "it is code of a kernel module, which is "
				     "linked only when it is loaded");
	else
		error = find_in_vmlinux(session, machine, kernel, symbol, ret);
	if (!error)
		return NULL;
	if (machine_is_guest(machine))
		return error_hint(error, "'perfvisor record' saves the code of the functions with "
				  "the most samples; --guestvmlinux FILE has that of the kernel");
	return error_hint(error, "a debug package of this kernel has its vmlinux; perf annotate "
			  "can read the running kernel's memory");
}

static struct error *find_program_code(struct session *session, const struct dso_entry *entry,
				       const struct symbol *symbol, struct function_code *ret)
{
	struct recorded_code recorded;
	struct error *error;

	if (entry->guest && recorded_code_of_file(session, entry, symbol, &recorded)) {
		take_recorded(&recorded, symbol, ret);
		return NULL;
	}
	error = find_in_file(session, entry, symbol, ret);
	if (!error)
		return NULL;
	return error_hint(error,
			  entry->guest ? "a file with the same build-id provides it, or the "
					 "guest's root folder, mounted below --guestmount"
				       : "the file in the build that was recorded provides it, or "
					 "what 'perf archive' packs where it was recorded");
}

struct error *function_code_find(struct session *session, const struct location *location,
				 struct machine *machine, uint32_t kernel,
				 struct function_code *ret)
{
	const struct dso_entry *entry;
	struct error *error;

	*ret = (struct function_code){ .table = location->table };
	buffer_init(&ret->bytes, INSTRUCTIONS_MAX_BYTES);
	if (location->dso == LOCATION_NO_DSO || !location->symbol || location->inlined)
		return error_create(ERROR_NOT_FOUND, "it is no function of a file or a kernel");
	entry = session->dsos.items.items[location->dso];
	if (entry->kind == DSO_KERNEL)
		error = find_kernel_code(session, location, machine, kernel, ret);
	else
		error = find_program_code(session, entry, location->symbol, ret);
	ret->cut = ret->bytes.size < location->symbol->end - location->symbol->start;
	return error;
}

void function_code_deinit(struct function_code *code)
{
	buffer_deinit(&code->bytes);
	elf_file_close(code->file);
	free(code->source);
}

const char *function_code_name(void *context, uint64_t address, uint64_t *ret_offset)
{
	const struct function_code *code = context;
	const struct symbol *symbol;

	if (code->file && !elf_file_to_offset(code->file, address, &address))
		return NULL;
	symbol = symbol_table_find(code->table, address);
	if (!symbol)
		return NULL;
	*ret_offset = address - symbol->start;
	return symbol_name(code->table, symbol);
}
