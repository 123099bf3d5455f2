/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format is that of sample__fprintf_callchain() in tools/perf/util/evsel_fprintf.c: of an
 * inlined function the file is not shown, and the source line is a line of its own. Where a file
 * has no source line for an address, perf prints the file and the address instead.
 */
#include "output/script/script_address.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "output/script/script_extra.h"
#include "output/script/script_number.h"
#include "output/script/script_text.h"
#include "output/view.h"

static const char *text_of(const struct script_address *address, uint32_t number)
{
	return intern_string(resolver_session(address->resolver)->strings, number);
}

/* PLACE: the source line, 0 if it is not known. */
static void append_source(const struct script_address *address, uint32_t location, uint32_t place,
			  bool known, struct buffer *out)
{
	struct resolver *resolver = address->resolver;

	if (known) {
		buffer_append_string(out, "\n  ");
		utf8_append_escaped(out, place ? text_of(address, place) : "??:0");
	} else if (resolver_location(resolver, location)->dso != LOCATION_NO_DSO) {
		buffer_append_string(out, "\n  ");
		utf8_append_escaped(out,
				    text_of(address, resolver_dso_name(resolver, location)));
		buffer_printf(out, "[%" PRIx64 "]", address->lookup->address);
	}
}

/* The function of LOCATION, which has that place in the source. */
static void append_function(const struct script_address *address, uint32_t location,
			    uint32_t place, bool known, struct buffer *out)
{
	bool inlined = resolver_location(address->resolver, location)->inlined;

	if (address->fields & SCRIPT_SYMBOL) {
		buffer_append_u8(out, ' ');
		script_append_symbol(address->resolver, location, address->lookup->address,
				     address->fields & SCRIPT_OFFSET, out);
	}
	if ((address->fields & SCRIPT_DSO) && !inlined) {
		buffer_append_string(out, " (");
		utf8_append_escaped(out, resolver_dso_path(address->resolver, location));
		buffer_append_u8(out, ')');
	}
	if (address->fields & SCRIPT_SOURCE)
		append_source(address, location, place, known, out);
	if (inlined)
		buffer_append_string(out, VIEW_INLINED);
	buffer_append_u8(out, '\n');
}

static void begin_line(const struct script_address *address, struct buffer *out)
{
	char *at;

	buffer_append_u8(out, '\t');
	at = buffer_extend(out, 16);
	if (at)
		put_address(at, address->shown);
}

void script_append_address(const struct script_address *address, struct buffer *out)
{
	struct source_frames frames = { 0 };
	const uint32_t *inlined = NULL;
	size_t count = 0;

	if (address->inlined)
		inlined = resolver_inlined(address->resolver, address->lookup, &count);
	if (address->fields & SCRIPT_SOURCE)
		frames = resolver_source(address->resolver, address->lookup);
	for (size_t i = 0; i < count; i++) {
		append_function(address, inlined[count - 1 - i],
				i < frames.count ? frames.items[i].place : 0, frames.count, out);
		begin_line(address, out);
	}
	append_function(address, address->location,
			count < frames.count ? frames.items[count].place : 0, frames.count, out);
}
