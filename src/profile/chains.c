/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers repeat: the return addresses of a loop's callers are the same in every sample of it,
 * while the innermost address is another each time. So the callers of a sample are looked up as a
 * whole, by a hash of their addresses and of the address spaces that these are in; only callers
 * that were not met before are looked up one by one. The innermost address is always.
 *
 * The hash has 128 bits and a seed, and stands for the addresses: they are not kept. What it is the
 * key of holds for a span of time, since mappings change.
 *
 * Limits: 64 Mi nodes; chains that would need more are cut at their outer part, which is there.
 */
#include "profile/chains.h"

#include <sys/random.h>

#include "base/memory.h"
#include "base/vector.h"
#include "profile/chain.h"
#include "profile/node_index.h"

#define FIRST_SLOTS 8192 /* a power of two */
#define NODES_MAX (64U << 20)
#define LEVEL_MASK ((1U << CHAINS_LEVEL_BITS) - 1)

struct callers {
	uint64_t hash[2];
	uint64_t from, until; /* holds at these times, until exclusive */
	uint32_t node;
};

/* Numbers of callers + 1 by hash, 0: an empty slot. */
struct table {
	uint32_t *slots;
	size_t capacity; /* a power of two */
};

struct address {
	struct lookup lookup;
	uint16_t cpumode;
};

struct chains {
	struct session *session;
	struct resolver *resolver;
	struct identities *functions;
	bool lone;
	uint64_t seeds[4];
	VECTOR(struct chains_node) nodes;
	VECTOR(struct chains_frame) frames;
	VECTOR(uint32_t) numbers; /* of identity << CHAINS_LEVEL_BITS | cpumode: frame + 1 */
	VECTOR(struct callers) callers;
	VECTOR(uint32_t) roots; /* of each group, + 1 */
	struct node_index index;
	struct table callers_table;
	struct address addresses[CHAINS_FRAMES_MAX]; /* of the chain at hand */
};

static void table_init(struct table *table)
{
	table->capacity = FIRST_SLOTS;
	table->slots = memory_calloc(table->capacity, sizeof(*table->slots));
}

struct chains *chains_create(struct session *session, struct resolver *resolver,
			     struct identities *functions, bool lone)
{
	struct chains *chains = memory_calloc(1, sizeof(*chains));

	chains->session = session;
	chains->resolver = resolver;
	chains->functions = functions;
	chains->lone = lone;
	if (getrandom(chains->seeds, sizeof(chains->seeds), GRND_NONBLOCK) < 0)
		for (size_t i = 0; i < 4; i++)
			chains->seeds[i] = hash_u64((uintptr_t)chains + i);
	node_index_init(&chains->index, FIRST_SLOTS, chains->seeds[0]);
	table_init(&chains->callers_table);
	return chains;
}

void chains_seal(struct chains *chains)
{
	node_index_deinit(&chains->index);
	vector_deinit(&chains->numbers);
	free(take_pointer(chains->callers_table.slots));
	vector_deinit(&chains->callers);
	vector_deinit(&chains->roots);
}

void chains_destroy(struct chains *chains)
{
	if (!chains)
		return;
	chains_seal(chains);
	vector_deinit(&chains->nodes);
	vector_deinit(&chains->frames);
	free(chains);
}

size_t chains_node_count(const struct chains *chains)
{
	return chains->nodes.count;
}

const struct chains_node *chains_nodes(const struct chains *chains)
{
	return chains->nodes.items;
}

size_t chains_frame_count(const struct chains *chains)
{
	return chains->frames.count;
}

const struct chains_frame *chains_frames(const struct chains *chains)
{
	return chains->frames.items;
}

static void grow_callers(struct chains *chains)
{
	struct table *table = &chains->callers_table;

	free(table->slots);
	table->capacity *= 2;
	table->slots = memory_calloc_table(table->capacity, sizeof(*table->slots));
	for (uint32_t i = 0; i < chains->callers.count; i++) {
		size_t at = chains->callers.items[i].hash[0] & (table->capacity - 1);

		while (table->slots[at])
			at = (at + 1) & (table->capacity - 1);
		table->slots[at] = i + 1;
	}
}

static struct node_list list_of(const struct chains *chains)
{
	return (struct node_list){ chains->nodes.items, sizeof(*chains->nodes.items) };
}

/* The node of FRAME below PARENT, added if it is new. */
static inline uint32_t find_node(struct chains *chains, uint32_t parent, uint32_t frame)
{
	uint32_t *slot = node_index_slot(&chains->index, list_of(chains), parent, frame);

	if (*slot)
		return *slot - 1;
	if (chains->nodes.count == NODES_MAX && parent != CHAINS_NONE)
		return parent;
	vector_append(&chains->nodes, (struct chains_node){ .parent = parent, .frame = frame });
	*slot = chains->nodes.count;
	node_index_grow(&chains->index, list_of(chains), chains->nodes.count);
	return chains->nodes.count - 1;
}

static uint32_t root_of(struct chains *chains, uint32_t group)
{
	while (chains->roots.count <= group)
		vector_append(&chains->roots, 0);
	if (!chains->roots.items[group])
		chains->roots.items[group] = find_node(chains, CHAINS_NONE, group) + 1;
	return chains->roots.items[group] - 1;
}

static uint32_t find_frame(struct chains *chains, uint32_t location, uint16_t cpumode)
{
	size_t identity = identities_find(chains->functions, location, cpumode);
	size_t at = identity << CHAINS_LEVEL_BITS | cpumode;
	uint32_t *number;

	while (chains->numbers.count <= at)
		vector_append(&chains->numbers, 0);
	number = &chains->numbers.items[at];
	if (!*number) {
		vector_append(&chains->frames,
			      (struct chains_frame){ .location = location, .cpumode = cpumode });
		*number = chains->frames.count;
	}
	return *number - 1;
}

/* The frame of an address, which the resolver keeps with it: with the cpumode, and + 1. */
static inline uint32_t frame_of(struct chains *chains, const struct resolved *resolved,
				uint16_t cpumode)
{
	uint32_t level = cpumode & LEVEL_MASK;

	if (*resolved->tag >> CHAINS_LEVEL_BITS && (*resolved->tag & LEVEL_MASK) == level)
		return (*resolved->tag >> CHAINS_LEVEL_BITS) - 1;
	*resolved->tag = (find_frame(chains, resolved->location, level) + 1) << CHAINS_LEVEL_BITS |
			 level;
	return (*resolved->tag >> CHAINS_LEVEL_BITS) - 1;
}

static uint32_t frame_at(struct chains *chains, const struct address *address)
{
	struct resolved resolved = resolver_finish(chains->resolver, &address->lookup);

	return frame_of(chains, &resolved, address->cpumode);
}

static inline uint64_t fold(uint64_t left, uint64_t right)
{
	unsigned __int128 product = (unsigned __int128)left * right;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Two hashes side by side: the processor works on both at once. */
static inline void mix(const struct chains *chains, uint64_t hash[2], uint64_t word)
{
	hash[0] = fold(hash[0] ^ word, chains->seeds[2] | 1);
	hash[1] = fold(hash[1] + word, chains->seeds[3] | 1);
}

/* What the answer for an address behind a mark depends on, but for its time. */
static void mix_place(const struct chains *chains, uint64_t hash[2],
		      const struct chain_place *place, uint64_t time)
{
	uint64_t key = place->cpumode;

	if (place->machine)
		key |= (uint64_t)(place->space->number + 1) << 8;
	mix(chains, hash, key);
	if (place->machine && place->space == &place->machine->kernel)
		mix(chains, hash, session_kernel_at(place->machine, time));
}

/* A chain on its way into the tree. */
struct walk {
	const struct session_sample *sample;
	const struct context *context;
	const uint64_t *words; /* of the callers: marks and addresses */
	uint64_t count;
	struct chain_place place; /* of the innermost address, and the first of the callers */
	uint64_t hash[2];
};

static void hash_callers(struct chains *chains, struct walk *walk, uint32_t group)
{
	struct chain_place place = walk->place;
	uint64_t time = walk->sample->time;

	walk->hash[0] = chains->seeds[0] ^ group;
	walk->hash[1] = chains->seeds[1] + group;
	mix_place(chains, walk->hash, &place, time);
	for (uint64_t i = 0; i < walk->count; i++) {
		mix(chains, walk->hash, walk->words[i]);
		if (!chain_is_mark(walk->words[i]))
			continue;
		chain_enter(chains->session, walk->sample, walk->context, walk->words[i], &place);
		mix_place(chains, walk->hash, &place, time);
	}
}

/* Looks the callers up one by one, into RET. */
static void resolve_callers(struct chains *chains, const struct walk *walk, uint32_t root,
			    struct callers *ret)
{
	struct chain_place place = walk->place;
	uint64_t time = walk->sample->time;
	size_t count = 0;

	*ret = (struct callers){ .hash = { walk->hash[0], walk->hash[1] }, .node = root,
				 .until = SPACE_FOREVER };
	for (uint64_t i = 0; i < walk->count && count + 1 < CHAINS_FRAMES_MAX; i++) {
		struct address *address = &chains->addresses[count];

		if (chain_is_mark(walk->words[i])) {
			chain_enter(chains->session, walk->sample, walk->context, walk->words[i],
				    &place);
			continue;
		}
		resolver_begin(chains->resolver, place.machine, place.space, walk->words[i], time,
			       &address->lookup);
		address->cpumode = place.cpumode;
		if (ret->from < address->lookup.from)
			ret->from = address->lookup.from;
		if (ret->until > address->lookup.until)
			ret->until = address->lookup.until;
		count++;
	}
	while (count--)
		ret->node = find_node(chains, ret->node, frame_at(chains, &chains->addresses[count]));
}

/* The node of the callers; those of an older time under the same hash make room for those of now. */
static uint32_t find_callers(struct chains *chains, const struct walk *walk, uint32_t root)
{
	struct table *table = &chains->callers_table;
	size_t mask = table->capacity - 1, at = walk->hash[0] & mask;
	uint64_t time = walk->sample->time;

	for (; table->slots[at]; at = (at + 1) & mask) {
		struct callers *known = &chains->callers.items[table->slots[at] - 1];

		if (known->hash[0] != walk->hash[0] || known->hash[1] != walk->hash[1])
			continue;
		if (time < known->from || time >= known->until)
			resolve_callers(chains, walk, root, known);
		return known->node;
	}
	vector_reserve(&chains->callers, chains->callers.count + 1);
	resolve_callers(chains, walk, root, &chains->callers.items[chains->callers.count++]);
	table->slots[at] = chains->callers.count;
	if (2 * chains->callers.count > table->capacity)
		grow_callers(chains);
	return chains->callers.items[chains->callers.count - 1].node;
}

/* The first address of the chain and its place; false: there is none. */
static bool take_innermost(struct chains *chains, struct walk *walk, uint64_t *ret)
{
	chain_enter(chains->session, walk->sample, walk->context, PERF_CONTEXT_USER, &walk->place);
	while (walk->count) {
		uint64_t word = *walk->words;

		walk->words++;
		walk->count--;
		if (!chain_is_mark(word)) {
			*ret = word;
			return true;
		}
		chain_enter(chains->session, walk->sample, walk->context, word, &walk->place);
	}
	return false;
}

bool chains_begin(struct chains *chains, const struct session_sample *sample,
		  const struct context *context, uint32_t group, struct chains_end *ret)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct walk walk = { .sample = sample, .context = context, .words = fields->callchain,
			     .count = fields->callchain_count };
	uint32_t root = root_of(chains, group);
	struct address innermost;
	uint64_t address;

	ret->period = fields->period;
	if (!chain_is_sound(chains->session, fields) || !take_innermost(chains, &walk, &address)) {
		ret->callers = root;
		ret->cpumode = context->cpumode;
		ret->node = root;
		return chains->lone;
	}
	hash_callers(chains, &walk, group);
	ret->callers = find_callers(chains, &walk, root);
	ret->cpumode = walk.place.cpumode;
	if (address == fields->ip && walk.place.machine == context->machine &&
	    walk.place.space == context->space && walk.place.cpumode == context->cpumode)
		return true;
	resolver_begin(chains->resolver, walk.place.machine, walk.place.space, address,
		       sample->time, &innermost.lookup);
	innermost.cpumode = walk.place.cpumode;
	ret->node = find_node(chains, ret->callers, frame_at(chains, &innermost));
	return false;
}

void chains_prefetch(struct chains *chains, struct chains_end *end,
		     const struct resolved *resolved)
{
	end->frame = frame_of(chains, resolved, end->cpumode);
	__builtin_prefetch(&chains->index.slots[node_index_start(&chains->index, end->callers,
								 end->frame)]);
}

bool chains_locate(struct chains *chains, struct chains_end *end)
{
	end->node = find_node(chains, end->callers, end->frame);
	return end->node != end->callers;
}

void chains_count(struct chains *chains, const struct chains_end *end)
{
	chains->nodes.items[end->node].period += end->period;
	chains->nodes.items[end->node].count++;
}
