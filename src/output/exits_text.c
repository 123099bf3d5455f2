/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Up to the average, a line is perf's, column for column (print_result() in
 * tools/perf/builtin-kvm.c). Names are not cut off, as perf's are after 19 or 39 characters.
 */
#include "output/exits_text.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "output/stream.h"

#define NAME_WIDTH 20
#define PPC64_NAME_WIDTH 40
#define NAME_MAX_BYTES 65536
#define PERF_PADDING 9 /* perf's title "Avg time" is narrower than what is below it */

const char *const exits_event_words[] = { "vmexit", "mmio", "ioport", "msr", "hypercall" };

static const char *const titles[] = { "VM-EXIT", "MMIO Access", "IO Port Access", "MSR Access",
				      "HCALL-EVENT" };

struct writer {
	struct output_stream stream;
	const struct exits_view *view;
	int name_width, vm_width;
	struct buffer name;
};

/* TEXT, fit for terminals, without its end if it is long. Valid until the next call. */
static const char *printable(struct writer *writer, const char *text)
{
	struct buffer *name = &writer->name;

	buffer_clear(name);
	utf8_append_escaped(name, text);
	name->overflow = false;
	if (name->size == name->max_bytes)
		name->size--;
	buffer_append_u8(name, 0);
	return (const char *)name->data;
}

static const char *string_of(struct writer *writer, uint32_t number)
{
	return printable(writer, intern_string(writer->view->session->strings, number));
}

static const char *vm_of(struct writer *writer, const struct exits_row *row)
{
	return printable(writer, row->vm ? row->vm->name : "-");
}

static void measure(struct writer *writer)
{
	const struct exits *exits = writer->view->exits;

	for (size_t i = 0; i < exits->rows.count; i++) {
		int width = utf8_count(vm_of(writer, &exits->rows.items[i]));

		if (width > writer->vm_width)
			writer->vm_width = width;
		if (exits->rows.items[i].isa == EXIT_ISA_PPC64)
			writer->name_width = PPC64_NAME_WIDTH;
	}
}

static void write_head(struct writer *writer)
{
	const struct exits_view *view = writer->view;
	struct buffer *out = &writer->stream.buffer;

	buffer_append_string(out, "\n\nAnalyze events for ");
	for (size_t i = 0; i < view->vms->count; i++) {
		buffer_append_string(out, i ? ", " : "VM ");
		utf8_append_escaped(out, view->vms->items[i]->name);
	}
	buffer_printf(out, "%s, ", view->vms->count ? "" : "all VMs");
	if (view->vcpus)
		buffer_printf(out, "VCPU %s:\n\n", view->vcpus);
	else
		buffer_append_string(out, "all VCPUs:\n\n");
	if (view->keys & EXITS_BY_REASON)
		buffer_printf(out, "%*s ", writer->name_width, titles[view->event]);
	buffer_printf(out, "%10s %9s %9s %11s %11s %16s %*s %11s %11s %14s", "Samples",
		      "Samples%", "Time%", "Min Time", "Max Time", "Avg time", PERF_PADDING, "",
		      "Median", "P99", "Total time");
	if (view->keys & EXITS_BY_VCPU)
		buffer_printf(out, "  VCPU  %-*s", writer->vm_width, "VM");
	if (view->keys & EXITS_BY_SYMBOL)
		buffer_append_string(out, "  Guest Symbol");
	buffer_append_string(out, "\n\n");
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? (double)part / all * 100 : 0;
}

static void write_keys(struct writer *writer, const struct exits_row *row)
{
	struct buffer *out = &writer->stream.buffer;
	const char *name;

	if (writer->view->keys & EXITS_BY_VCPU) {
		if (row->vcpu == EXIT_NO_VCPU)
			buffer_printf(out, "  %4s", "-");
		else
			buffer_printf(out, "  %4" PRIu32, row->vcpu);
		name = vm_of(writer, row);
		buffer_printf(out, "  %s%*s", name, writer->vm_width - (int)utf8_count(name), "");
	}
	if (writer->view->keys & EXITS_BY_SYMBOL)
		buffer_printf(out, "  %s", string_of(writer, row->symbol));
}

static void write_row(struct writer *writer, const struct exits_row *row)
{
	const struct exits_view *view = writer->view;
	struct buffer *out = &writer->stream.buffer;

	if (view->keys & EXITS_BY_REASON)
		buffer_printf(out, "%*s ", writer->name_width, string_of(writer, row->reason));
	buffer_printf(out, "%10" PRIu64 " %8.2f%% %8.2f%% %9.2fus %9.2fus ", row->count,
		      percent(row->count, view->exits->count),
		      percent(row->total_ns, view->exits->total_ns), row->min_ns / 1e3,
		      row->max_ns / 1e3);
	buffer_printf(out, "%9.2fus ( +-%7.2f%% ) %9.2fus %9.2fus %12.2fus",
		      row->timed ? (double)row->total_ns / row->timed / 1e3 : 0, row->error,
		      row->median_ns / 1e3, row->p99_ns / 1e3, row->total_ns / 1e3);
	write_keys(writer, row);
	buffer_append_string(out, "\n");
}

static void write_totals(struct writer *writer)
{
	const struct exits *exits = writer->view->exits;
	struct buffer *out = &writer->stream.buffer;

	buffer_printf(out, "\nTotal Samples:%" PRIu64 ", Total events handled time:%.2fus.\n\n",
		      exits->count, exits->total_ns / 1e3);
	if (exits->unpaired)
		buffer_printf(out, "Incomplete, and not counted: %" PRIu64 "\n\n",
			      exits->unpaired);
	if (writer->view->session->lost)
		buffer_printf(out, "\nLost events: %" PRIu64 "\n\n", writer->view->session->lost);
}

struct error *exits_text_write(int fd, const struct exits_view *view)
{
	struct writer writer = { .view = view, .name_width = NAME_WIDTH, .vm_width = 2 };
	const struct exits *exits = view->exits;

	output_stream_init(&writer.stream, fd);
	buffer_init(&writer.name, NAME_MAX_BYTES);
	measure(&writer);
	write_head(&writer);
	for (size_t i = 0; i < exits->rows.count; i++) {
		write_row(&writer, &exits->rows.items[i]);
		if (!output_stream_line(&writer.stream))
			break;
	}
	write_totals(&writer);
	buffer_deinit(&writer.name);
	return output_stream_finish(&writer.stream);
}
