/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locations by source line, and of inlined functions. An inlined function is a part of the symbol
 * into which it was inlined, as in perf: so it is the same at all of the symbol's addresses, and
 * not the same in another symbol.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "session/resolver_private.h"

void resolver_want_lines(struct resolver *resolver)
{
	resolver->locations->lines = true;
}

/* The kernel's own code has the kernel's dso, that of modules another. */
static struct source_frames source_at(struct resolver *resolver, const struct lookup *lookup,
				      uint32_t dso)
{
	struct session *session = resolver->session;
	struct source_frames none = { 0 };

	if (lookup->domain == DOMAIN_NOWHERE)
		return none;
	if (!(lookup->domain & DOMAIN_KERNEL))
		return source_lines_of_file(session, lookup->domain, lookup->address);
	if (dso != lookup->machine->kernel_dso)
		return none;
	return source_lines_of_kernel(session, lookup->machine, lookup->kernel, lookup->address);
}

static uint32_t dso_of(struct resolver *resolver, const struct lookup *lookup)
{
	uint32_t location = resolver_cached(resolver, lookup)->location - 1;

	return resolver_location(resolver, location)->dso;
}

struct source_frames resolver_source(struct resolver *resolver, const struct lookup *lookup)
{
	struct source_frames ret;

	pthread_mutex_lock(&resolver->session->lock);
	ret = source_at(resolver, lookup, dso_of(resolver, lookup));
	pthread_mutex_unlock(&resolver->session->lock);
	return ret;
}

/* The symbol's name as it is shown. */
static char *symbol_text(struct resolver *resolver, const struct location *location)
{
	struct session *session = resolver->session;
	const struct dso_entry *entry = session->dsos.items.items[location->dso];
	const char *name = symbol_name(location->table, location->symbol);

	if (entry->kind == DSO_KERNEL)
		return memory_strdup(name);
	return dso_demangle_within(name, &session->demangle_budget);
}

/* As perf (get_srcline() in tools/perf/util/srcline.c): without a line, "symbol+12", "dso[1f]". */
void resolver_set_source(struct resolver *resolver, const struct lookup *lookup,
			 struct location *location)
{
	struct session *session = resolver->session;
	struct source_frames frames = source_at(resolver, lookup, location->dso);
	_cleanup_free_ char *text = NULL, *name = NULL;

	if (frames.count && frames.items[0].place) {
		location->source = frames.items[0].place;
		return;
	}
	if (location->symbol) {
		name = symbol_text(resolver, location);
		text = memory_printf("%s+%" PRIu64, name,
				     lookup->address - location->symbol->start);
	} else if (location->dso != LOCATION_NO_DSO) {
		uint32_t dso = session->dsos.items.items[location->dso]->short_name;

		text = memory_printf("%s[%" PRIx64 "]", intern_string(session->strings, dso),
				     lookup->address);
	} else {
		text = memory_strdup("??:0");
	}
	location->source = intern_text(session->strings, text);
}

uint32_t resolver_share_part(struct resolver *resolver, const struct location *location)
{
	struct locations *locations = resolver->locations;
	struct location_part part;
	struct location shared = *location;
	uint32_t number;

	memset(&part, 0, sizeof(part));
	part.symbol = (uintptr_t)location->symbol | location->varies;
	part.source = location->source;
	if (location->inlined)
		part.function = intern_text(resolver->session->strings, location->name);
	if (!locations->parts)
		locations->parts = intern_create();
	number = intern_bytes(locations->parts, (const char *)&part, sizeof(part)) - 1;
	if (number == locations->by_part.count) {
		shared.address = location->symbol->start;
		shared.name = location->inlined ? memory_strdup(location->name) : NULL;
		vector_append(&locations->by_part, resolver_add_location(resolver, &shared));
	}
	return locations->by_part.items[number];
}

/* The location of FRAME, which is inlined into the function of the location OUTER. */
static uint32_t inlined_location(struct resolver *resolver, uint32_t outer,
				 const struct source_frame *frame)
{
	struct intern *strings = resolver->session->strings;
	struct location location = *resolver_location(resolver, outer);
	_cleanup_free_ char *own = symbol_text(resolver, &location);
	const char *name = intern_string(strings, frame->function);

	if (!strcmp(own, name))
		return outer;
	location.inlined = true;
	location.name = (char *)(*name ? name : "??");
	location.source = resolver->locations->lines ? frame->place : 0;
	return resolver_share_part(resolver, &location);
}

static struct inlined find_inlined(struct resolver *resolver, const struct lookup *lookup)
{
	uint32_t outer = resolver_cached(resolver, lookup)->location - 1;
	const struct location *location = resolver_location(resolver, outer);
	struct inlined ret = { .start = resolver->inlined_locations.count };
	struct source_frames frames;

	if (!location->symbol)
		return ret;
	frames = source_at(resolver, lookup, location->dso);
	for (size_t i = frames.count > 1 ? frames.count - 1 : 0; i-- > 0; ret.count++)
		vector_append(&resolver->inlined_locations,
			      inlined_location(resolver, outer, &frames.items[i]));
	return ret;
}

const uint32_t *resolver_inlined(struct resolver *resolver, const struct lookup *lookup,
				 size_t *ret_count)
{
	struct cached *cached = resolver_cached(resolver, lookup);
	const struct inlined *inlined;

	if (!cached->inlined) {
		struct inlined found;

		pthread_mutex_lock(&resolver->session->lock);
		found = find_inlined(resolver, lookup);
		pthread_mutex_unlock(&resolver->session->lock);
		vector_append(&resolver->inlined, found);
		cached->inlined = resolver->inlined.count;
	}
	inlined = &resolver->inlined.items[cached->inlined - 1];
	*ret_count = inlined->count;
	return resolver->inlined_locations.items + inlined->start;
}
