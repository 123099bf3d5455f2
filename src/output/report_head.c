/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of comment; names in them are escaped. */
#include "output/report_head.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "output/header/recording_header.h"
#include "output/view.h"

#define MAX_GUEST_LINES 16

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
		buffer_printf(out, "# Guest: ... and %zu more\n", known - MAX_GUEST_LINES);
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

void report_head_append(struct buffer *out, const struct profile *profile,
			const struct report_text_options *options)
{
	struct perfdata_reader *reader = profile->session->reader;
	const struct perfdata_features *features = perfdata_reader_features(reader);
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(reader);

	if (options->header)
		recording_header_append(out, profile->session, options->path, options->info);
	append_line(out, "Recording", options->path);
	append_line(out, "Host", features->hostname);
	append_line(out, "Host kernel", features->osrelease);
	append_line(out, "Command line", features->cmdline);
	if (inventory)
		append_inventory(out, inventory);
	for (const char *const *note = options->notes; note && *note; note++)
		append_line(out, "Note", *note);
	buffer_append_string(out, "#\n# Totals: ");
	view_append_totals(out, &profile->totals);
	append_chain_ends(out, &profile->totals);
	buffer_append_string(out, "\n#\n");
}
