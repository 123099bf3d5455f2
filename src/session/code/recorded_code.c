/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of a kernel has the time from which on it was the guest's kernel. A kernel in the recording
 * is another one after a reboot, but also after a module was loaded: the code of one applies to the
 * other if its function is at the same place in both.
 */
#include "session/code/recorded_code.h"

#include <string.h>

#include "session/session.h"
#include "symbol/code_pieces.h"

/* Of a guest; the recorder writes no more, for it keeps that many functions. */
#define MAX_TABLES 256

/* The code from SYMBOL's start on in table INDEX of the recording. */
static bool find_in(struct session *session, size_t index, const struct symbol *symbol,
		    struct recorded_code *ret)
{
	struct code_pieces pieces = { 0 };
	const void *data;
	size_t size;
	struct error *error = perfdata_reader_load_symbols(session->reader, index, &data, &size);
	bool found = false;

	if (!error)
		error = code_pieces_decode(data, size, &pieces);
	for (size_t i = 0; !error && i < pieces.items.count && !found; i++) {
		const struct code_piece *piece = &pieces.items.items[i];
		uint64_t skipped = symbol->start - piece->address;

		if (symbol->start < piece->address || skipped >= piece->size)
			continue;
		found = true;
		*ret = (struct recorded_code){ .machine = pieces.machine,
					       .big_endian = pieces.big_endian,
					       .bytes = piece->bytes + skipped,
					       .size = piece->size - skipped };
		if (ret->size > symbol->end - symbol->start)
			ret->size = symbol->end - symbol->start;
	}
	code_pieces_deinit(&pieces);
	error_destroy(error); /* the same as if there were none */
	return found;
}

/* Whether the kernel that ran at FROM_NS has the same function at the same place. */
static bool has_function(struct session *session, struct machine *machine, uint32_t kernel,
			 uint64_t from_ns, const struct symbol_table *table,
			 const struct symbol *symbol)
{
	uint32_t other = session_kernel_at(machine, from_ns);
	const struct symbol_table *others;
	const struct symbol *found;

	if (other == kernel)
		return true;
	others = session_kernel_table(session, machine, other);
	found = others ? symbol_table_find(others, symbol->start) : NULL;
	return found && found->start == symbol->start && found->end == symbol->end &&
	       !strcmp(symbol_name(others, found), symbol_name(table, symbol));
}

bool recorded_code_of_kernel(struct session *session, struct machine *machine, uint32_t kernel,
			     const struct symbol_table *table, const struct symbol *symbol,
			     struct recorded_code *ret)
{
	size_t i = perfdata_reader_symbols_count(session->reader), looked = 0;

	/* The newest first. */
	while (i-- && looked < MAX_TABLES) {
		struct perfdata_symbols head = perfdata_reader_symbols(session->reader, i);

		if (head.kind != PERFDATA_CODE_KERNEL || head.machine_pid != machine->pid)
			continue;
		looked++;
		if (find_in(session, i, symbol, ret) &&
		    has_function(session, machine, kernel, head.from_ns, table, symbol))
			return true;
	}
	return false;
}

static bool is_of_file(const struct session *session, const struct dso_entry *entry,
		       const struct perfdata_symbols *head)
{
	if (head->kind != PERFDATA_CODE_FILE || head->machine_pid != entry->guest)
		return false;
	if (entry->build_id_bytes && head->build_id_bytes)
		return entry->build_id_bytes == head->build_id_bytes &&
		       !memcmp(entry->build_id, head->build_id, head->build_id_bytes);
	return !strcmp(intern_string(session->strings, entry->path), head->path);
}

bool recorded_code_of_file(struct session *session, const struct dso_entry *entry,
			   const struct symbol *symbol, struct recorded_code *ret)
{
	size_t i = perfdata_reader_symbols_count(session->reader), looked = 0;

	while (i-- && looked < MAX_TABLES) {
		struct perfdata_symbols head = perfdata_reader_symbols(session->reader, i);

		if (!is_of_file(session, entry, &head))
			continue;
		looked++;
		if (find_in(session, i, symbol, ret))
			return true;
	}
	return false;
}
