/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells become rows: locations that read the same become one (perf's rule, sort__dso_cmp()
 * and sort__sym_cmp() in tools/perf/util/sort.c: the dso's short name, then the symbol's
 * range, or the address where there is no symbol), which profile_sort.c sorts.
 *
 * Guest kernels of several VMs lie at random addresses: where the VM is no key, a guest's
 * function is the same in all of them if name and size are. So it is in a guest that had several
 * kernels, one after another. What a guest of a guest did is one row.
 */
#include "profile/profile_rows.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* What tells locations apart; equal bytes, equal row. */
struct identity {
	uint64_t start, end; /* of the symbol; the address, 0 without one */
	uint32_t dso, symbol; /* string numbers, 0: none */
};

struct builder {
	struct profile *profile;
	const struct profile_keys *keys;
	const struct intern *groups;
	struct intern *identities;
	uint32_t *by_location[2]; /* location -> identity, 0: not yet; host's and guests' */
	struct map places;	  /* group << 32 | identity -> place in rows + 1 */
};

static void identify_symbol(struct builder *builder, const struct location *location, bool guest,
			    struct identity *ret)
{
	const struct symbol *symbol = location->symbol;

	if (!symbol) {
		if (location->dso != builder->profile->session->nested_dso)
			ret->start = location->address;
		return;
	}
	ret->symbol = intern_text(builder->profile->session->strings,
				  symbol_name(location->table, symbol));
	ret->start = symbol->start;
	ret->end = symbol->end;
	if (guest && (location->varies || !profile_keys_have(builder->keys, PROFILE_VM))) {
		ret->start = 0;
		ret->end = symbol->end - symbol->start;
	}
}

static uint32_t identify(struct builder *builder, uint32_t number, bool guest)
{
	const struct location *location = resolver_location(builder->profile->resolver, number);
	bool by_symbol = profile_keys_have(builder->keys, PROFILE_SYMBOL);
	uint32_t *known = &builder->by_location[guest][number];
	struct identity identity;

	if (*known)
		return *known;
	memset(&identity, 0, sizeof(identity)); /* compared as bytes, padding included */
	if (by_symbol || profile_keys_have(builder->keys, PROFILE_DSO))
		identity.dso = resolver_dso_name(builder->profile->resolver, number);
	if (by_symbol)
		identify_symbol(builder, location, guest, &identity);
	*known = intern_bytes(builder->identities, (const char *)&identity, sizeof(identity));
	return *known;
}

static struct profile_row row_of(const struct builder *builder, const struct profile_group *group,
				 uint32_t location, uint32_t identity)
{
	struct identity what;

	memcpy(&what, intern_string(builder->identities, identity), sizeof(what));
	return (struct profile_row){ .vm = group->vm,
				     .vcpu = group->vcpu,
				     .comm = group->comm,
				     .pid = group->pid,
				     .tid = group->tid,
				     .guest_comm = group->guest_comm,
				     .guest_pid = group->guest_pid,
				     .cpumode = group->cpumode,
				     .dso = what.dso,
				     .location = location };
}

static void add_cell(struct builder *builder, const struct profile_cell *cell)
{
	uint32_t number = cell->key >> 32, location = cell->key, identity;
	struct profile_group group;
	struct profile_event *event;
	struct profile_row *row;
	uint64_t *place;
	bool guest;

	memcpy(&group, intern_string(builder->groups, number), sizeof(group));
	guest = group.cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
	event = &builder->profile->events[group.event];
	identity = identify(builder, location, guest);
	place = map_insert(&builder->places, (uint64_t)number << 32 | identity, NULL);
	if (!*place) {
		vector_append(&event->rows, row_of(builder, &group, location, identity));
		*place = event->rows.count;
	}
	row = &event->rows.items[*place - 1];
	row->period += cell->period;
	row->count += cell->count;
	event->period += cell->period;
	event->samples += cell->count;
}

/*
 * The cells that are in use, those of a location side by side: what is to be known of a
 * location is fetched from memory once. The caller frees them.
 */
static const struct profile_cell **order_cells(const struct profile_cell *cells, size_t cell_count,
					       size_t locations, size_t *ret_count)
{
	_cleanup_free_ size_t *places = memory_calloc(locations + 1, sizeof(*places));
	const struct profile_cell **ordered;
	size_t count = 0;

	for (size_t i = 0; i < cell_count; i++)
		if (cells[i].key)
			places[(uint32_t)cells[i].key]++;
	for (size_t i = 0; i < locations; i++) {
		size_t here = places[i];

		places[i] = count;
		count += here;
	}
	ordered = memory_alloc(count * sizeof(*ordered));
	for (size_t i = 0; i < cell_count; i++)
		if (cells[i].key)
			ordered[places[(uint32_t)cells[i].key]++] = &cells[i];
	*ret_count = count;
	return ordered;
}

void profile_rows_build(struct profile *profile, const struct profile_keys *keys,
			const struct intern *groups, const struct profile_cell *cells,
			size_t cell_count)
{
	struct builder builder = { .profile = profile, .keys = keys, .groups = groups };
	size_t locations = resolver_count(profile->resolver), count;
	_cleanup_free_ const struct profile_cell **ordered =
		order_cells(cells, cell_count, locations, &count);

	builder.identities = intern_create();
	for (int i = 0; i < 2; i++)
		builder.by_location[i] = memory_calloc(locations + 1, sizeof(uint32_t));
	map_init(&builder.places);
	for (size_t i = 0; i < count; i++)
		add_cell(&builder, ordered[i]);
	for (size_t i = 0; i < profile->event_count; i++)
		profile_rows_sort(profile, keys, &profile->events[i]);
	map_deinit(&builder.places);
	for (int i = 0; i < 2; i++)
		free(builder.by_location[i]);
	intern_destroy(builder.identities);
}
