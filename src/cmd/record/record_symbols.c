/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest symbols go into the recording, so that it can be read anywhere. They are written as soon as
 * they are known, so that they are there if the recorder is killed. A table for every guest
 * (--guestkallsyms, --guestvmlinux) is stored once, for machine 0. A table of one VM (--guestmount)
 * is not stored again if it equals one that is stored for every guest.
 */
#include <string.h>

#include "base/log.h"
#include "cmd/record/record.h"

#define TABLE_MAX_BYTES ((size_t)1 << 30)
/* After that many bytes of guests' tables, samples come first. */
#define AT_ONCE_BYTES ((size_t)16 << 20)

void record_symbols_init(const struct record_options *options, struct record_symbols *ret)
{
	*ret = (struct record_symbols){
		.options = {
			.guestkallsyms = options->guestkallsyms,
			.guestmodules = options->guestmodules,
			.guestvmlinux = options->guestvmlinux,
			.guestmount = options->guestmount,
		},
		.keep = options->directory,
		.again = options->switch_output || options->stream_ns,
	};
}

static void forget_kept(struct record_symbols *symbols)
{
	for (size_t i = 0; i < symbols->kept.count; i++)
		free((void *)symbols->kept.items[i].data);
	symbols->kept.count = 0;
}

void record_symbols_deinit(struct record_symbols *symbols)
{
	for (size_t i = 0; i < symbols->tables.count; i++)
		free((void *)symbols->tables.items[i].data);
	forget_kept(symbols);
	vector_deinit(&symbols->tables);
	vector_deinit(&symbols->kept);
	vector_deinit(&symbols->loaded);
	vector_deinit(&symbols->kernels);
	vector_deinit(&symbols->files_written);
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
	symbol_table_pack(table, &bytes);
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

static bool has_table(const struct record_symbols *symbols, uint32_t pid)
{
	for (size_t i = 0; i < symbols->given_written; i++)
		if (symbols->tables.items[i].machine_pid == pid)
			return true;
	return false;
}

/* SYMBOLS' data are those of a table in the form in which it is searched. */
static struct error *pack_and_write(struct record_symbols *symbols, struct recorder *recorder,
				    struct perfdata_writer_symbols *table, uint32_t *ret_number)
{
	_cleanup_symbol_table_ struct symbol_table *decoded = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct error *error = symbol_table_decode(table->data, table->size, &decoded);

	buffer_init(&bytes, TABLE_MAX_BYTES);
	if (error)
		return error;
	symbol_table_pack(decoded, &bytes);
	if (bytes.overflow)
		return error_create(ERROR_BAD_DATA,
				    "the symbols of a guest are larger than a recording holds");
	table->data = bytes.data;
	table->size = bytes.size;
	error = recorder_write_symbols(recorder, table, ret_number);
	if (!error && symbols->keep && table->kind == PERFDATA_SYMBOLS_KERNEL) {
		table->data = memory_dup(bytes.data, bytes.size);
		vector_append(&symbols->kept, *table);
	}
	return error;
}

static struct error *write_given(struct record_symbols *symbols, struct recorder *recorder)
{
	struct error *error = NULL;
	uint32_t number;

	while (!error && symbols->given_written < symbols->tables.count)
		error = recorder_write_symbols(
			recorder, &symbols->tables.items[symbols->given_written++], &number);
	return error;
}

static struct error *write_kernel(struct record_symbols *symbols, struct recorder *recorder,
				  const struct guest_reader_kernel *kernel)
{
	struct record_kernel written = { .until_ns = kernel->until_ns };
	struct perfdata_writer_symbols table = { .machine_pid = kernel->pid,
						 .from_ns = kernel->from_ns,
						 .until_ns = kernel->until_ns,
						 .build_id = kernel->build_id,
						 .build_id_bytes = kernel->build_id_bytes,
						 .data = kernel->table.data,
						 .size = kernel->table.size };
	struct error *error = NULL;

	if (kernel->until_ns && kernel->until_ns < symbols->from_ns)
		written.number = 0;
	else if (!symbols->everyone && !has_table(symbols, kernel->pid))
		error = pack_and_write(symbols, recorder, &table, &written.number);
	symbols->written_bytes += kernel->table.size;
	if (!symbols->again)
		recorder_drop_kernel(recorder, symbols->kernels.count);
	vector_append(&symbols->kernels, written);
	return error;
}

/* Whether more tables may be written now. */
static bool may_write(const struct record_symbols *symbols)
{
	return !symbols->sampling || symbols->written_bytes < AT_ONCE_BYTES;
}

static struct error *write_kernels(struct record_symbols *symbols, struct recorder *recorder)
{
	struct guest_reader_kernel kernel;
	struct error *error = NULL;

	for (size_t i = 0; !error && recorder_kernel(recorder, i, &kernel); i++) {
		struct record_kernel *written;

		if (i == symbols->kernels.count && !may_write(symbols))
			break;
		if (i == symbols->kernels.count) {
			error = write_kernel(symbols, recorder, &kernel);
			continue;
		}
		written = &symbols->kernels.items[i];
		if (!written->number || written->until_ns == kernel.until_ns)
			continue;
		written->until_ns = kernel.until_ns;
		error = recorder_write_symbols_until(recorder, written->number, kernel.until_ns);
	}
	return error;
}

static struct error *write_files(struct record_symbols *symbols, struct recorder *recorder)
{
	struct guest_reader_file file;
	struct error *error = NULL;
	uint32_t number;

	for (size_t i = 0; !error && may_write(symbols) && recorder_file(recorder, i, &file); i++) {
		struct perfdata_writer_symbols table = { .machine_pid = file.pid,
							 .kind = PERFDATA_SYMBOLS_FILE,
							 .path = file.path,
							 .build_id = file.build_id.data,
							 .build_id_bytes = file.build_id.bytes,
							 .data = file.table.data,
							 .size = file.table.size };

		if (i == symbols->files_written.count)
			vector_append(&symbols->files_written, false);
		if (symbols->files_written.items[i] || !recorder_file_is_mapped(recorder, &file))
			continue;
		error = pack_and_write(symbols, recorder, &table, &number);
		symbols->files_written.items[i] = true;
		symbols->written_bytes += file.table.size;
		if (!symbols->again)
			recorder_drop_file(recorder, i);
	}
	return error;
}

/* Code of functions, which is bounded for each guest: it does not wait for its turn. */
static struct error *write_codes(struct record_symbols *symbols, struct recorder *recorder)
{
	struct guest_reader_code code;
	struct error *error = NULL;
	uint32_t number;

	while (!error && recorder_code(recorder, symbols->codes_written, &code)) {
		struct perfdata_writer_symbols table = { .machine_pid = code.pid,
							 .kind = code.kernel ? PERFDATA_CODE_KERNEL
									     : PERFDATA_CODE_FILE,
							 .from_ns = code.from_ns,
							 .path = code.path,
							 .build_id = code.build_id.data,
							 .build_id_bytes = code.build_id.bytes,
							 .data = code.pieces.data,
							 .size = code.pieces.size };

		error = recorder_write_symbols(recorder, &table, &number);
		if (!symbols->again)
			recorder_drop_code(recorder, symbols->codes_written);
		symbols->codes_written++;
	}
	return error;
}

struct error *record_symbols_write(struct record_symbols *symbols, struct recorder *recorder)
{
	struct error *error = write_given(symbols, recorder);

	symbols->written_bytes = 0;
	if (!error)
		error = write_kernels(symbols, recorder);
	if (!error)
		error = write_files(symbols, recorder);
	return error ? error : write_codes(symbols, recorder);
}

void record_symbols_restart(struct record_symbols *symbols, const struct recorder *recorder)
{
	forget_kept(symbols);
	symbols->given_written = symbols->kernels.count = symbols->files_written.count = 0;
	symbols->codes_written = 0;
	symbols->from_ns = recorder_file_begin_ns(recorder);
}
