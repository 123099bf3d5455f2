/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same as the text, for programs: times in nanoseconds, null for what is not known. */
#include "output/exits_text.h"

#include "output/json.h"

/* Pairs: the shortest time, and how many took that or more, and less than the next power of two. */
static void write_histogram(struct json *json, const struct exits_row *row)
{
	json_open_line(json, "histogram");
	for (size_t i = 0; row->histogram && i < EXITS_BUCKETS; i++) {
		if (!row->histogram[i])
			continue;
		json_open_line(json, NULL);
		json_unsigned(json, NULL, i ? UINT64_C(1) << (i - 1) : 0);
		json_unsigned(json, NULL, row->histogram[i]);
		json_close(json);
	}
	json_close(json);
}

static void write_row(struct json *json, const struct exits_view *view,
		      const struct exits_row *row)
{
	const struct intern *strings = view->session->strings;

	json_open_object(json, NULL);
	if (view->keys & EXITS_BY_REASON)
		json_string(json, "reason", intern_string(strings, row->reason));
	if (view->keys & EXITS_BY_SYMBOL)
		json_string(json, "gsym", intern_string(strings, row->symbol));
	if (view->keys & EXITS_BY_VCPU) {
		json_string(json, "vm", row->vm ? row->vm->name : NULL);
		if (row->vcpu == EXIT_NO_VCPU)
			json_null(json, "vcpu");
		else
			json_unsigned(json, "vcpu", row->vcpu);
	}
	json_unsigned(json, "samples", row->count);
	json_unsigned(json, "timed", row->timed);
	json_unsigned(json, "total_ns", row->total_ns);
	json_unsigned(json, "min_ns", row->min_ns);
	json_unsigned(json, "median_ns", row->median_ns);
	json_unsigned(json, "p99_ns", row->p99_ns);
	json_unsigned(json, "max_ns", row->max_ns);
	write_histogram(json, row);
	json_close(json);
}

void exits_json_write(FILE *out, const struct exits_view *view)
{
	struct json json;

	json_init(&json, out);
	json_open_object(&json, NULL);
	json_string(&json, "event", exits_event_words[view->event]);
	json_unsigned(&json, "samples", view->exits->count);
	json_unsigned(&json, "total_ns", view->exits->total_ns);
	json_unsigned(&json, "unpaired", view->exits->unpaired);
	json_unsigned(&json, "lost", view->session->lost);
	json_open_array(&json, "rows");
	for (size_t i = 0; i < view->exits->rows.count; i++)
		write_row(&json, view, &view->exits->rows.items[i]);
	json_close(&json);
	json_close(&json);
}
