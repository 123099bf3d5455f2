/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the symbols of files that guest processes have mapped, each file once. */
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "host/record/guest_reader_state.h"
#include "symbol/table.h"

#define MAX_FILES 16384 /* of a guest */
#define MAX_TRIES 3

static bool has_program(const struct guest_mapping *mapping, const char *path)
{
	return mapping->kind == GUEST_MAPPING_FILE ||
	       (mapping->kind == GUEST_MAPPING_SPECIAL && !strcmp(path, "[vdso]"));
}

/* Files without a build-id that have the same path, at different times or in containers, differ. */
static uint64_t key_of(const struct guest *guest, const struct guest_mapping *mapping,
		       const char *path)
{
	uint64_t seed = hash_u64(guest->known_files.seed);
	uint64_t key = hash_bytes_seeded(seed, path, strlen(path));
	const uint64_t inode[] = { mapping->device_major, mapping->device_minor,
				   mapping->program.inode, mapping->program.generation };

	if (mapping->build_id.bytes)
		return key ^ hash_bytes_seeded(seed + 1, mapping->build_id.data,
					       mapping->build_id.bytes);
	return key ^ hash_bytes_seeded(seed + 1, inode, sizeof(inode));
}

void guest_reader_note_files(struct guest_reader *reader, struct guest *guest,
			     struct guest_reader_process *process)
{
	process->files = memory_calloc(process->mappings.items.count + 1, sizeof(*process->files));
	for (size_t i = 0; i < process->mappings.items.count; i++) {
		const struct guest_mapping *mapping = &process->mappings.items.items[i];
		const char *path = intern_string(process->strings, mapping->path);
		uint64_t *number;
		bool added;

		if (!has_program(mapping, path) || guest->file_count >= MAX_FILES)
			continue;
		number = map_insert(&guest->known_files, key_of(guest, mapping, path), &added);
		if (added) {
			queue_append(&guest->file_jobs,
				     (struct file_job){ .vm = process->vm,
							.mapping = *mapping,
							.path = memory_strdup(path),
							.number = ++guest->file_count,
							.wants_unwind_data =
								reader->options.unwind_data });
			*number = guest->file_count;
		}
		process->files[i] = *number;
	}
}

static void tell_unwind_data(struct guest_reader *reader, const struct file_job *job,
			     struct unwind_table *table)
{
	guest_reader_tell_unwind_table(reader, &reader->file_unwind,
				       &(struct unwind_change){ job->vm, job->number, table });
}

/* False: it may become available later. */
static bool read_unwind_data(struct guest_reader *reader, const struct guest *guest,
			     const struct file_job *job)
{
	_cleanup_error_ struct error *error = NULL;
	struct unwind_table *table;

	error = guest_view_file_unwind_table(guest->view, &job->mapping, &table);
	if (error) {
		log_detail("could not read unwind data of '%s' from guest memory: %s", job->path,
			   error_message(error));
		if (error_code(error) == ERROR_NOT_FOUND)
			return false;
		tell_unwind_data(reader, job, NULL);
		return true;
	}
	if (!guest_reader_charge(reader, guest, unwind_table_bytes(table), "a file's unwind data"))
		unwind_table_destroy(take_pointer(table));
	tell_unwind_data(reader, job, table);
	return true;
}

/* Others will trust the file it goes into, so the caged parser must have sent a valid table. */
struct error *guest_reader_check_symbols(const struct buffer *table, size_t *ret_count)
{
	_cleanup_symbol_table_ struct symbol_table *checked = NULL;
	struct error *error;

	if (symbol_table_is_packed(table->data, table->size))
		return error_create(ERROR_BAD_DATA, "its symbols are packed");
	error = symbol_table_decode(table->data, table->size, &checked);
	if (!error)
		*ret_count = symbol_table_count(checked);
	return error;
}

/* The same. */
static bool read_symbols(struct guest_reader *reader, struct guest *guest,
			 const struct file_job *job)
{
	struct guest_reader_file file = { .vm = job->vm, .build_id = job->mapping.build_id };
	_cleanup_error_ struct error *error = NULL;
	size_t count;

	buffer_init(&file.table, GUEST_READER_TABLE_MAX_BYTES);
	error = guest_view_file_symbols(guest->view, &job->mapping, &file.table);
	if (!error)
		error = guest_reader_check_symbols(&file.table, &count);
	if (error) {
		log_detail("could not read symbols of '%s' from guest memory: %s", job->path,
			   error_message(error));
		buffer_deinit(&file.table);
		return error_code(error) != ERROR_NOT_FOUND;
	}
	buffer_trim(&file.table);
	if (guest->table_bytes >= GUEST_READER_SYMBOL_BYTES ||
	    !guest_reader_charge(reader, guest, file.table.capacity, "a file's symbols")) {
		buffer_deinit(&file.table);
		return true;
	}
	guest->table_bytes += file.table.size;
	file.pid = guest->pid;
	file.path = memory_strdup(job->path);
	pthread_mutex_lock(&reader->lock);
	vector_append(&reader->files, file);
	pthread_mutex_unlock(&reader->lock);
	return true;
}

/*
 * The next step of JOB: unwind data first, for samples wait for them, then symbols. Data that is
 * missing is tried again: the guest may be reading it from its disk just now. False: it is done.
 */
static bool work_on(struct guest_reader *reader, struct guest *guest, struct file_job *job)
{
	bool unwind = job->wants_unwind_data;
	bool done = unwind ? read_unwind_data(reader, guest, job)
			   : read_symbols(reader, guest, job);

	if (!done && ++job->tries < MAX_TRIES)
		return true;
	if (!unwind)
		return false;
	if (!done)
		tell_unwind_data(reader, job, NULL);
	job->wants_unwind_data = false;
	job->tries = 0;
	return true;
}

void guest_reader_read_file(struct guest_reader *reader, struct guest *guest,
			    struct file_job job)
{
	if (guest_reader_need_view(reader, guest) && work_on(reader, guest, &job)) {
		queue_append(&guest->file_jobs, job);
		return;
	}
	if (job.wants_unwind_data)
		tell_unwind_data(reader, &job, NULL);
	free(job.path);
}

void guest_reader_forget_files(struct guest *guest)
{
	struct file_job job;

	while (queue_take(&guest->file_jobs, &job))
		free(job.path);
	queue_deinit(&guest->file_jobs);
	map_deinit(&guest->known_files);
}
