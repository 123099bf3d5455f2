/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows perf's rule (sort__dso_cmp() and sort__sym_cmp() in tools/perf/util/sort.c): compares the
 * dso's short name, then the symbol's range, or the address if there is no symbol. An inlined
 * function has the range of the symbol that it was inlined into, and its own name.
 *
 * The guest kernels of several VMs are at random addresses. If the VM is not a key, a guest's
 * function is therefore the same in all VMs if its name and size are. The same is true for a guest
 * that ran several kernels in succession. Everything that a nested guest did is one.
 */
#include "profile/identity.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

struct identities {
	struct profile *profile;
	bool by_name, by_dso, by_symbol, by_source, by_vm, unnamed_alike;
	struct intern *numbers;		  /* struct identity as bytes */
	VECTOR(uint32_t) by_location[2]; /* -> identity, 0: not yet; for host and guests */
};

struct identities *identities_create(struct profile *profile, const struct profile_keys *keys)
{
	struct identities *identities = memory_calloc(1, sizeof(*identities));

	identities->profile = profile;
	identities->by_symbol = profile_keys_have(keys, PROFILE_SYMBOL);
	identities->by_dso = identities->by_symbol || profile_keys_have(keys, PROFILE_DSO);
	identities->by_source = profile_keys_have(keys, PROFILE_SOURCE);
	identities->by_vm = profile_keys_have(keys, PROFILE_VM);
	identities->numbers = intern_create();
	return identities;
}

struct identities *identities_create_by_name(struct profile *profile)
{
	struct identities *identities = identities_create(profile, &(struct profile_keys){ 0 });

	identities->by_name = true;
	return identities;
}

void identities_merge_unnamed(struct identities *identities)
{
	identities->unnamed_alike = true;
}

void identities_destroy(struct identities *identities)
{
	if (!identities)
		return;
	for (int i = 0; i < 2; i++)
		vector_deinit(&identities->by_location[i]);
	intern_destroy(identities->numbers);
	free(identities);
}

static void identify_symbol(const struct identities *identities, const struct location *location,
			    bool guest, struct identity *ret)
{
	const struct session *session = identities->profile->session;
	const struct symbol *symbol = location->symbol;

	if (!symbol) {
		if (location->dso != session->nested_dso && !identities->unnamed_alike)
			ret->start = location->address;
		return;
	}
	ret->symbol = intern_text(session->strings, location->inlined
							    ? location->name
							    : symbol_name(location->table, symbol));
	ret->start = symbol->start;
	ret->end = symbol->end;
	if (guest && (location->varies || !identities->by_vm)) {
		ret->start = 0;
		ret->end = symbol->end - symbol->start;
	}
}

static void identify_name(const struct identities *identities, uint32_t number,
			  struct identity *ret)
{
	const struct session *session = identities->profile->session;
	struct resolver *resolver = identities->profile->resolver;
	uint32_t dso = resolver_location(resolver, number)->dso;
	const char *name = resolver_symbol_name(resolver, number);

	if (dso != LOCATION_NO_DSO)
		ret->dso = session->dsos.items.items[dso]->path;
	if (name)
		ret->symbol = intern_text(session->strings, name);
}

/* What is known of LOCATION, 0: nothing yet. Valid until the next call. */
static uint32_t *known_of(struct identities *identities, bool guest, uint32_t location)
{
	while (identities->by_location[guest].count <= location)
		vector_append(&identities->by_location[guest], 0);
	return &identities->by_location[guest].items[location];
}

uint32_t identities_find(struct identities *identities, uint32_t number, uint16_t cpumode)
{
	bool guest = (cpumode & ~CPUMODE_GUESSED) == PERF_RECORD_MISC_GUEST_KERNEL;
	const struct location *location = resolver_location(identities->profile->resolver, number);
	uint32_t *known = known_of(identities, guest, number);
	struct identity identity;

	if (*known)
		return *known;
	memset(&identity, 0, sizeof(identity)); /* compared as bytes, padding included */
	if (identities->by_name)
		identify_name(identities, number, &identity);
	if (identities->by_dso)
		identity.dso = resolver_dso_name(identities->profile->resolver, number);
	if (identities->by_symbol)
		identify_symbol(identities, location, guest, &identity);
	if (identities->by_source)
		identity.source = location->source;
	*known = intern_bytes(identities->numbers, (const char *)&identity, sizeof(identity));
	return *known;
}

struct identity identities_get(const struct identities *identities, uint32_t number)
{
	struct identity identity;

	memcpy(&identity, intern_string(identities->numbers, number), sizeof(identity));
	return identity;
}
