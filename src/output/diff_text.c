/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/diff_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "compare/function_name.h"
#include "output/stream.h"
#include "output/view.h"

#define RED "\033[31m"
#define GREEN "\033[32m"
#define FAINT "\033[2m"
#define PLAIN "\033[m"

enum field { BASELINE, PERIOD, DIFFERENCE, MARGIN, CERTAIN, KEY };

struct column {
	enum field field;
	size_t side;
	enum profile_key key;
	size_t width;
};

#define MAX_COLUMNS (1 + 4 * COMPARISON_MAX_SIDES + PROFILE_KEY_COUNT)

struct writer {
	struct output_stream stream;
	const struct comparison *comparison;
	const struct diff_text_options *options;
	struct column columns[MAX_COLUMNS];
	size_t column_count;
	struct buffer cell;
};

static const struct {
	const char *title;
	size_t width;
} methods[] = {
	[COMPARISON_DELTA] = { "Delta", 7 },
	[COMPARISON_DELTA_ABS] = { "Delta Abs", 9 },
	[COMPARISON_RATIO] = { "Ratio", 14 },
	[COMPARISON_WDIFF] = { "Weighted diff", 14 },
};

static bool shows_shares(const struct writer *writer)
{
	return writer->options->order.method == COMPARISON_DELTA ||
	       writer->options->order.method == COMPARISON_DELTA_ABS;
}

static void append_title(const struct writer *writer, struct buffer *out,
			 const struct column *column)
{
	switch (column->field) {
	case BASELINE:
		buffer_append_string(out, "Baseline");
		break;
	case PERIOD:
		buffer_append_string(out, column->side ? "Period" : "Base period");
		break;
	case DIFFERENCE:
		buffer_append_string(out, methods[writer->options->order.method].title);
		break;
	case MARGIN:
		buffer_append_string(out, "+/- 95%");
		break;
	case CERTAIN:
		buffer_append_string(out, "Certain");
		break;
	case KEY:
		buffer_append_string(out, view_title(writer->comparison->sides->profile,
						     column->key));
		return;
	}
	if (writer->comparison->side_count > 2)
		buffer_printf(out, "/%zu", column->side);
}

static void append_difference(const struct writer *writer, struct buffer *out,
			      const struct comparison_row *row, size_t side)
{
	const struct comparison_order *order = &writer->options->order;
	double value;

	if (!comparison_value(row, side, order, &value)) {
		if (row->cells[side].count) /* as perf; nothing if only the baseline has it */
			buffer_append_string(out, "N/A");
		return;
	}
	switch (order->method) {
	case COMPARISON_DELTA:
	case COMPARISON_DELTA_ABS:
		buffer_printf(out, "%+.2f%%", 100 * value);
		break;
	case COMPARISON_RATIO:
		buffer_printf(out, "%.6f", value);
		break;
	case COMPARISON_WDIFF:
		buffer_printf(out, "%.0f", value);
		break;
	}
}

/* The symbol without what compilers add to its name, because it stands for all such parts. */
static void append_symbol(const struct writer *writer, struct buffer *out,
			  const struct comparison_row *row)
{
	struct resolver *resolver = writer->comparison->sides[row->shown_side].profile->resolver;
	const char *name = resolver_symbol_name(resolver, row->shown->location);

	buffer_printf(out, "[%c] ", view_mode_letter(row->shown->cpumode));
	if (name) {
		_cleanup_free_ char *copy = memory_strndup(name, function_name_length(name));

		utf8_append_escaped(out, copy);
	} else {
		buffer_append_string(out, "[unknown]");
	}
}

static void append_cell(const struct writer *writer, struct buffer *out,
			const struct comparison_row *row, const struct column *column)
{
	const struct comparison_cell *cell = &row->cells[column->side];

	switch (column->field) {
	case BASELINE:
		if (cell->count)
			buffer_printf(out, "%.2f%%", 100 * cell->evidence.share);
		break;
	case PERIOD:
		buffer_printf(out, "%" PRIu64, cell->period);
		break;
	case DIFFERENCE:
		append_difference(writer, out, row, column->side);
		break;
	case MARGIN:
		if (cell->judged)
			buffer_printf(out, "%.2f%%", 100 * cell->difference.margin);
		break;
	case CERTAIN:
		buffer_append_string(out, !cell->judged ? "few" : cell->certain ? "yes" : "no");
		break;
	case KEY:
		if (column->key == PROFILE_SYMBOL)
			append_symbol(writer, out, row);
		else
			view_append_cell(out,
					 writer->comparison->sides[row->shown_side].profile,
					 row->shown, column->key);
		break;
	}
}

static void make_cell(struct writer *writer, const struct comparison_row *row,
		      const struct column *column)
{
	char separator = writer->options->separator ? *writer->options->separator : 0;

	buffer_clear(&writer->cell);
	if (row)
		append_cell(writer, &writer->cell, row, column);
	else
		append_title(writer, &writer->cell, column);
	for (size_t i = 0; separator && i < writer->cell.size; i++)
		if (writer->cell.data[i] == separator)
			writer->cell.data[i] = '.';
}

static bool is_shown(const struct writer *writer, const struct comparison_row *row)
{
	double highest = 0;

	if (writer->options->baseline_only && !row->cells->count)
		return false;
	for (size_t i = 0; i < writer->comparison->side_count; i++)
		highest = fmax(highest, 100 * row->cells[i].evidence.share);
	return highest >= writer->options->min_percent;
}

static void add_column(struct writer *writer, enum field field, size_t side, enum profile_key key)
{
	static const size_t widths[] = { [BASELINE] = 8, [PERIOD] = 14, [MARGIN] = 7,
					 [CERTAIN] = 7 };
	struct column *column = &writer->columns[writer->column_count++];
	size_t width;

	*column = (struct column){ .field = field, .side = side, .key = key };
	if (field == DIFFERENCE)
		column->width = methods[writer->options->order.method].width;
	else if (field != KEY)
		column->width = widths[field];
	make_cell(writer, NULL, column);
	width = view_text_width(&writer->cell);
	column->width = width > column->width ? width : column->width;
}

static void choose_columns(struct writer *writer)
{
	const struct comparison *comparison = writer->comparison;

	add_column(writer, BASELINE, 0, 0);
	if (writer->options->periods)
		add_column(writer, PERIOD, 0, 0);
	for (size_t i = 1; i < comparison->side_count; i++) {
		add_column(writer, DIFFERENCE, i, 0);
		if (writer->options->periods)
			add_column(writer, PERIOD, i, 0);
		if (shows_shares(writer))
			add_column(writer, MARGIN, i, 0);
		add_column(writer, CERTAIN, i, 0);
	}
	for (size_t i = 0; i < comparison->keys.count; i++)
		add_column(writer, KEY, 0, comparison->keys.items[i]);
}

/* Columns of keys are as wide as their widest cell; nothing follows the last one. */
static void measure(struct writer *writer)
{
	for (size_t i = 0; i + 1 < writer->column_count; i++) {
		struct column *column = &writer->columns[i];

		for (size_t j = 0; column->field == KEY && j < writer->comparison->rows.count;
		     j++) {
			const struct comparison_row *row = &writer->comparison->rows.items[j];
			size_t width;

			if (!is_shown(writer, row))
				continue;
			make_cell(writer, row, column);
			width = view_text_width(&writer->cell);
			column->width = width > column->width ? width : column->width;
		}
	}
}

static void append_repeated(struct buffer *out, char character, size_t count)
{
	void *room = buffer_extend(out, count);

	if (room)
		memset(room, character, count);
}

/* A row of cells, or with ROW NULL the titles. */
static void write_cells(struct writer *writer, const struct comparison_row *row)
{
	struct buffer *out = &writer->stream.buffer;

	for (size_t i = 0; i < writer->column_count; i++) {
		const struct column *column = &writer->columns[i];
		size_t width;

		make_cell(writer, row, column);
		width = view_text_width(&writer->cell);
		if (writer->options->separator) {
			buffer_append_string(out, i ? writer->options->separator : "");
			width = column->width;
		} else if (i || row) {
			buffer_append_string(out, "  ");
		}
		if (column->field != KEY && width < column->width)
			append_repeated(out, ' ', column->width - width);
		buffer_append(out, writer->cell.data, writer->cell.size);
		if (column->field == KEY && width < column->width && i + 1 < writer->column_count)
			append_repeated(out, ' ', column->width - width);
	}
}

static void write_row(struct writer *writer, const struct comparison_row *row)
{
	struct buffer *out = &writer->stream.buffer;
	const char *colour = FAINT;

	for (size_t i = 1; i < writer->comparison->side_count; i++)
		if (row->cells[i].certain)
			colour = row->cells[i].difference.delta > 0 ? RED : GREEN;
	if (writer->options->colour)
		buffer_append_string(out, colour);
	write_cells(writer, row);
	if (writer->options->colour)
		buffer_append_string(out, PLAIN);
	buffer_append_u8(out, '\n');
}

static void write_head(struct writer *writer, const char *name)
{
	struct buffer *out = &writer->stream.buffer;

	buffer_append_string(out, "# Event '");
	utf8_append_escaped(out, name);
	buffer_append_string(out, "'\n#\n# Data files:\n");
	for (size_t i = 0; i < writer->comparison->side_count; i++) {
		const struct profile_event *event = writer->comparison->sides[i].event;
		const struct judgement_time *time = writer->comparison->sides[i].time;

		buffer_printf(out, "#  [%zu] ", i);
		utf8_append_escaped(out, writer->options->labels[i]);
		buffer_printf(out, ", %" PRIu64 " samples", event ? event->total_samples : 0);
		if (time && event)
			buffer_printf(out, ", %.1f s, %.3f CPUs", time->span_ns / 1e9,
				      (double)event->period / time->span_ns);
		buffer_append_string(out, i ? "\n" : " (Baseline)\n");
	}
	if (writer->comparison->sides->time)
		buffer_append_string(out, "#\n# Percentages are of time: 100 % is a CPU that was "
					  "busy all the time.\n");
	buffer_printf(out,
		      "#\n# Certain: whether a difference is more than chance. If nothing "
		      "differed, a row would say\n# yes in at most %.0f %% of all cases; so a "
		      "row may say no although its own interval is\n# apart from 0. Fewer than %d "
		      "samples are too few to judge.\n#\n# ",
		      100 * COMPARISON_ALPHA, SHARE_MIN_SAMPLES);
	write_cells(writer, NULL);
	buffer_append_u8(out, '\n');
	if (writer->options->separator)
		return;
	buffer_append_string(out, "# ");
	for (size_t i = 0; i < writer->column_count; i++) {
		buffer_append_string(out, i ? "  " : "");
		append_repeated(out, '.', writer->columns[i].width);
	}
	buffer_append_string(out, "\n#\n");
}

struct error *diff_text_write(int fd, const struct comparison *comparison, const char *name,
			      const struct diff_text_options *options)
{
	struct writer writer = { .comparison = comparison, .options = options };

	output_stream_init(&writer.stream, fd);
	buffer_init(&writer.cell, 1024 * 1024);
	choose_columns(&writer);
	if (!options->separator)
		measure(&writer);
	write_head(&writer, name);
	for (size_t i = 0; i < comparison->rows.count && output_stream_line(&writer.stream); i++)
		if (is_shown(&writer, &comparison->rows.items[i]))
			write_row(&writer, &comparison->rows.items[i]);
	buffer_append_u8(&writer.stream.buffer, '\n');
	buffer_deinit(&writer.cell);
	return output_stream_finish(&writer.stream);
}
