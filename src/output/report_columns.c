/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words and titles are perf's (tools/perf/ui/hist.c, util/sort.c: hpp_sort_dimensions[]), but for
 * ipc, which perf has only of branches.
 */
#include "output/report_columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MAX_WIDTH 10000
#define OTHER_WORDS "overhead, overhead_children, sample, period, ipc, "

static const struct {
	const char *word, *title;
	size_t width;
} fields[] = {
	[REPORT_CHILDREN] = { "overhead_children", "Children", 8 },
	[REPORT_OVERHEAD] = { "overhead", "Overhead", 8 },
	[REPORT_SAMPLES] = { "sample", "Samples", 12 },
	[REPORT_PERIOD] = { "period", "Period", 12 },
	[REPORT_IPC] = { "ipc", "IPC", 6 },
};

size_t report_field_width(enum report_field field)
{
	return fields[field].width;
}

bool report_columns_have(const struct report_columns *columns, enum report_field field)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].field == field)
			return true;
	return false;
}

const char *report_field_title(const struct report_columns *columns, enum report_field field)
{
	if (field == REPORT_OVERHEAD && columns->usual &&
	    report_columns_have(columns, REPORT_CHILDREN))
		return "Self";
	return fields[field].title;
}

double report_field_percent(enum report_field field, const struct profile_row *row, uint64_t total)
{
	return total ? 100.0 * (field == REPORT_CHILDREN ? row->children : row->period) / total : 0;
}

bool report_row_is_shown(const struct profile_row *row, uint64_t total, bool children,
			 double min_percent)
{
	enum report_field share = children ? REPORT_CHILDREN : REPORT_OVERHEAD;

	return (row->count || children) && report_field_percent(share, row, total) >= min_percent;
}

void report_field_append(struct buffer *out, enum report_field field,
			 const struct profile_row *row, uint64_t total)
{
	switch (field) {
	case REPORT_CHILDREN:
	case REPORT_OVERHEAD:
		buffer_printf(out, "%.2f%%", report_field_percent(field, row, total));
		break;
	case REPORT_SAMPLES:
		buffer_printf(out, "%" PRIu64, row->count);
		break;
	case REPORT_PERIOD:
		buffer_printf(out, "%" PRIu64, row->period);
		break;
	case REPORT_IPC:
		if (row->cycles)
			buffer_printf(out, "%.2f", (double)row->instructions / row->cycles);
		else
			buffer_append_string(out, "-");
		break;
	case REPORT_KEY:
		break;
	}
}

void report_columns_add(struct report_columns *columns, enum report_field field,
			enum profile_key key)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].field == field && columns->items[i].key == key)
			return;
	columns->items[columns->count++] = (struct report_column){ .field = field, .key = key };
}

static bool parse_field(const char *word, enum report_field *ret)
{
	for (int i = 0; i < REPORT_KEY; i++) {
		if (!strcmp(fields[i].word, word)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

struct error *report_columns_parse(const char *text, struct sample_texts *texts,
				   struct report_columns *ret)
{
	_cleanup_free_ char *copy = memory_strdup(text);
	char *rest = copy, *word;
	struct error *error = NULL;

	while (!error && (word = strsep(&rest, ","))) {
		enum profile_key key = 0;
		enum report_field field = REPORT_KEY;

		if (!parse_field(word, &field))
			error = sample_texts_find_key(texts, "-F", OTHER_WORDS, word, &key);
		if (!error)
			report_columns_add(ret, field, key);
	}
	return error;
}

struct error *report_columns_set_widths(const char *text, struct report_columns *columns)
{
	for (size_t i = 0;; i++) {
		char *end;
		unsigned long width = strtoul(text, &end, 10);

		if (*text < '0' || *text > '9' || (*end && *end != ',') || width > MAX_WIDTH)
			return error_create(ERROR_USAGE,
					    "-w takes widths separated by commas, 0 for a column's "
					    "own, not '%s'", text);
		if (i < columns->count)
			columns->items[i].width = width;
		if (!*end)
			return NULL;
		text = end + 1;
	}
}
