/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols of files that guest processes have mapped, each read once. */
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "host/guest_reader_state.h"
#include "symbol/table.h"

#define MAX_FILES 65536
#define FILES_MAX_BYTES ((size_t)512 << 20) /* of all their tables */

static bool has_program(const struct guest_mapping *mapping, const char *path)
{
	return mapping->kind == GUEST_MAPPING_FILE ||
	       (mapping->kind == GUEST_MAPPING_SPECIAL && !strcmp(path, "[vdso]"));
}

void guest_reader_note_files(struct guest_reader *reader, const struct guest_reader_process *process)
{
	for (size_t i = 0; i < process->mappings.items.count; i++) {
		const struct guest_mapping *mapping = &process->mappings.items.items[i];
		const char *path = intern_string(process->strings, mapping->path);
		/* A seed: or a guest could choose names that stand for another guest's files. */
		uint64_t seed = hash_u64(reader->known_files.seed ^ process->vm);
		uint64_t key = hash_bytes_seeded(seed, path, strlen(path)) ^
			       hash_bytes_seeded(seed + 1, mapping->build_id.data,
						 mapping->build_id.bytes);
		bool added;

		if (!has_program(mapping, path) || reader->file_jobs.count >= MAX_FILES)
			continue;
		map_insert(&reader->known_files, key, &added);
		if (added)
			vector_append(&reader->file_jobs,
				      (struct file_job){ .vm = process->vm,
							 .mm = process->mm,
							 .start = mapping->start,
							 .path = memory_strdup(path),
							 .build_id = mapping->build_id });
	}
}

void guest_reader_read_file(struct guest_reader *reader, const struct file_job *job)
{
	struct guest *guest = guest_reader_find_guest(reader, job->vm);
	struct guest_reader_file file = { .vm = job->vm, .build_id = job->build_id };
	_cleanup_symbol_table_ struct symbol_table *checked = NULL;
	_cleanup_error_ struct error *error = NULL;

	if (!guest || !guest->view || reader->file_bytes >= FILES_MAX_BYTES)
		return;
	buffer_init(&file.table, GUEST_READER_TABLE_MAX_BYTES);
	error = guest_view_file_symbols(guest->view, job->mm, job->start, &file.table);
	if (!error) /* as with kernels: what the caged parser gave must be a table */
		error = symbol_table_decode(file.table.data, file.table.size, &checked);
	if (error) {
		log_detail("no symbols of '%s' from the guest's memory: %s", job->path,
			   error_message(error));
		buffer_deinit(&file.table);
		return;
	}
	file.pid = guest->pid;
	file.path = memory_strdup(job->path);
	reader->file_bytes += file.table.size;
	vector_append(&reader->files, file);
}
