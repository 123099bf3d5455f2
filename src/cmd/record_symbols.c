/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest kernels' symbols go into the recording, so that it can be read anywhere. A table
 * for every guest (--guestkallsyms, --guestvmlinux) is stored once, for machine 0; one of a VM
 * (--guestmount, guest memory) that is the same as one for every guest is not stored again.
 */
#include <string.h>

#include "base/log.h"
#include "cmd/record.h"

#define TABLE_MAX_BYTES ((size_t)1 << 30)
/* How long guest memory may be read after sampling, of VMs that were not reached before. */
#define MEMORY_LAST_SECONDS 10.0

void record_symbols_init(const struct record_options *options, struct record_symbols *ret)
{
	*ret = (struct record_symbols){
		.options = {
			.guestkallsyms = options->guestkallsyms,
			.guestmodules = options->guestmodules,
			.guestvmlinux = options->guestvmlinux,
			.guestmount = options->guestmount,
		},
		.memory = options->guest && !options->no_memory ? record_memory_create() : NULL,
	};
}

void record_symbols_deinit(struct record_symbols *symbols)
{
	for (size_t i = 0; i < symbols->tables.count; i++)
		free((void *)symbols->tables.items[i].data);
	vector_deinit(&symbols->tables);
	vector_deinit(&symbols->loaded);
	record_memory_destroy(symbols->memory);
}

static bool is_stored_for_all(const struct record_symbols *symbols, const struct buffer *table)
{
	for (size_t i = 0; i < symbols->tables.count; i++) {
		const struct perfdata_writer_symbols *stored = &symbols->tables.items[i];

		if (!stored->machine_pid && stored->size == table->size &&
		    !memcmp(stored->data, table->data, table->size))
			return true;
	}
	return false;
}

static void store(void *context, uint32_t pid, const struct buffer *table)
{
	struct record_symbols *symbols = context;

	if (is_stored_for_all(symbols, table))
		return;
	vector_append(&symbols->tables,
		      (struct perfdata_writer_symbols){ .machine_pid = pid,
							.data = memory_dup(table->data, table->size),
							.size = table->size });
	symbols->everyone |= !pid;
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
	if (!table) {
		if (pid && symbols->memory)
			record_memory_add(symbols->memory, pid);
		return NULL;
	}
	symbol_table_encode(table, &bytes);
	if (bytes.overflow)
		return error_create(ERROR_BAD_DATA,
				    "the symbols of %s are larger than a recording holds", source);
	log_detail("%zu guest kernel symbols from %s", symbol_table_count(table), source);
	store(symbols, pid, &bytes);
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

void record_symbols_finish(struct record_symbols *symbols)
{
	if (symbols->memory)
		record_memory_finish(symbols->memory, MEMORY_LAST_SECONDS, store, symbols);
}
