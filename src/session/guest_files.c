/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of a guest's file come from, in this order:
 *
 * 	a table in the recording with the file's build-id
 * 	a table with its path, unless both have build-ids, which then differ
 * 	files on this machine with the build-id, and files under --guestmount (symbol/dso.h); also
 * 	used for addresses for which the recording's table has no function
 *
 * Only tables of the same guest count, and those that the recorder provided for all guests: one
 * guest's data about its files must not affect names in another's samples.
 */
#include "session/guest_files.h"

#include <string.h>

#include "base/memory.h"
#include "session/session.h"

/* The right one of many tables with the same path is among the newest. */
#define MAX_LINKS 64

void guest_files_init(struct guest_files *files)
{
	*files = (struct guest_files){ 0 };
	map_init(&files->by_key);
}

void guest_files_deinit(struct guest_files *files)
{
	map_deinit(&files->by_key);
	vector_deinit(&files->links);
}

/* Seeded: a guest could choose names and build-ids that collide with another's. */
static uint64_t key_of(const struct guest_files *files, const void *data, size_t size,
		       uint32_t guest)
{
	return hash_bytes_seeded(hash_u64(files->by_key.seed ^ guest), data, size);
}

static void link_table(struct guest_files *files, uint64_t key, size_t symbols)
{
	uint64_t *newest = map_insert(&files->by_key, key, NULL);

	vector_append(&files->links,
		      (struct guest_file_link){ .symbols = symbols, .older = *newest });
	*newest = files->links.count;
}

static void list_tables(struct session *session)
{
	struct guest_files *files = &session->guest_files;
	size_t count = perfdata_reader_symbols_count(session->reader);

	for (size_t i = files->listed; i < count; i++) {
		struct perfdata_symbols table = perfdata_reader_symbols(session->reader, i);
		uint32_t pid = table.machine_pid;

		if (table.kind != PERFDATA_SYMBOLS_FILE)
			continue;
		link_table(files, key_of(files, table.path, strlen(table.path), pid), i);
		if (table.build_id_bytes)
			link_table(files, key_of(files, table.build_id, table.build_id_bytes, pid),
				   i);
	}
	files->listed = count;
}

static bool same_build_id(const struct dso_entry *entry, const struct perfdata_symbols *table)
{
	return table->build_id_bytes && entry->build_id_bytes == table->build_id_bytes &&
	       !memcmp(entry->build_id, table->build_id, table->build_id_bytes);
}

/* Keys are hashes, so compare what was requested. */
static bool fits(const struct session *session, const struct dso_entry *entry, uint32_t guest,
		 const struct perfdata_symbols *table)
{
	if (table->machine_pid != guest)
		return false;
	if (entry->build_id_bytes && table->build_id_bytes)
		return same_build_id(entry, table);
	return !strcmp(intern_string(session->strings, entry->path), table->path);
}

/* The newest table with KEY that fits ENTRY: its index. */
static bool find_by_key(struct session *session, const struct dso_entry *entry, uint32_t guest,
			uint64_t key, size_t *ret)
{
	const uint64_t *newest = map_find(&session->guest_files.by_key, key);
	uint64_t at = newest ? *newest : 0;

	for (int i = 0; at && i < MAX_LINKS; i++) {
		const struct guest_file_link *link = &session->guest_files.links.items[at - 1];
		struct perfdata_symbols table =
			perfdata_reader_symbols(session->reader, link->symbols);

		if (fits(session, entry, guest, &table)) {
			*ret = link->symbols;
			return true;
		}
		at = link->older;
	}
	return false;
}

static bool find_table(struct session *session, const struct dso_entry *entry, uint32_t guest,
		       size_t *ret)
{
	const struct guest_files *files = &session->guest_files;
	const char *path = intern_string(session->strings, entry->path);

	if (entry->build_id_bytes &&
	    find_by_key(session, entry, guest,
			key_of(files, entry->build_id, entry->build_id_bytes,
			       guest), ret))
		return true;
	return find_by_key(session, entry, guest, key_of(files, path, strlen(path), guest),
			   ret);
}

static void load_recorded(struct session *session, struct dso_entry *entry)
{
	size_t index;

	entry->loaded = true;
	list_tables(session);
	if (find_table(session, entry, entry->guest, &index) ||
	    find_table(session, entry, 0, &index))
		error_destroy(session_decode_symbols(session, index, &entry->table));
}

void guest_files_request(const struct session *session, const struct dso_entry *entry,
			 struct dso_request *ret, char **ret_root)
{
	const char *guestmount = session->guest_symbols.guestmount;

	*ret_root = guestmount ? memory_printf("%s/%u", guestmount, entry->guest) : NULL;
	*ret = (struct dso_request){
		.path = intern_string(session->strings, entry->path),
		.build_id = entry->build_id_bytes ? entry->build_id : NULL,
		.build_id_bytes = entry->build_id_bytes,
		.foreign = true,
		.root = *ret_root,
		.downloads = session->dsos.downloads,
	};
}

static struct error *load_found(struct session *session, struct dso_entry *entry)
{
	_cleanup_free_ char *root = NULL;
	struct dso_request request;
	struct dso_symbols found = { 0 };
	struct error *error;

	guest_files_request(session, entry, &request, &root);
	error = dsos_check_room(&session->dsos, 0);
	if (!error)
		error = dso_load_symbols(&request, &found);
	if (error)
		return error;
	entry->found = take_pointer(found.table);
	dsos_take_room(&session->dsos, entry->found);
	dso_symbols_deinit(&found);
	return NULL;
}

static void search(struct session *session, struct dso_entry *entry)
{
	struct error *error = load_found(session, entry);

	entry->searched = true;
	if (error)
		entry->reason = memory_strdup(error_message(error));
	error_destroy(error);
}

static const struct symbol *find_in(const struct symbol_table *table, uint64_t address,
				    const struct symbol_table **ret_table)
{
	*ret_table = table;
	return table ? symbol_table_find(table, address) : NULL;
}

const struct symbol *guest_files_find(struct session *session, struct dso_entry *entry,
				      uint64_t address, const struct symbol_table **ret_table)
{
	const struct symbol *symbol;

	if (!entry->loaded)
		load_recorded(session, entry);
	symbol = find_in(entry->table, address, ret_table);
	if (symbol)
		return symbol;
	/* The table from guest memory may have only some of the file's symbols. */
	if (!entry->searched)
		search(session, entry);
	return find_in(entry->found, address, ret_table);
}

struct symbol_table *guest_files_table(struct session *session, struct dso_entry *entry)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	const struct symbol_table *ignored;

	guest_files_find(session, entry, UINT64_MAX, &ignored); /* loads both */
	if (!entry->table && !entry->found)
		return NULL;
	if (entry->table)
		symbol_builder_add_table(builder, entry->table);
	for (size_t i = 0; entry->found && i < symbol_table_count(entry->found); i++) {
		const struct symbol *symbol = symbol_table_at(entry->found, i);

		if (!entry->table || !symbol_table_find(entry->table, symbol->start))
			symbol_builder_add(builder, symbol->start, symbol->end, symbol->type,
					   symbol_name(entry->found, symbol), NULL);
	}
	return symbol_builder_finish(take_pointer(builder));
}
