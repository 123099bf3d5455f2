/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest kernel symbols go into the recording, so that it can be read anywhere. A table for every
 * guest (--guestkallsyms, --guestvmlinux) is stored once, for machine 0. A table of one VM
 * (--guestmount, guest memory) is not stored again if it equals one that is stored for every guest.
 */
#include <string.h>

#include "base/log.h"
#include "cmd/record/record.h"

#define TABLE_MAX_BYTES ((size_t)1 << 30)

void record_symbols_init(const struct record_options *options, struct record_symbols *ret)
{
	*ret = (struct record_symbols){
		.options = {
			.guestkallsyms = options->guestkallsyms,
			.guestmodules = options->guestmodules,
			.guestvmlinux = options->guestvmlinux,
			.guestmount = options->guestmount,
		},
	};
}

void record_symbols_deinit(struct record_symbols *symbols)
{
	for (size_t i = 0; i < symbols->tables.count; i++)
		free((void *)symbols->tables.items[i].data);
	vector_deinit(&symbols->tables);
	vector_deinit(&symbols->loaded);
}

static bool is_stored_for_all(const struct record_symbols *symbols,
			      const struct perfdata_writer_symbols *table)
{
	for (size_t i = 0; i < symbols->tables.count; i++) {
		const struct perfdata_writer_symbols *stored = &symbols->tables.items[i];

		if (!stored->machine_pid && stored->size == table->size &&
		    !memcmp(stored->data, table->data, table->size))
			return true;
	}
	return false;
}

static void store(struct record_symbols *symbols, const struct perfdata_writer_symbols *table)
{
	struct perfdata_writer_symbols stored = *table;

	if (is_stored_for_all(symbols, table))
		return;
	stored.data = memory_dup(table->data, table->size);
	vector_append(&symbols->tables, stored);
	symbols->everyone |= !table->machine_pid;
}

static struct error *load_for(struct record_symbols *symbols, uint32_t pid)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	_cleanup_buffer_ struct buffer bytes;
	const char *source = NULL;
	struct error *error;

	buffer_init(&bytes, TABLE_MAX_BYTES);
	vector_append(&symbols->loaded, pid);
	error = kernel_source_load(&symbols->options, pid, &table, &source);
	if (error)
		return error;
	if (!table)
		return NULL;
	symbol_table_encode(table, &bytes);
	if (bytes.overflow)
		return error_create(ERROR_BAD_DATA,
				    "the symbols of %s do not fit into a recording", source);
	log_detail("%zu guest kernel symbols from %s", symbol_table_count(table), source);
	store(symbols, &(struct perfdata_writer_symbols){
			       .machine_pid = pid, .data = bytes.data, .size = bytes.size });
	return NULL;
}

static bool was_loaded(const struct record_symbols *symbols, uint32_t pid)
{
	for (size_t i = 0; i < symbols->loaded.count; i++)
		if (symbols->loaded.items[i] == pid)
			return true;
	return false;
}

struct error *record_symbols_load(struct record_symbols *symbols,
				  const struct perfdata_inventory *inventory)
{
	struct error *error = was_loaded(symbols, 0) ? NULL : load_for(symbols, 0);

	if (!inventory || (symbols->everyone && !symbols->options.guestmount))
		return error;
	for (size_t i = 0; i < inventory->vms.count && !error; i++) {
		uint32_t pid = inventory->vms.items[i].pid;

		if (!was_loaded(symbols, pid))
			error = load_for(symbols, pid);
	}
	return error;
}

static bool has_table(const struct record_symbols *symbols, size_t count, uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (symbols->tables.items[i].machine_pid == pid)
			return true;
	return false;
}

static void add_kernels(struct record_symbols *symbols, const struct recorder *recorder)
{
	size_t given = symbols->tables.count, count; /* how many the options provided */
	const struct guest_reader_kernel *kernels = recorder_kernels(recorder, &count);

	for (size_t i = 0; i < count && !symbols->everyone; i++)
		if (!has_table(symbols, given, kernels[i].pid))
			store(symbols, &(struct perfdata_writer_symbols){
					       .machine_pid = kernels[i].pid,
					       .from_ns = kernels[i].from_ns,
					       .until_ns = kernels[i].until_ns,
					       .data = kernels[i].table.data,
					       .size = kernels[i].table.size });
}

void record_symbols_add(struct record_symbols *symbols, const struct recorder *recorder)
{
	size_t count;
	const struct guest_reader_file *files = recorder_files(recorder, &count);

	add_kernels(symbols, recorder);
	for (size_t i = 0; i < count; i++)
		store(symbols, &(struct perfdata_writer_symbols){
				       .machine_pid = files[i].pid,
				       .kind = PERFDATA_SYMBOLS_FILE,
				       .path = files[i].path,
				       .build_id = files[i].build_id.data,
				       .build_id_bytes = files[i].build_id.bytes,
				       .data = files[i].table.data,
				       .size = files[i].table.size });
}
