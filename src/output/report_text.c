/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile as text. The layout is perf's (tools/perf/ui/stdio/hist.c): comment lines with the
 * number of samples and the sum of periods for each event, titles and a line of dots, then a line
 * for each row, starting with its share of all periods.
 */
#include "output/report_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "output/report_chains.h"
#include "output/report_head.h"
#include "output/report_hierarchy.h"
#include "output/stream.h"
#include "output/view.h"

#define LEVEL_INDENT 3 /* of a hierarchy, as perf's */
#define TIME_WIDTH 12  /* at least; as in perf (hists__calc_col_len(), tools/perf/util/hist.c) */

#define RED "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[m"

struct writer {
	struct output_stream stream;
	const struct profile *profile;
	const struct report_text_options *options;
	size_t widths[REPORT_MAX_COLUMNS];
	struct buffer cell, share; /* text of a cell, and of the columns before the first key */
	bool share_kept;	   /* the latter is that of the row above */
	struct report_chains chains;
};

/* As perf: what separates columns stands for nothing else. */
static void replace_separators(const struct writer *writer, struct buffer *text)
{
	char separator = writer->options->separator ? *writer->options->separator : 0;

	for (size_t i = 0; separator && i < text->size; i++)
		if (text->data[i] == separator)
			text->data[i] = '.';
}

static void make_cell(struct writer *writer, const struct profile_row *row,
		      const struct report_column *column)
{
	buffer_clear(&writer->cell);
	view_append_cell(&writer->cell, writer->profile, row, column->key);
	replace_separators(writer, &writer->cell);
}

/* Rows of the same period are sorted by name, so most cells equal the ones above. */
static bool is_same_cell(const struct profile_row *left, const struct profile_row *right,
			 enum profile_key key)
{
	switch (key) {
	case PROFILE_COMM:
		return left->comm == right->comm && left->tid == right->tid;
	case PROFILE_DSO:
		return left->dso == right->dso;
	default:
		return false;
	}
}

/*
 * Functions that only occur in chains have no line if children are not wanted, nor has what has
 * decayed to nothing.
 */
static bool has_line(const struct writer *writer, const struct profile_row *row)
{
	return row->count || (writer->options->children && row->children);
}

/* Rows are sorted: the first ones. */
static size_t row_count(const struct writer *writer, const struct profile_event *event)
{
	size_t max_rows = writer->options->max_rows;

	return max_rows && max_rows < event->rows.count ? max_rows : event->rows.count;
}

static size_t measure_key(struct writer *writer, const struct profile_event *event,
			  const struct report_column *column)
{
	size_t widest = column->key == PROFILE_TIME
				? TIME_WIDTH
				: strlen(view_title(writer->profile, column->key));

	for (size_t i = 0; i < row_count(writer, event); i++) {
		const struct profile_row *row = &event->rows.items[i];
		size_t width;

		if (!has_line(writer, row) || (i && has_line(writer, row - 1) &&
					       is_same_cell(row - 1, row, column->key)))
			continue;
		make_cell(writer, row, column);
		width = view_text_width(&writer->cell);
		if (width > widest)
			widest = width;
	}
	return widest;
}

static void measure(struct writer *writer, const struct profile_event *event)
{
	const struct report_columns *columns = &writer->options->columns;

	for (size_t i = 0; i < columns->count; i++) {
		const struct report_column *column = &columns->items[i];

		if (column->width)
			writer->widths[i] = column->width;
		else if (column->field != REPORT_KEY)
			writer->widths[i] = report_field_width(column->field);
		else if (i + 1 < columns->count && !writer->options->separator)
			writer->widths[i] = measure_key(writer, event, column);
		else /* nothing follows the last column */
			writer->widths[i] = strlen(view_title(writer->profile, column->key));
	}
}

static void append_spaces(struct buffer *out, size_t count)
{
	void *room = buffer_extend(out, count);

	if (room)
		memset(room, ' ', count);
}

/* Like perf: 2439 samples are "2K". */
static void append_rounded(struct buffer *out, uint64_t value)
{
	static const char units[] = " KMGTPE";
	int unit = 0;

	for (; value >= 1000 && units[unit + 1]; value /= 1000)
		unit++;
	buffer_printf(out, "%" PRIu64, value);
	if (unit)
		buffer_printf(out, "%c", units[unit]);
}

/* What stands before column NUMBER. */
static void append_gap(struct writer *writer, struct buffer *out, size_t number)
{
	if (!writer->options->separator)
		buffer_append_string(out, "  ");
	else if (number)
		buffer_append_string(out, writer->options->separator);
}

/* TEXT in the width of column NUMBER, which it may exceed unless the user set it. */
static void append_text(struct writer *writer, struct buffer *out, size_t number,
			const struct buffer *text)
{
	const struct report_columns *columns = &writer->options->columns;
	size_t width = writer->widths[number], shown, bytes = text->size;
	bool right = columns->items[number].field != REPORT_KEY;
	bool last = !right && !columns->items[number].width && number + 1 == columns->count;

	if (writer->options->separator || last) {
		buffer_append(out, text->data, bytes);
		return;
	}
	shown = view_text_width(text);
	for (; !right && columns->items[number].width && shown > width; shown--)
		while (bytes && (text->data[--bytes] & 0xc0) == 0x80)
			;
	if (right && shown < width)
		append_spaces(out, width - shown);
	buffer_append(out, text->data, bytes);
	if (!right && shown < width && number + 1 < columns->count)
		append_spaces(out, width - shown);
}

static void append_titles(struct writer *writer, struct buffer *out)
{
	const struct report_columns *columns = &writer->options->columns;

	for (size_t i = 0; i < columns->count; i++) {
		const struct report_column *column = &columns->items[i];

		buffer_clear(&writer->cell);
		buffer_append_string(&writer->cell,
				     column->field == REPORT_KEY
					     ? view_title(writer->profile, column->key)
					     : report_field_title(columns, column->field));
		if (i)
			append_gap(writer, out, i);
		append_text(writer, out, i, &writer->cell);
	}
}

static void append_sums(struct buffer *out, const struct profile_event *event)
{
	buffer_append_string(out, "# Samples: ");
	append_rounded(out, event->total_samples);
	buffer_append_string(out, " of event '");
	utf8_append_escaped(out, event->name);
	buffer_printf(out, "'\n# Event count (approx.): %" PRIu64 "\n#\n# ", event->total_period);
}

static void write_event_header(struct writer *writer, const struct profile_event *event)
{
	struct buffer *out = &writer->stream.buffer;

	append_sums(out, event);
	append_titles(writer, out);
	if (writer->options->separator) {
		buffer_append_u8(out, '\n');
		return;
	}
	buffer_append_string(out, "\n# ");
	for (size_t i = 0; i < writer->options->columns.count; i++) {
		buffer_append_string(out, i ? "  " : "");
		for (size_t dots = 0; dots < writer->widths[i]; dots++)
			buffer_append_u8(out, '.');
	}
	buffer_append_string(out, "\n#\n");
}

/* Column NUMBER of ROW, which is no key. */
static void append_field(struct writer *writer, const struct profile_event *event,
			 const struct profile_row *row, size_t number)
{
	enum report_field field = writer->options->columns.items[number].field;
	const char *colour = NULL;

	if (writer->options->colour && (field == REPORT_CHILDREN || field == REPORT_OVERHEAD)) {
		double percent = report_field_percent(field, row, event->total_period);

		colour = percent >= 5.0 ? RED : percent >= 0.5 ? GREEN : NULL;
	}
	buffer_clear(&writer->cell);
	report_field_append(&writer->cell, field, row, event->total_period);
	append_gap(writer, &writer->share, number);
	if (colour)
		buffer_append_string(&writer->share, colour);
	append_text(writer, &writer->share, number, &writer->cell);
	if (colour)
		buffer_append_string(&writer->share, PLAIN);
}

/* The columns before the first key; most rows of a large profile have those of the row above. */
static size_t write_first_fields(struct writer *writer, const struct profile_event *event,
				 const struct profile_row *row)
{
	const struct report_columns *columns = &writer->options->columns;
	bool same = writer->share_kept && row != event->rows.items &&
		    row->period == row[-1].period && row->count == row[-1].count &&
		    row->children == row[-1].children && row->cycles == row[-1].cycles &&
		    row->instructions == row[-1].instructions && has_line(writer, row - 1);
	size_t count = 0;

	if (!same)
		buffer_clear(&writer->share);
	writer->share_kept = true;
	for (; count < columns->count && columns->items[count].field != REPORT_KEY; count++)
		if (!same)
			append_field(writer, event, row, count);
	buffer_append(&writer->stream.buffer, writer->share.data, writer->share.size);
	return count;
}

static void write_row(struct writer *writer, const struct profile_event *event,
		      const struct profile_row *row)
{
	struct buffer *out = &writer->stream.buffer;
	const struct report_columns *columns = &writer->options->columns;

	for (size_t i = write_first_fields(writer, event, row); i < columns->count; i++) {
		if (columns->items[i].field == REPORT_KEY) {
			append_gap(writer, out, i);
			make_cell(writer, row, &columns->items[i]);
			append_text(writer, out, i, &writer->cell);
			continue;
		}
		buffer_clear(&writer->share);
		append_field(writer, event, row, i);
		buffer_append(out, writer->share.data, writer->share.size);
		writer->share_kept = false;
	}
	buffer_append_u8(out, '\n');
}

/* Titles as perf has them: "Overhead  Command / Symbol"; each level is indented by 3. */
static void append_hierarchy_titles(struct writer *writer, struct buffer *out, size_t fields)
{
	const struct report_columns *columns = &writer->options->columns;
	size_t indent = LEVEL_INDENT * (columns->count - fields - 1);
	const char *separator = "  ";

	append_spaces(out, indent);
	for (size_t i = 0; i < fields; i++) {
		const char *title = report_field_title(columns, columns->items[i].field);

		append_spaces(out, (i ? 2 : 0) + writer->widths[i] - strlen(title));
		buffer_append_string(out, title);
	}
	for (size_t i = fields; i < columns->count; i++) {
		buffer_printf(out, "%s%s", separator,
			      view_title(writer->profile, columns->items[i].key));
		separator = " / ";
	}
	buffer_append_string(out, "\n#\n");
}

static void write_hierarchy(struct writer *writer, const struct profile_event *event)
{
	const struct report_columns *columns = &writer->options->columns;
	struct buffer *out = &writer->stream.buffer;
	struct profile_keys keys = { 0 };
	struct hierarchy hierarchy;
	size_t fields = 0;

	for (size_t i = 0; i < columns->count; i++) {
		writer->widths[i] = 0;
		if (columns->items[i].field == REPORT_KEY)
			profile_keys_add(&keys, columns->items[i].key);
		else
			writer->widths[fields++] = report_field_width(columns->items[i].field);
	}
	hierarchy_init(&hierarchy, writer->profile, event, &keys);
	if (!writer->options->rows_only) {
		append_sums(out, event);
		append_hierarchy_titles(writer, out, fields);
	}
	for (size_t i = 1; i < hierarchy.nodes.count && output_stream_line(&writer->stream); i++) {
		const struct hierarchy_node *node = &hierarchy.nodes.items[i];
		struct profile_row row = { .period = node->period, .count = node->count };

		if (report_field_percent(REPORT_OVERHEAD, &row, event->total_period) <
		    writer->options->min_percent)
			continue;
		append_spaces(out, LEVEL_INDENT * node->level);
		buffer_clear(&writer->share);
		for (size_t field = 0; field < fields; field++)
			append_field(writer, event, &row, field);
		buffer_append(out, writer->share.data, writer->share.size);
		append_spaces(out, 2 + LEVEL_INDENT * (keys.count - 1));
		buffer_append_string(out, intern_string(hierarchy.texts, node->text));
		buffer_append_u8(out, '\n');
	}
	buffer_append_u8(out, '\n');
	hierarchy_deinit(&hierarchy);
}

static void write_event(struct writer *writer, const struct profile_event *event)
{
	writer->share_kept = false;
	if (writer->options->hierarchy) {
		write_hierarchy(writer, event);
		return;
	}
	measure(writer, event);
	if (!writer->options->rows_only)
		write_event_header(writer, event);
	writer->chains.total = event->total_period;
	writer->chains.min_period =
		event->total_period * (writer->options->min_chain_percent / 100);
	for (size_t i = 0; i < row_count(writer, event); i++) {
		const struct profile_row *row = &event->rows.items[i];

		if (!report_row_is_shown(row, event->total_period, writer->options->children,
					 writer->options->min_percent))
			continue;
		write_row(writer, event, row);
		if (writer->options->chains &&
		    (writer->options->children ? row->children : row->period) >=
			    writer->chains.min_period)
			report_chains_append(&writer->chains, row);
		if (!output_stream_line(&writer->stream))
			return;
	}
	buffer_append_string(&writer->stream.buffer, "\n");
}

static enum profile_key first_key(const struct report_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].field == REPORT_KEY)
			return columns->items[i].key;
	return PROFILE_KEY_COUNT;
}

static void start_chains(struct writer *writer)
{
	const struct report_text_options *options = writer->options;
	struct callgraph_options graph = { .caller = options->caller,
					   .children = options->children };

	writer->chains = (struct report_chains){
		.graph = callgraph_create(writer->profile, &graph),
		.profile = writer->profile,
		.symbol_first = first_key(&options->columns) == PROFILE_SYMBOL,
		.children = options->children,
		.out = &writer->stream.buffer,
	};
}

struct error *report_text_write(int fd, const struct profile *profile,
				const struct report_text_options *options)
{
	struct writer writer = { .profile = profile, .options = options };

	output_stream_init(&writer.stream, fd);
	buffer_init(&writer.cell, 1024 * 1024);
	buffer_init(&writer.share, 64);
	if (options->chains)
		start_chains(&writer);
	if (!options->rows_only && options->heading)
		buffer_append_string(&writer.stream.buffer, options->heading);
	else if (!options->rows_only)
		report_head_append(&writer.stream.buffer, profile, options);
	for (size_t i = 0; i < profile->event_count && !writer.stream.closed; i++)
		if (profile->events[i].samples)
			write_event(&writer, &profile->events[i]);
	callgraph_destroy(writer.chains.graph);
	buffer_deinit(&writer.cell);
	buffer_deinit(&writer.share);
	return output_stream_finish(&writer.stream);
}
