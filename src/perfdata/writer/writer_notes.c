/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes put what names samples into the stream of records, as soon as it is known: a pipe, and the
 * file of a recorder that was killed, have nothing after their records.
 *
 * Format: docs/perfvisor-sections.md. If a table resembles one that was stored whole, only the
 * differences are stored. The writer keeps at most KEPT_BYTES of whole tables for that.
 */
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "perfdata/section.h"
#include "perfdata/writer/writer_state.h"

#define PIECE_BYTES ((size_t)60 << 10)
#define KEPT_BYTES ((size_t)64 << 20)
/* Tables of one kernel begin with the same names. So many bytes show that two are alike. */
#define ALIKE_BYTES 4096
#define SMALL_BYTES 1024 /* tables up to this size are not compressed, which would save little */
#define INVENTORY_MAX_BYTES ((size_t)1 << 30)
#define BUILD_IDS_MAX_BYTES ((size_t)64 << 20)

static struct error *write_piece(struct perfdata_writer *writer,
				 const struct format_note_piece *piece, const void *data)
{
	struct buffer *out = &writer->scratch;

	writer_begin_record(writer, RECORD_EVENT_UPDATE, 0);
	buffer_append_u64(out, FORMAT_EVENT_UPDATE_NOTE);
	buffer_append_u64(out, 0);
	buffer_append(out, piece, sizeof(*piece));
	buffer_append(out, data, piece->bytes);
	buffer_pad(out, 8);
	return writer_end_record(writer);
}

struct error *writer_note(struct perfdata_writer *writer, uint32_t kind, const void *data,
			  size_t size)
{
	struct format_note_piece piece = { .kind = kind,
					   .pieces = size ? (size - 1) / PIECE_BYTES + 1 : 1 };
	const uint8_t *at = data;
	struct error *error = NULL;

	for (; piece.number < piece.pieces && !error; piece.number++) {
		piece.bytes = size < PIECE_BYTES ? size : PIECE_BYTES;
		error = write_piece(writer, &piece, at);
		at += piece.bytes;
		size -= piece.bytes;
	}
	return error;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct error *perfdata_writer_inventory(struct perfdata_writer *writer,
					const struct perfdata_inventory *inventory)
{
	_cleanup_buffer_ struct buffer out;

	buffer_init(&out, INVENTORY_MAX_BYTES);
	buffer_append_u64(&out, now_ns());
	perfdata_inventory_encode_news(inventory, &writer->told, &out);
	if (out.overflow)
		return error_create(ERROR_UNSUPPORTED, "the VM inventory of '%s' is too large",
				    writer->path);
	return writer_note(writer, NOTE_INVENTORY, out.data, out.size);
}

/* How to store a table: its coding, and the table that it is compared with. */
struct plan {
	enum format_table_coding coding;
	const struct writer_table *base;
};

static struct plan plan_table(const struct perfdata_writer *writer,
			      const struct perfdata_writer_symbols *symbols)
{
	struct plan plan = { .coding = TABLE_ZSTD };

	for (size_t i = 0; i < writer->tables.count; i++) {
		const struct writer_table *table = &writer->tables.items[i];

		if (table->size == symbols->size &&
		    !memcmp(table->data, symbols->data, symbols->size))
			return (struct plan){ TABLE_SAME, table };
		if (!plan.base && table->size >= ALIKE_BYTES &&
		    symbols->size >= ALIKE_BYTES &&
		    !memcmp(table->data + ALIKE_BYTES / 2,
			    (const uint8_t *)symbols->data + ALIKE_BYTES / 2, ALIKE_BYTES / 2))
			plan = (struct plan){ TABLE_ZSTD_LIKE, table };
	}
	return plan;
}

static void keep_table(struct perfdata_writer *writer,
		       const struct perfdata_writer_symbols *symbols)
{
	if (symbols->size > KEPT_BYTES - writer->table_bytes)
		return;
	writer->table_bytes += symbols->size;
	vector_append(&writer->tables,
		      (struct writer_table){ .number = writer->table_count,
					     .data = memory_dup(symbols->data, symbols->size),
					     .size = symbols->size });
}

static void put_table(struct buffer *out, const struct perfdata_writer_symbols *symbols,
		      const struct plan *plan)
{
	enum format_table_coding coding = plan->coding;
	size_t at;

	buffer_append_u64(out, symbols->size);
	buffer_append_u32(out, plan->base ? plan->base->number : 0);
	at = out->size;
	buffer_append_u32(out, coding);
	if (coding == TABLE_SAME)
		return;
	if (symbols->size < SMALL_BYTES ||
	    !table_compress(symbols->data, symbols->size, plan->base ? plan->base->data : NULL,
			    plan->base ? plan->base->size : 0, out)) {
		coding = TABLE_PLAIN;
		buffer_append(out, symbols->data, symbols->size);
	}
	if (!out->overflow)
		memcpy(out->data + at, &(uint32_t){ coding }, sizeof(uint32_t));
}

struct error *perfdata_writer_symbols(struct perfdata_writer *writer,
				      const struct perfdata_writer_symbols *symbols,
				      uint32_t *ret_number)
{
	struct plan plan = plan_table(writer, symbols);
	struct perfdata_writer_symbols shifted = *symbols;
	_cleanup_buffer_ struct buffer out;
	struct error *error;

	buffer_init(&out, TABLE_MAX_BYTES);
	if (symbols->build_id_bytes > PERFDATA_BUILD_ID_BYTES)
		return error_create(ERROR_BAD_DATA, "the build-id of '%s' is %u bytes long",
				    symbols->path, symbols->build_id_bytes);
	buffer_append_u32(&out, writer->table_count + 1);
	shifted.from_ns = writer_shifted(writer, symbols->from_ns);
	shifted.until_ns = writer_shifted(writer, symbols->until_ns);
	section_put_symbols_head(&out, &shifted);
	put_table(&out, symbols, &plan);
	if (out.overflow)
		return error_create(ERROR_UNSUPPORTED, "a symbol table is too large for '%s'",
				    writer->path);
	error = writer_note(writer, NOTE_SYMBOLS, out.data, out.size);
	if (error)
		return error;
	*ret_number = ++writer->table_count;
	if (!plan.base)
		keep_table(writer, symbols);
	return NULL;
}

struct error *perfdata_writer_symbols_until(struct perfdata_writer *writer, uint32_t number,
					    uint64_t until_ns)
{
	_cleanup_buffer_ struct buffer out;

	buffer_init(&out, 64);
	buffer_append_u32(&out, number);
	buffer_append_u64(&out, writer_shifted(writer, until_ns));
	return writer_note(writer, NOTE_SYMBOLS_END, out.data, out.size);
}

struct error *perfdata_writer_build_ids(struct perfdata_writer *writer,
					const struct perfdata_writer_build_id *build_ids,
					size_t count)
{
	_cleanup_buffer_ struct buffer out;
	struct error *error;

	buffer_init(&out, BUILD_IDS_MAX_BYTES);
	if (count <= writer->build_ids_told)
		return NULL;
	writer_put_build_ids(&out, build_ids, writer->build_ids_told, count);
	error = writer->pipe ? writer_pipe_build_ids(writer, out.data, out.size)
			     : writer_note(writer, FEATURE_BUILD_ID, out.data, out.size);
	if (!error)
		writer->build_ids_told = count;
	return error;
}

struct error *perfdata_writer_begin(struct perfdata_writer *writer,
				    const struct perfdata_writer_features *features)
{
	struct error *error = writer_begin_features(writer, features);

	if (!error)
		error = perfdata_writer_inventory(writer, features->inventory);
	return error ? error : perfdata_writer_build_ids(writer, features->build_ids,
							 features->build_id_count);
}

void writer_forget_notes(struct perfdata_writer *writer)
{
	for (size_t i = 0; i < writer->tables.count; i++)
		free((void *)writer->tables.items[i].data);
	vector_deinit(&writer->tables);
	vector_deinit(&writer->told.vms);
}
