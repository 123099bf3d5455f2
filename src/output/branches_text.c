/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/branches_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "output/stream.h"

#define CELL_MAX_BYTES (1024 * 1024)
/* default_branch_sort_order of tools/perf/util/sort.c */
#define DEFAULT_KEYS "comm,dso_from,symbol_from,symbol_to,cycles"

static const struct {
	const char *word, *title;
} columns[BRANCH_KEYS] = {
	[BRANCH_COMM] = { "comm", "Command" },
	[BRANCH_DSO_FROM] = { "dso_from", "Source Shared Object" },
	[BRANCH_DSO_TO] = { "dso_to", "Target Shared Object" },
	[BRANCH_SYMBOL_FROM] = { "symbol_from", "Source Symbol" },
	[BRANCH_SYMBOL_TO] = { "symbol_to", "Target Symbol" },
	[BRANCH_MISPREDICT] = { "mispredict", "Branch Mispredicted" },
	[BRANCH_CYCLES] = { "cycles", "Basic Block Cycles" },
};

static struct error *add_key(const char *word, struct branch_keys *keys)
{
	for (size_t key = 0; key < BRANCH_KEYS; key++) {
		bool known = false;

		if (strcmp(columns[key].word, word))
			continue;
		for (size_t i = 0; i < keys->count; i++)
			known |= keys->items[i] == key;
		if (!known)
			keys->items[keys->count++] = key;
		return NULL;
	}
	return error_hint(error_create(ERROR_USAGE, "--sort: no key '%s' of branches", word),
			  "the keys are comm, dso_from, dso_to, symbol_from, symbol_to, "
			  "mispredict and cycles; --no-branch-stack has the usual ones");
}

struct error *branches_text_parse_keys(const char *words, struct branch_keys *ret)
{
	_cleanup_free_ char *copy = memory_strdup(words ? words : DEFAULT_KEYS);
	struct error *error = NULL;
	char *rest = copy, *word;

	ret->count = 0;
	while (!error && (word = strsep(&rest, ",")))
		error = add_key(word, ret);
	return error;
}

struct writer {
	struct output_stream stream;
	const struct branches *branches;
	const struct branch_keys *keys;
	size_t widths[BRANCH_KEYS];
	struct buffer cell;
};

static void append_symbol(struct writer *writer, const struct branch_end *end)
{
	struct buffer *cell = &writer->cell;
	char level = end->kernel ? 'k' : '.';

	buffer_printf(cell, "[%c] ", end->location ? level : 'H');
	if (end->ip)
		buffer_printf(cell, "%#.16" PRIx64, end->ip);
	else
		utf8_append_escaped(cell, end->location
						  ? resolver_symbol_name(writer->branches->resolver,
									 end->location - 1)
						  : "0x0000000000000000");
}

static void append_comm(struct writer *writer, const struct branch_row *row)
{
	if (row->comm == TIMELINE_NO_COMM)
		buffer_printf(&writer->cell, ":%d", (int)row->tid);
	else
		utf8_append_escaped(&writer->cell,
				    intern_string(writer->branches->session->strings, row->comm));
}

static void make_cell(struct writer *writer, const struct branch_row *row, enum branch_key key)
{
	const struct intern *strings = writer->branches->session->strings;
	struct buffer *cell = &writer->cell;

	buffer_clear(cell);
	if (key == BRANCH_COMM)
		append_comm(writer, row);
	else if (key == BRANCH_DSO_FROM)
		utf8_append_escaped(cell, intern_string(strings, row->from.dso));
	else if (key == BRANCH_DSO_TO)
		utf8_append_escaped(cell, intern_string(strings, row->to.dso));
	else if (key == BRANCH_SYMBOL_FROM || key == BRANCH_SYMBOL_TO)
		append_symbol(writer, key == BRANCH_SYMBOL_FROM ? &row->from : &row->to);
	else if (key == BRANCH_MISPREDICT)
		buffer_append_string(cell, row->predicted ? "N" : row->mispredicted ? "Y" : "N/A");
	else if (row->cycles)
		buffer_printf(cell, "%u", row->cycles);
	else
		buffer_append_u8(cell, '-');
}

static void measure(struct writer *writer, const struct branch_row *rows, size_t count)
{
	for (size_t k = 0; k < writer->keys->count; k++) {
		writer->widths[k] = strlen(columns[writer->keys->items[k]].title);
		for (size_t i = 0; i < count; i++) {
			make_cell(writer, &rows[i], writer->keys->items[k]);
			if (writer->cell.size > writer->widths[k])
				writer->widths[k] = writer->cell.size;
		}
	}
}

/* The last column is not padded. */
static void append_padded(struct writer *writer, size_t column, const void *text, size_t bytes)
{
	struct buffer *out = &writer->stream.buffer;

	buffer_append_string(out, "  ");
	buffer_append(out, text, bytes);
	for (; column + 1 < writer->keys->count && bytes < writer->widths[column]; bytes++)
		buffer_append_u8(out, ' ');
}

static void write_header(struct writer *writer, const char *event, uint64_t all)
{
	struct buffer *out = &writer->stream.buffer;

	buffer_printf(out, "# Branches: %" PRIu64 " in samples of event '", all);
	utf8_append_escaped(out, event);
	buffer_append_string(out, "'\n#\n# Overhead");
	for (size_t k = 0; k < writer->keys->count; k++) {
		const char *title = columns[writer->keys->items[k]].title;

		append_padded(writer, k, title, strlen(title));
	}
	buffer_append_string(out, "\n# ........");
	for (size_t k = 0; k < writer->keys->count; k++) {
		buffer_append_string(out, "  ");
		for (size_t i = 0; i < writer->widths[k]; i++)
			buffer_append_u8(out, '.');
	}
	buffer_append_string(out, "\n#\n");
}

/* The COUNT rows of an event. */
static void write_event(struct writer *writer, const struct branch_row *rows, size_t count,
			double min_percent)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += rows[i].count;
	measure(writer, rows, count);
	write_header(writer,
		     perfdata_reader_event(writer->branches->session->reader, rows->event)->name,
		     all);
	for (size_t i = 0; i < count; i++) {
		double percent = 100.0 * rows[i].count / all;

		if (percent < min_percent)
			break;
		buffer_printf(&writer->stream.buffer, "  %7.2f%%", percent);
		for (size_t k = 0; k < writer->keys->count; k++) {
			make_cell(writer, &rows[i], writer->keys->items[k]);
			append_padded(writer, k, writer->cell.data, writer->cell.size);
		}
		buffer_append_u8(&writer->stream.buffer, '\n');
		if (!output_stream_line(&writer->stream))
			return;
	}
}

struct error *branches_text_write(int fd, const struct branches *branches,
				  const struct branch_keys *keys, double min_percent)
{
	struct writer writer = { .branches = branches, .keys = keys };
	const struct branch_row *rows = branches->rows.items;

	output_stream_init(&writer.stream, fd);
	buffer_init(&writer.cell, CELL_MAX_BYTES);
	for (size_t i = 0, end; i < branches->rows.count; i = end) {
		for (end = i + 1; end < branches->rows.count && rows[end].event == rows[i].event;)
			end++;
		if (i)
			buffer_append_u8(&writer.stream.buffer, '\n');
		write_event(&writer, rows + i, end - i, min_percent);
	}
	buffer_deinit(&writer.cell);
	return output_stream_finish(&writer.stream);
}
