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
#include "output/stream.h"
#include "output/view.h"

#define MAX_GUEST_LINES 16 /* in the header */

#define RED "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[m"

struct writer {
	struct output_stream stream;
	const struct profile *profile;
	const struct report_text_options *options;
	size_t widths[PROFILE_KEY_COUNT];
	struct buffer cell, share; /* text of a cell and of a share */
	struct report_chains chains;
};

/* Counts characters, not bytes, as a terminal shows UTF-8. */
static size_t text_width(const struct buffer *text)
{
	size_t width = 0;

	for (size_t i = 0; i < text->size; i++)
		width += (text->data[i] & 0xc0) != 0x80;
	return width;
}

static void make_cell(struct writer *writer, const struct profile_row *row, enum profile_key key)
{
	buffer_clear(&writer->cell);
	view_append_cell(&writer->cell, writer->profile, row, key);
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

/* Functions that only occur in chains have no line if children are not wanted. */
static bool has_line(const struct writer *writer, const struct profile_row *row)
{
	return row->count || writer->options->children;
}

static void measure(struct writer *writer, const struct profile_event *event)
{
	const struct profile_keys *keys = &writer->options->keys;

	for (size_t k = 0; k < keys->count; k++) {
		writer->widths[k] = strlen(view_title(keys->items[k]));
		if (k + 1 == keys->count)
			continue; /* nothing follows the last column */
		for (size_t i = 0; i < event->rows.count; i++) {
			const struct profile_row *row = &event->rows.items[i];
			size_t width;

			if (!has_line(writer, row) ||
			    (i && has_line(writer, row - 1) &&
			     is_same_cell(row - 1, row, keys->items[k])))
				continue;
			make_cell(writer, row, keys->items[k]);
			width = text_width(&writer->cell);
			if (width > writer->widths[k])
				writer->widths[k] = width;
		}
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

static void write_event_header(struct writer *writer, const struct profile_event *event)
{
	struct buffer *out = &writer->stream.buffer;
	const struct profile_keys *keys = &writer->options->keys;

	buffer_append_string(out, "# Samples: ");
	append_rounded(out, event->total_samples);
	buffer_append_string(out, " of event '");
	utf8_append_escaped(out, event->name);
	buffer_printf(out, "'\n# Event count (approx.): %" PRIu64 "\n#\n# %s", event->total_period,
		      writer->options->children ? "Children      Self" : "Overhead");
	for (size_t k = 0; k < keys->count; k++) {
		const char *title = view_title(keys->items[k]);

		buffer_printf(out, "  %s", title);
		if (k + 1 < keys->count)
			append_spaces(out, writer->widths[k] - strlen(title));
	}
	buffer_append_string(out, writer->options->children ? "\n# ........  ........"
							    : "\n# ........");
	for (size_t k = 0; k < keys->count; k++) {
		buffer_append_string(out, "  ");
		for (size_t i = 0; i < writer->widths[k]; i++)
			buffer_append_u8(out, '.');
	}
	buffer_append_string(out, "\n#\n");
}

static void append_share(struct writer *writer, double percent)
{
	const char *colour = percent >= 5.0 ? RED : percent >= 0.5 ? GREEN : NULL;

	if (!writer->options->colour || !colour)
		buffer_printf(&writer->share, "  %7.2f%%", percent);
	else
		buffer_printf(&writer->share, "  %s%7.2f%%%s", colour, percent, PLAIN);
}

static double percent_of(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

static void make_shares(struct writer *writer, const struct profile_event *event,
			const struct profile_row *row)
{
	buffer_clear(&writer->share);
	if (writer->options->children)
		append_share(writer, percent_of(row->children, event->total_period));
	append_share(writer, percent_of(row->period, event->total_period));
}

static void write_row(struct writer *writer, const struct profile_event *event,
		      const struct profile_row *row)
{
	struct buffer *out = &writer->stream.buffer;
	const struct profile_keys *keys = &writer->options->keys;

	/* Most rows of a large profile have the same period as the one above. */
	if (row == event->rows.items || row->period != row[-1].period ||
	    row->children != row[-1].children)
		make_shares(writer, event, row);
	buffer_append(out, writer->share.data, writer->share.size);
	for (size_t k = 0; k < keys->count; k++) {
		make_cell(writer, row, keys->items[k]);
		buffer_append_string(out, "  ");
		buffer_append(out, writer->cell.data, writer->cell.size);
		if (k + 1 < keys->count)
			append_spaces(out, writer->widths[k] - text_width(&writer->cell));
	}
	buffer_append_u8(out, '\n');
}

static bool is_shown(const struct writer *writer, const struct profile_event *event,
		     const struct profile_row *row)
{
	uint64_t period = writer->options->children ? row->children : row->period;

	return has_line(writer, row) && percent_of(period, event->total_period) >=
						writer->options->min_percent;
}

static void write_event(struct writer *writer, const struct profile_event *event)
{
	measure(writer, event);
	write_event_header(writer, event);
	writer->chains.total = event->total_period;
	writer->chains.min_period =
		event->total_period * (writer->options->min_chain_percent / 100);
	for (size_t i = 0; i < event->rows.count; i++) {
		const struct profile_row *row = &event->rows.items[i];

		if (!is_shown(writer, event, row))
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

static void append_line(struct buffer *out, const char *title, const char *text)
{
	if (!*text)
		return;
	buffer_printf(out, "# %s: ", title);
	utf8_append_escaped(out, text);
	buffer_append_u8(out, '\n');
}

/* What runs in the VMs, as far as known. */
static void append_guests(struct buffer *out, const struct perfdata_inventory *inventory)
{
	size_t known = 0;

	for (size_t i = 0; i < inventory->vms.count; i++) {
		const struct perfdata_vm *vm = &inventory->vms.items[i];

		if (!*vm->kernel_release || ++known > MAX_GUEST_LINES)
			continue;
		buffer_append_string(out, "# Guest: ");
		utf8_append_escaped(out, vm->name);
		buffer_printf(out, " (%" PRIu32 "), Linux ", vm->pid);
		utf8_append_escaped(out, vm->kernel_release);
		buffer_append_string(out, *vm->host_name ? ", host name " : "");
		utf8_append_escaped(out, vm->host_name);
		buffer_append_u8(out, '\n');
	}
	if (known > MAX_GUEST_LINES)
		buffer_printf(out, "# Guest: … and %zu more\n", known - MAX_GUEST_LINES);
}

static void append_inventory(struct buffer *out, const struct perfdata_inventory *inventory)
{
	append_line(out, "Event chosen", inventory->event_choice);
	append_guests(out, inventory);
	if (inventory->no_memory)
		append_line(out, "Note", "guest memory was not read (--no-memory)");
	else if (inventory->kernel_only)
		append_line(out, "Note", "guest processes were not read (--kernel-only)");
}

static void append_chain_ends(struct buffer *out, const struct profile_totals *totals)
{
	_cleanup_buffer_ struct buffer text;

	buffer_init(&text, 1024);
	if (!view_append_chain_ends(&text, totals))
		return;
	buffer_append_string(out, "\n# Guest call chains: ");
	buffer_append(out, text.data, text.size);
}

static void write_header(struct writer *writer)
{
	struct buffer *out = &writer->stream.buffer;
	struct perfdata_reader *reader = writer->profile->session->reader;
	const struct perfdata_features *features = perfdata_reader_features(reader);
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(reader);

	append_line(out, "Recording", writer->options->path);
	append_line(out, "Host", features->hostname);
	append_line(out, "Host kernel", features->osrelease);
	append_line(out, "Command line", features->cmdline);
	if (inventory)
		append_inventory(out, inventory);
	for (const char *const *note = writer->options->notes; note && *note; note++)
		append_line(out, "Note", *note);
	buffer_append_string(out, "#\n# Totals: ");
	view_append_totals(out, &writer->profile->totals);
	append_chain_ends(out, &writer->profile->totals);
	buffer_append_string(out, "\n#\n");
}

static void start_chains(struct writer *writer)
{
	const struct report_text_options *options = writer->options;
	struct callgraph_options graph = { .caller = options->caller,
					   .children = options->children };

	writer->chains = (struct report_chains){
		.graph = callgraph_create(writer->profile, &graph),
		.profile = writer->profile,
		.symbol_first = options->keys.count && options->keys.items[0] == PROFILE_SYMBOL,
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
	write_header(&writer);
	for (size_t i = 0; i < profile->event_count && !writer.stream.closed; i++)
		if (profile->events[i].samples)
			write_event(&writer, &profile->events[i]);
	callgraph_destroy(writer.chains.graph);
	buffer_deinit(&writer.cell);
	buffer_deinit(&writer.share);
	return output_stream_finish(&writer.stream);
}
