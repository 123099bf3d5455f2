/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "annotate/annotation_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/*
 * As in perf, instructions with no larger share do not count for their lines (tools/perf/util
 * /annotate.c, annotation__calc_lines()).
 */
#define SUMMARY_PERCENT 0.5
#define SOURCE_MAX_BYTES 500 /* of a line that are shown */

static const char *string_of(const struct annotation *annotation, uint32_t number)
{
	return intern_string(annotation->functions->session->strings, number);
}

static const char *event_name(const struct annotation *annotation)
{
	return perfdata_reader_event(annotation->functions->session->reader,
				     annotation->samples->event)->name;
}

void annotation_text_instruction(struct buffer *out, const struct annotation *annotation,
				 size_t index)
{
	buffer_printf(out, "%6" PRIx64 ":   %s",
		      annotation->instructions.items.items[index].address,
		      instruction_text(&annotation->instructions, index));
}

bool annotation_text_place(struct buffer *out, const struct annotation *annotation, size_t index)
{
	const struct annotated_instruction *at = &annotation->items[index];

	if (!at->function && !at->place)
		return false;
	if (at->function) {
		utf8_append_escaped(out, string_of(annotation, at->function));
		buffer_append_string(out, "()");
	}
	if (at->place) {
		buffer_append_string(out, at->function ? " " : "");
		utf8_append_escaped(out, string_of(annotation, at->place));
	}
	return true;
}

bool annotation_text_source(struct buffer *out, const struct annotation *annotation, size_t index)
{
	const struct annotated_instruction *at = &annotation->items[index];
	_cleanup_free_ char *text = NULL;

	if (!at->text)
		return false;
	text = memory_strndup(at->text, at->text_bytes < SOURCE_MAX_BYTES ? at->text_bytes
									  : SOURCE_MAX_BYTES);
	buffer_printf(out, "%-4" PRIu32 " ", at->line);
	utf8_append_escaped(out, text);
	return true;
}

void annotation_text_title(struct buffer *out, const struct annotation *annotation)
{
	const struct machine *vm = annotation_vm(annotation);

	utf8_append_escaped(out, annotation_symbol(annotation));
	buffer_append_string(out, " of ");
	utf8_append_escaped(out, annotation_dso(annotation));
	if (vm) {
		buffer_append_string(out, " of VM ");
		utf8_append_escaped(out, vm->name);
	}
	buffer_printf(out, ": %" PRIu64 " samples of ", annotation->samples->count);
	utf8_append_escaped(out, event_name(annotation));
	buffer_append_string(out, ", code of ");
	utf8_append_escaped(out, annotation->code.source);
}

struct line_share {
	uint32_t place;
	uint64_t period;
};

static int compare_places(const void *left_data, const void *right_data)
{
	const struct line_share *left = left_data, *right = right_data;

	return (left->place > right->place) - (left->place < right->place);
}

static int compare_shares(const void *left_data, const void *right_data)
{
	const struct line_share *left = left_data, *right = right_data;

	if (left->period != right->period)
		return left->period < right->period ? 1 : -1;
	return compare_places(left, right);
}

/* The periods of source lines, one entry for each line. Returns how many. */
static size_t sum_lines(const struct annotation *annotation, struct line_share *ret)
{
	size_t count = annotation->instructions.items.count, kept = 0;
	uint32_t place = 0;

	for (size_t i = 0; i < count; i++) {
		if (annotation->items[i].place)
			place = annotation->items[i].place;
		ret[i].place = place;
		if (annotation_percent(annotation, i) > SUMMARY_PERCENT)
			ret[i].period = annotation->items[i].period;
	}
	qsort(ret, count, sizeof(*ret), compare_places);
	for (size_t i = 0; i < count; i++) {
		if (kept && ret[kept - 1].place == ret[i].place)
			ret[kept - 1].period += ret[i].period;
		else
			ret[kept++] = ret[i];
	}
	qsort(ret, kept, sizeof(*ret), compare_shares);
	return kept;
}

static void append_summary(struct buffer *out, const struct annotation *annotation)
{
	size_t count = annotation->instructions.items.count;
	_cleanup_free_ struct line_share *lines = memory_calloc(count, sizeof(*lines));

	count = sum_lines(annotation, lines);
	buffer_append_string(out, "\nSorted summary for file ");
	utf8_append_escaped(out, annotation_dso(annotation));
	buffer_append_string(out, "\n----------------------------------------------\n\n");
	for (size_t i = 0; i < count; i++) {
		double percent = 100.0 * lines[i].period / (double)annotation->samples->period;

		if (!lines[i].place || !lines[i].period)
			continue;
		buffer_printf(out, "%8.2f ", percent);
		utf8_append_escaped(out, string_of(annotation, lines[i].place));
		buffer_append_u8(out, '\n');
	}
}

static void append_head(struct buffer *out, const struct annotation *annotation,
			const struct annotation_text_options *options)
{
	const struct machine *vm = annotation_vm(annotation);
	size_t start = out->size, width;

	buffer_append_string(out, options->sample_counts ? " Samples |" : " Percent |");
	buffer_append_string(out, "\tSource code & Disassembly of ");
	utf8_append_escaped(out, annotation_dso(annotation));
	buffer_append_string(out, " for ");
	utf8_append_escaped(out, event_name(annotation));
	buffer_printf(out, " (%" PRIu64 " samples, percent: local period)\n",
		      annotation->samples->count);
	width = out->size - start + 7; /* the tab's */
	for (size_t i = 1; i < width; i++)
		buffer_append_u8(out, '-');
	buffer_append_string(out, "\n         :\n         :   code of ");
	utf8_append_escaped(out, annotation->code.source);
	if (vm) {
		buffer_append_string(out, ", VM ");
		utf8_append_escaped(out, vm->name);
	}
	buffer_printf(out, "\n         :\n         :   %016" PRIx64 " <",
		      annotation->code.address);
	utf8_append_escaped(out, annotation_symbol(annotation));
	buffer_append_string(out, ">:\n");
}

/* What is above instruction INDEX, in lines of their own: its place, and what stands there. */
static void append_source(struct buffer *out, const struct annotation *annotation, size_t index)
{
	size_t start = out->size;

	buffer_append_string(out, "         :   ");
	if (!annotation_text_place(out, annotation, index)) {
		out->size = start;
		return;
	}
	buffer_append_string(out, "\n         : ");
	start = out->size;
	if (annotation_text_source(out, annotation, index))
		buffer_append_u8(out, '\n');
	else
		out->size = start - strlen("         : ");
}

static void append_lines(struct buffer *out, const struct annotation *annotation,
			 const struct annotation_text_options *options)
{
	for (size_t i = 0; i < annotation->instructions.items.count; i++) {
		append_source(out, annotation, i);
		if (options->sample_counts)
			buffer_printf(out, "%8" PRIu64 " : ", annotation->items[i].count);
		else
			buffer_printf(out, "%8.2f : ", annotation_percent(annotation, i));
		annotation_text_instruction(out, annotation, i);
		buffer_append_u8(out, '\n');
	}
}

void annotation_text_append(struct buffer *out, const struct annotation *annotation,
			    const struct annotation_text_options *options)
{
	if (options->line_summary)
		append_summary(out, annotation);
	append_head(out, annotation, options);
	append_lines(out, annotation, options);
	if (annotation->code.cut)
		buffer_append_string(out, "         :   the rest of the function is not there\n");
	if (annotation->outside)
		buffer_printf(out, "         :   %" PRIu64 " samples are at addresses that are not "
			      "shown\n", annotation->outside);
}
