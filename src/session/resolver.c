/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the symbol for an address, in two steps with a cache each:
 *
 * 	(space, page, time) -> mapping		small, for processes that run now
 * 	(dso, address in it) -> location	everything seen so far
 *
 * Processes come and go, each with its libraries at different addresses, but all of them run code
 * from few dsos: the second cache has far fewer entries than there are samples, so a miss may be
 * slow. The first cache is off if any mapping does not start and end at a page boundary.
 *
 * Kernel addresses are not converted: they are looked up in the kernel's symbol table first, which
 * includes modules, and only then in the mappings of the recording. A guest may have had several
 * kernels, each with its own table: their addresses are kept apart.
 */
#include "session/resolver.h"

#include <string.h>

#include "base/memory.h"
#include "session/kernel_modules.h"
#include "session/resolver_private.h"

#define FIRST_CAPACITY 4096

static struct resolver *create(struct session *session, struct locations *locations)
{
	struct resolver *resolver = memory_calloc(1, sizeof(*resolver));

	resolver->session = session;
	resolver->locations = locations;
	resolver->seed = hash_u64((uintptr_t)resolver);
	resolver->capacity = FIRST_CAPACITY;
	resolver->cache = memory_calloc_table(resolver->capacity, sizeof(*resolver->cache));
	return resolver;
}

struct resolver *resolver_create(struct session *session)
{
	struct locations *locations = memory_calloc(1, sizeof(*locations));

	map_init(&locations->by_symbol);
	return create(session, locations);
}

struct resolver *resolver_create_beside(struct resolver *resolver)
{
	struct resolver *other = create(resolver->session, resolver->locations);

	other->borrowed = true;
	return other;
}

static void destroy_locations(struct locations *locations)
{
	for (size_t i = 0; i < locations->list.count; i++)
		free(locations->list.items[i].name);
	vector_deinit(&locations->list);
	map_deinit(&locations->by_symbol);
	intern_destroy(locations->parts);
	vector_deinit(&locations->by_part);
	free(locations);
}

void resolver_destroy(struct resolver *resolver)
{
	if (!resolver)
		return;
	if (!resolver->borrowed)
		destroy_locations(resolver->locations);
	vector_deinit(&resolver->inlined);
	vector_deinit(&resolver->inlined_locations);
	free(resolver->cache);
	free(resolver);
}

void resolver_merge_unnamed(struct resolver *resolver)
{
	resolver->locations->unnamed_alike = true;
}

void resolver_look_again(struct resolver *resolver)
{
	memset(resolver->cache, 0, resolver->capacity * sizeof(*resolver->cache));
	resolver->count = 0;
}

void resolver_seal(struct resolver *resolver)
{
	free(take_pointer(resolver->cache));
	resolver->capacity = resolver->count = 0;
}

uint32_t resolver_add_location(struct resolver *resolver, const struct location *location)
{
	vector_append(&resolver->locations->list, *location);
	return resolver->locations->list.count - 1;
}

/* The dso of a kernel module, "[name]". */
static uint32_t module_dso(struct resolver *resolver, const char *module)
{
	_cleanup_free_ char *name = memory_printf("[%s]", module);
	struct dso_names names = { .path = name };

	return dsos_add_kernel(&resolver->session->dsos, &names);
}

/* The number of all of LOCATION's dso that has no symbol. */
static uint32_t share_unnamed(struct resolver *resolver, const struct location *location)
{
	uint64_t *place = map_insert(&resolver->locations->by_symbol, UNNAMED | location->dso,
				     NULL);
	struct location *shared;

	if (!*place)
		*place = resolver_add_location(resolver, location) + 1;
	shared = &resolver->locations->list.items[*place - 1];
	if (location->address < shared->address)
		shared->address = location->address;
	return *place - 1;
}

/* LOCATION's number: the same for all addresses of a symbol, or of one of its lines. */
static uint32_t share_location(struct resolver *resolver, const struct lookup *lookup,
			       struct location *location)
{
	struct location shared = *location;
	uint64_t *place;

	if (resolver->locations->lines) {
		resolver_set_source(resolver, lookup, location);
		if (location->symbol)
			return resolver_share_part(resolver, location);
	}
	if (!location->symbol)
		return resolver->locations->unnamed_alike && !resolver->locations->lines
			       ? share_unnamed(resolver, location)
			       : resolver_add_location(resolver, location);
	shared.address = location->symbol->start;
	/* Tables do not move, so a symbol's address in memory, which is even, identifies it. */
	place = map_insert(&resolver->locations->by_symbol,
			   (uintptr_t)location->symbol | location->varies, NULL);
	if (!*place)
		*place = resolver_add_location(resolver, &shared) + 1;
	return *place - 1;
}

static uint32_t kernel_location(struct resolver *resolver, const struct lookup *lookup)
{
	struct machine *machine = lookup->machine;
	const struct symbol_table *table =
		session_kernel_table(resolver->session, machine, lookup->kernel);
	struct location location = { .dso = LOCATION_NO_DSO, .address = lookup->address,
				     .varies = machine->kernels->list.count > 1 };
	const struct space_mapping *mapping =
		space_find(&machine->kernel, lookup->address, lookup->time).mapping;
	const char *module = NULL;

	if (table && !machine_is_guest(machine) && !machine->kernel_came_along)
		table = kernel_modules_table(resolver->session, machine, table, mapping,
					     lookup->address);
	if (table) {
		location.table = table;
		location.symbol = symbol_table_find(table, location.address);
		module = location.symbol ? symbol_module(table, location.symbol)
					 : symbol_table_find_module(table, location.address);
	}
	if (module)
		location.dso = module_dso(resolver, module);
	else if (location.symbol)
		location.dso = machine->kernel_dso;
	else
		location.dso = mapping ? mapping->dso : LOCATION_NO_DSO;
	return share_location(resolver, lookup, &location);
}

static uint32_t file_location(struct resolver *resolver, const struct lookup *lookup)
{
	uint32_t dso = lookup->domain;
	struct dso_entry *entry = resolver->session->dsos.items.items[dso];
	struct location location = { .dso = dso, .address = lookup->address };

	if (!entry->build_id_bytes && !entry->loaded)
		session_set_build_id(resolver->session, entry);
	if (entry->guest) {
		location.symbol = guest_files_find(resolver->session, entry, lookup->address,
						   &location.table);
	} else {
		dsos_load(&resolver->session->dsos, entry);
		location.table = entry->table;
		location.symbol =
			entry->table ? symbol_table_find(entry->table, lookup->address) : NULL;
	}
	return share_location(resolver, lookup, &location);
}

static uint32_t make_location(struct resolver *resolver, const struct lookup *lookup)
{
	struct location location = { .dso = LOCATION_NO_DSO, .address = lookup->address };

	if (lookup->domain == DOMAIN_NOWHERE)
		return share_location(resolver, lookup, &location);
	if (lookup->domain & DOMAIN_KERNEL)
		return kernel_location(resolver, lookup);
	if (resolver->session->dsos.items.items[lookup->domain]->kind == DSO_SYMBOL) {
		location.dso = lookup->domain;
		location.address = lookup->mapping ? lookup->mapping->start : lookup->address;
		return share_location(resolver, lookup, &location);
	}
	return file_location(resolver, lookup);
}

static uint32_t new_location(struct resolver *resolver, const struct lookup *lookup)
{
	uint32_t location;

	pthread_mutex_lock(&resolver->session->lock);
	location = make_location(resolver, lookup);
	pthread_mutex_unlock(&resolver->session->lock);
	return location;
}

static uint64_t hash_of(const struct resolver *resolver, uint32_t domain, uint64_t address)
{
	return hash_u64(address ^ (uint64_t)domain << 32 ^ resolver->seed);
}

/* The entry of an address, or the free one in which to put it. */
static struct cached *slot_of(const struct resolver *resolver, uint32_t domain, uint64_t address,
			      uint64_t hash)
{
	size_t mask = resolver->capacity - 1;
	size_t at = hash & mask;
	struct cached *cached = &resolver->cache[at];

	while (cached->location && (cached->address != address || cached->domain != domain)) {
		at = (at + 1) & mask;
		cached = &resolver->cache[at];
	}
	return cached;
}

struct cached *resolver_cached(const struct resolver *resolver, const struct lookup *lookup)
{
	return slot_of(resolver, lookup->domain, lookup->address, lookup->hash);
}

static void grow(struct resolver *resolver)
{
	struct cached *old = resolver->cache;
	size_t old_capacity = resolver->capacity;

	resolver->capacity *= 2;
	resolver->cache = memory_calloc_table(resolver->capacity, sizeof(*resolver->cache));
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i].location)
			*slot_of(resolver, old[i].domain, old[i].address,
				 hash_of(resolver, old[i].domain, old[i].address)) = old[i];
	free(old);
}

struct resolved resolver_finish(struct resolver *resolver, const struct lookup *lookup)
{
	struct cached *cached =
		slot_of(resolver, lookup->domain, lookup->address, lookup->hash);

	if (!cached->location) {
		*cached = (struct cached){ .address = lookup->address, .domain = lookup->domain,
					   .location = new_location(resolver, lookup) + 1 };
		if (2 * ++resolver->count > resolver->capacity) {
			grow(resolver);
			cached = slot_of(resolver, lookup->domain, lookup->address, lookup->hash);
		}
	}
	return (struct resolved){ .address = lookup->address, .location = cached->location - 1,
				  .tag = &cached->tag };
}

static void fill_page(struct resolver *resolver, struct cached_page *cached, struct space *space,
		      uint64_t ip, uint64_t time)
{
	struct space_lookup found = space_find(space, ip, time);

	*cached = (struct cached_page){ .page = ip >> PAGE_SHIFT, .space = space->number,
					.from = found.from, .until = found.until,
					.stamp = resolver->session->stamp,
					.mapping = found.mapping, .domain = DOMAIN_NOWHERE };
	if (found.mapping) {
		cached->domain = found.mapping->dso;
		cached->bias = found.mapping->file_offset - found.mapping->start;
	}
	if (resolver->session->unaligned)
		cached->until = 0;
}

/* Whether MAPPING's dso, if any, is a single function. Other threads may be adding dsos. */
static bool is_symbol(struct resolver *resolver, const struct space_mapping *mapping)
{
	struct session *session = resolver->session;
	bool ret;

	if (!mapping || mapping->dso == SPACE_UNMAPPED)
		return false;
	pthread_mutex_lock(&session->lock);
	ret = session->dsos.items.items[mapping->dso]->kind == DSO_SYMBOL;
	pthread_mutex_unlock(&session->lock);
	return ret;
}

static void look_in_kernel(struct resolver *resolver, struct lookup *lookup, uint64_t ip,
			   uint64_t time)
{
	struct machine *machine = lookup->machine;
	struct space_lookup made;

	lookup->kernel = session_kernel_at(machine, time);
	lookup->domain = DOMAIN_KERNEL | (lookup->kernel == MACHINE_NO_KERNEL
						  ? machine->kernel.number
						  : machine->kernel_number + lookup->kernel);
	if (ip < machine->made_start || ip >= machine->made_end)
		return;
	made = space_find(&machine->kernel, ip, time);
	lookup->mapping = made.mapping;
	if (lookup->from < made.from)
		lookup->from = made.from;
	if (lookup->until > made.until)
		lookup->until = made.until;
	if (is_symbol(resolver, lookup->mapping))
		lookup->domain = lookup->mapping->dso;
}

static size_t place_of_page(const struct space *space, uint64_t page)
{
	return (page ^ space->number * 31) % PAGES;
}

void resolver_prefetch(const struct resolver *resolver, const struct space *space, uint64_t ip)
{
	const struct cached_page *cached =
		&resolver->pages[place_of_page(space, ip >> PAGE_SHIFT)];

	__builtin_prefetch(&cached->page);
	__builtin_prefetch(&cached->stamp); /* mostly in another cache line */
}

static void look_in_space(struct resolver *resolver, struct lookup *lookup, struct space *space,
			  uint64_t ip, uint64_t time)
{
	uint64_t page = ip >> PAGE_SHIFT;
	struct cached_page *cached = &resolver->pages[place_of_page(space, page)];

	if (cached->page != page || cached->space != space->number || time < cached->from ||
	    time >= cached->until || cached->stamp != resolver->session->stamp)
		fill_page(resolver, cached, space, ip, time);
	lookup->mapping = cached->mapping;
	lookup->from = cached->from;
	lookup->until = cached->until;
	lookup->domain = cached->domain;
	lookup->address = ip + cached->bias;
}

/* Written in place: copying it takes as long as computing it. */
void resolver_begin(struct resolver *resolver, struct machine *machine, struct space *space,
		    uint64_t ip, uint64_t time, struct lookup *ret)
{
	ret->machine = machine;
	ret->mapping = NULL;
	ret->address = ip;
	ret->time = time;
	ret->from = 0;
	ret->until = SPACE_FOREVER;
	ret->domain = DOMAIN_NOWHERE;
	if (machine && space == &resolver->session->nested)
		ret->domain = resolver->session->nested_dso;
	else if (machine && space == &machine->kernel)
		look_in_kernel(resolver, ret, ip, time);
	else if (machine)
		look_in_space(resolver, ret, space, ip, time);
	ret->hash = hash_of(resolver, ret->domain, ret->address);
	__builtin_prefetch(&resolver->cache[ret->hash & (resolver->capacity - 1)]);
}

struct resolved resolver_find(struct resolver *resolver, struct machine *machine,
			      struct space *space, uint64_t ip, uint64_t time)
{
	struct lookup lookup;

	resolver_begin(resolver, machine, space, ip, time, &lookup);
	return resolver_finish(resolver, &lookup);
}

struct session *resolver_session(const struct resolver *resolver)
{
	return resolver->session;
}

size_t resolver_count(const struct resolver *resolver)
{
	return resolver->locations->list.count;
}

const struct location *resolver_location(struct resolver *resolver, uint32_t number)
{
	return &resolver->locations->list.items[number];
}

static const struct dso_entry *dso_of(struct resolver *resolver, uint32_t number)
{
	uint32_t dso = resolver_location(resolver, number)->dso;

	return dso == LOCATION_NO_DSO ? NULL : resolver->session->dsos.items.items[dso];
}

uint64_t resolver_symbol_start(struct resolver *resolver, uint32_t number)
{
	return resolver_location(resolver, number)->address;
}

const char *resolver_symbol_name(struct resolver *resolver, uint32_t number)
{
	struct location *location = &resolver->locations->list.items[number];
	const struct dso_entry *entry = dso_of(resolver, number);
	const char *name;

	if (entry && entry->kind == DSO_SYMBOL)
		return intern_string(resolver->session->strings, entry->short_name);
	if (!location->symbol || location->inlined)
		return location->name;
	name = symbol_name(location->table, location->symbol);
	if (entry->kind == DSO_KERNEL)
		return name;
	if (!location->name)
		location->name = dso_demangle_within(name,
						     &resolver->session->demangle_budget);
	return location->name;
}

const char *resolver_dso_path(struct resolver *resolver, uint32_t number)
{
	const struct dso_entry *entry = dso_of(resolver, number);

	if (!entry)
		return "[unknown]";
	/* A module is never named after its file: dso.name in map__fprintf_dsoname(). */
	return intern_string(resolver->session->strings,
			     entry->kind == DSO_KERNEL ? entry->short_name : entry->path);
}

uint32_t resolver_dso_name(struct resolver *resolver, uint32_t number)
{
	const struct dso_entry *entry = dso_of(resolver, number);

	return entry ? entry->short_name
		     : intern_text(resolver->session->strings, "[unknown]");
}
