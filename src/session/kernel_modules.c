/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the recording says of a module: its MMAP record, with its start (from /proc/modules), and
 * its build-id in an MMAP2 record or in the header's list. What is here: /proc/modules, and
 * /sys/module/NAME/notes.
 *
 * Since Linux 6.4 /proc/modules has the start of a module's code, but the size of all its parts, so
 * that modules seem to overlap. Where there is a symbol, its module is therefore what counts.
 */
#include "session/kernel_modules.h"

#include <string.h>

#include "base/memory.h"
#include "symbol/kernel_build.h"

/* The entry of a module that is mapped; NULL: it is none. */
static struct dso_entry *module_entry(struct session *session, const struct space_mapping *mapping)
{
	struct dso_entry *entry;
	const char *name;

	if (!mapping || mapping->dso == SPACE_UNMAPPED)
		return NULL;
	entry = session->dsos.items.items[mapping->dso];
	name = intern_string(session->strings, entry->short_name);
	return entry->kind == DSO_KERNEL && name[0] == '[' && strncmp(name, "[kernel.", 8) ? entry
											    : NULL;
}

/* Whether ENTRY and the module here, whose name in brackets is NAMED, have different build-ids. */
static bool build_differs(struct session *session, struct dso_entry *entry, const char *named)
{
	_cleanup_free_ char *notes = memory_printf("/sys/module/%.*s/notes/.note.gnu.build-id",
						   (int)strlen(named) - 2, named + 1);
	struct build_id here = kernel_build_read_notes(notes);

	if (!entry->build_id_bytes)
		session_set_build_id(session, entry);
	return entry->build_id_bytes && here.bytes &&
	       !build_id_equal(&here, entry->build_id, entry->build_id_bytes);
}

/* Whether the recording has the module NAMED where it is here. */
static bool is_same(struct session *session, const struct machine *machine,
		    const struct symbol_table *table, const char *name, const char *named)
{
	uint32_t short_name = intern_text(session->strings, named);
	uint64_t start = symbol_table_module_start(table, name);

	for (size_t i = 0; start && i < machine->kernel.mappings.count; i++) {
		const struct space_mapping *mapping = &machine->kernel.mappings.items[i];
		struct dso_entry *entry = module_entry(session, mapping);

		if (entry && entry->short_name == short_name && mapping->start == start)
			return !build_differs(session, entry, named);
	}
	return false;
}

/* The same, looked up once. */
static bool stays(struct session *session, const struct machine *machine,
		  const struct symbol_table *table, const char *name)
{
	_cleanup_free_ char *named = memory_printf("[%s]", name);
	struct dso_names names = { .path = named };
	uint32_t number = dsos_add_kernel(&session->dsos, &names);
	struct dso_entry *entry = session->dsos.items.items[number];

	if (entry->module == MODULE_UNKNOWN)
		entry->module = is_same(session, machine, table, name, named) ? MODULE_STAYS
									      : MODULE_DIFFERS;
	return entry->module == MODULE_STAYS;
}

/* The table of the module with ENTRY's build-id, moved to where it was; NULL if none is here. */
static const struct symbol_table *load_moved(struct session *session, struct dso_entry *entry,
					     const struct space_mapping *mapping)
{
	struct dso_request request = { .path = intern_string(session->strings, entry->path),
				       .build_id = entry->build_id,
				       .reference = mapping->start };
	struct dso_symbols found = { 0 };
	struct error *error;

	if (entry->loaded)
		return mapping->start == entry->module_start ? entry->table : NULL;
	entry->loaded = true;
	entry->module_start = mapping->start;
	if (!entry->build_id_bytes)
		session_set_build_id(session, entry);
	request.build_id_bytes = entry->build_id_bytes;
	if (!request.build_id_bytes)
		return NULL;
	error = dso_load_symbols(&request, &found);
	if (error) {
		entry->reason = memory_strdup(error_message(error));
		error_destroy(error);
		return NULL;
	}
	entry->table = take_pointer(found.table);
	dso_symbols_deinit(&found);
	return entry->table;
}

/* Why the code of ENTRY (NULL: of no module in the recording) has no names. */
static char *explain(struct session *session, const struct dso_entry *entry, const char *here)
{
	if (!entry)
		return memory_printf("the recording does not say where '%s' was", here);
	if (entry->reason)
		return memory_strdup(entry->reason);
	return memory_printf("'%s' is not here at the address where it was, and the recording does "
			     "not have its build-id; perf record --buildid-mmap would add it",
			     intern_string(session->strings, entry->short_name));
}

const struct symbol_table *kernel_modules_table(struct session *session, struct machine *machine,
						const struct symbol_table *table,
						const struct space_mapping *mapping,
						uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);
	const char *here = symbol ? symbol_module(table, symbol)
				  : symbol_table_find_module(table, address);
	struct dso_entry *recorded = module_entry(session, mapping);
	const struct symbol_table *moved = NULL;

	if ((!here && !recorded) || (here && stays(session, machine, table, here)))
		return table;
	if (recorded)
		moved = load_moved(session, recorded, mapping);
	if (!moved && !machine->module_note)
		machine->module_note = explain(session, recorded, here);
	return moved;
}
