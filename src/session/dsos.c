/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dsos of a session and the names that perf gives them (tools/perf/util/dso.c and map.c): the
 * short name is the file's base name; for "/lib/modules/…/snd-hda.ko.xz" it is "[snd_hda]";
 * executable memory without a file is "[JIT] tid PID", from the file /tmp/perf-PID.map in which a
 * JIT compiler may list its functions.
 */
#include "session/dsos.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"

static uint64_t half_of_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && page_bytes > 0 ? (uint64_t)pages / 2 * page_bytes : (uint64_t)1 << 30;
}

void dsos_init(struct dsos *dsos, struct intern *strings)
{
	*dsos = (struct dsos){ .strings = strings, .downloads = downloads_create(),
			       .room = half_of_memory() };
	map_init(&dsos->by_key);
}

void dsos_deinit(struct dsos *dsos)
{
	for (size_t i = 0; i < dsos->items.count; i++) {
		struct dso_entry *entry = dsos->items.items[i];

		if (!entry)
			continue; /* another list adopted it */
		symbol_table_destroy(entry->table);
		symbol_table_destroy(entry->found);
		free(entry->reason);
		file_tables_deinit(&entry->frames);
		free(entry);
	}
	downloads_destroy(dsos->downloads);
	vector_deinit(&dsos->items);
	map_deinit(&dsos->by_key);
}

struct error *dsos_check_room(const struct dsos *dsos, uint64_t bytes)
{
	if (bytes < dsos->room)
		return NULL;
	return error_create(ERROR_UNSUPPORTED, "all symbols together would take more than half of "
					       "the memory");
}

void dsos_take_room(struct dsos *dsos, const struct symbol_table *table)
{
	uint64_t bytes = table ? symbol_table_bytes(table) : 0;

	dsos->room -= bytes < dsos->room ? bytes : dsos->room;
}

uint64_t dsos_bytes(const struct dsos *dsos)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < dsos->items.count; i++) {
		const struct dso_entry *entry = dsos->items.items[i];

		if (entry && entry->table)
			bytes += symbol_table_bytes(entry->table);
		if (entry && entry->found)
			bytes += symbol_table_bytes(entry->found);
	}
	return bytes;
}

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

bool dsos_is_anonymous(const char *path)
{
	return !strcmp(path, "//anon") || starts_with(path, "/dev/zero (deleted)") ||
	       starts_with(path, "/anon_hugepage") || starts_with(path, "[stack") ||
	       starts_with(path, "/SYSV") || !strcmp(path, "[heap]");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "[snd_hda]" for ".../snd-hda.ko.xz"; NULL if PATH is not a module's file. */
static char *module_name(const char *path)
{
	const char *base = base_name(path);
	const char *end = strstr(base, ".ko");
	char *name;

	if (!end || (end[3] && end[3] != '.'))
		return NULL;
	name = memory_printf("[%.*s]", (int)(end - base), base);
	for (char *at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	return name;
}

/* Includes the guest: one guest must not be able to produce another's key with chosen build-ids. */
static uint64_t key_of(const struct dsos *dsos, uint32_t path, enum dso_kind kind,
		       const struct dso_names *names)
{
	uint64_t key = hash_u64((uint64_t)path << 8 | kind) ^ hash_u64(names->guest);

	if (!names->build_id_bytes)
		return key;
	return key ^ hash_bytes_seeded(dsos->by_key.seed, names->build_id, names->build_id_bytes);
}

static uint32_t add(struct dsos *dsos, enum dso_kind kind, const struct dso_names *names,
		    const char *short_name)
{
	uint32_t path = intern_text(dsos->strings, names->path);
	bool added;
	uint64_t *place = map_insert(&dsos->by_key, key_of(dsos, path, kind, names), &added);
	struct dso_entry *entry;

	if (!added)
		return *place;
	*place = dsos->items.count;
	entry = memory_calloc(1, sizeof(*entry));
	entry->kind = kind;
	entry->guest = names->guest;
	entry->path = path;
	entry->short_name = intern_text(dsos->strings, short_name);
	entry->build_id_bytes = names->build_id_bytes <= sizeof(entry->build_id)
					? names->build_id_bytes
					: sizeof(entry->build_id);
	if (entry->build_id_bytes)
		memcpy(entry->build_id, names->build_id, entry->build_id_bytes);
	vector_append(&dsos->items, entry);
	return dsos->items.count - 1;
}

void dsos_adopt(struct dsos *dsos, struct dso_entry *entry)
{
	struct dso_names names = { .build_id = entry->build_id, .guest = entry->guest,
				   .build_id_bytes = entry->build_id_bytes };

	*map_insert(&dsos->by_key, key_of(dsos, entry->path, entry->kind, &names), NULL) =
		dsos->items.count;
	vector_append(&dsos->items, entry);
}

uint32_t dsos_add_file(struct dsos *dsos, const struct dso_names *names)
{
	if (!strcmp(names->path, "[vsyscall]"))
		return dsos_add_plain(dsos, names->path);
	return add(dsos, DSO_FILE, names, base_name(names->path));
}

uint32_t dsos_add_kernel(struct dsos *dsos, const struct dso_names *names)
{
	const char *bracket = names->path[0] == '[' ? strchr(names->path, ']') : NULL;
	_cleanup_free_ char *module = bracket ? NULL : module_name(names->path);
	struct dso_names named = *names;

	if (bracket) { /* "[kernel.kallsyms]_text" */
		_cleanup_free_ char *name = memory_strndup(names->path,
							   bracket + 1 - names->path);

		named.path = name;
		return add(dsos, DSO_KERNEL, &named, name);
	}
	return add(dsos, DSO_KERNEL, &named, module ? module : base_name(names->path));
}

uint32_t dsos_add_symbol(struct dsos *dsos, const char *name)
{
	return add(dsos, DSO_SYMBOL, &(struct dso_names){ .path = name }, name);
}

uint32_t dsos_add_plain(struct dsos *dsos, const char *name)
{
	return add(dsos, DSO_PLAIN, &(struct dso_names){ .path = name }, name);
}

uint32_t dsos_add_jit(struct dsos *dsos, uint32_t pid)
{
	char path[64], name[64];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	snprintf(name, sizeof(name), "[JIT] tid %u", pid);
	return add(dsos, DSO_PLAIN, &(struct dso_names){ .path = path }, name);
}

struct dso_request dsos_request(const struct dsos *dsos, const struct dso_entry *entry)
{
	struct dso_request request = { .path = intern_string(dsos->strings, entry->path),
				       .recording = dsos->recording };

	request.downloads = dsos->downloads;
	if (entry->build_id_bytes) {
		request.build_id = entry->build_id;
		request.build_id_bytes = entry->build_id_bytes;
	}
	return request;
}

void dsos_load(struct dsos *dsos, struct dso_entry *entry)
{
	struct dso_request request = dsos_request(dsos, entry);
	struct dso_symbols found = { 0 };
	struct error *error;

	if (entry->loaded)
		return;
	entry->loaded = true;
	if (entry->kind == DSO_PLAIN || entry->kind == DSO_SYMBOL)
		return;
	error = dsos_check_room(dsos, 0);
	if (!error)
		error = dso_load_symbols(&request, &found);
	if (error) {
		entry->reason = memory_strdup(error_message(error));
		error_destroy(error);
		return;
	}
	entry->table = take_pointer(found.table);
	dsos_take_room(dsos, entry->table);
	dso_symbols_deinit(&found);
}

void dsos_load_frames(struct dsos *dsos, struct dso_entry *entry)
{
	struct dso_request request = dsos_request(dsos, entry);
	_cleanup_elf_frames_ struct elf_frames frames = { 0 };
	struct error *error;

	if (entry->frames_loaded)
		return;
	entry->frames_loaded = true;
	if (entry->kind != DSO_FILE || entry->guest)
		return;
	error = dso_load_frames(&request, &frames, &entry->file_found);
	if (!error)
		file_tables_init(&entry->frames, &frames);
	error_destroy(error);
}
