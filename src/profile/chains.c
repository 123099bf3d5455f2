/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers repeat: the return addresses of a loop's callers are the same in every sample of it,
 * while the innermost address is another each time. And the kernel's part of a chain has little to do
 * with the program that it was called by. So a sample's callers are two parts, each looked up as a
 * whole (chain_memo.h): the outer one from the chain's last mark on, and what is inside of that. Only
 * what was not met before is looked up address by address. The innermost address is always.
 *
 * No tree is built while samples are read: a function's place in it would have to be looked for, frame by
 * frame. What is counted are triples of outer part, inner part and innermost function.
 *
 * A part is looked up by its addresses and the places that these are in.
 *
 * Limits: 64 Mi different chains, samples of more count for their group alone; 64 Mi different parts of
 * chains, more are left out.
 */
#include "profile/chains.h"

#include <string.h>
#include <sys/random.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/vector.h"
#include "profile/chain_memo.h"

#define CELLS_MAX (64U << 20)
#define SEQUENCES_MAX (64U << 20)
#define LEVEL_MASK ((1U << CHAINS_LEVEL_BITS) - 1)

/* What a place is among the words of a part: this, which is no address, and three words more. */
#define PLACE_MARK UINT64_MAX
#define PLACE_WORDS 4

struct address {
	struct lookup lookup;
	uint16_t cpumode;
};

struct chains {
	struct session *session;
	struct resolver *resolver;
	struct identities *functions;
	bool lone;
	uint64_t seeds[3];
	VECTOR(uint64_t) words; /* of the batch: the parts of its chains */
	VECTOR(struct chains_frame) frames;
	VECTOR(uint32_t) numbers; /* of identity << CHAINS_LEVEL_BITS | cpumode: frame + 1 */
	VECTOR(struct chains_cell) cells;
	struct number_table cells_table;
	struct chain_memo memo;
	struct sequences sequences;
	struct address addresses[CHAINS_FRAMES_MAX]; /* of the part at hand … */
	uint32_t elements[CHAINS_FRAMES_MAX + 1];    /* … and what they are */
};

struct chains *chains_create(struct session *session, struct resolver *resolver,
			     struct identities *functions, bool lone)
{
	struct chains *chains = memory_calloc(1, sizeof(*chains));

	chains->session = session;
	chains->resolver = resolver;
	chains->functions = functions;
	chains->lone = lone;
	if (getrandom(chains->seeds, sizeof(chains->seeds), GRND_NONBLOCK) < 0)
		for (size_t i = 0; i < sizeof(chains->seeds) / sizeof(*chains->seeds); i++)
			chains->seeds[i] = hash_u64((uintptr_t)chains + i);
	number_table_init(&chains->cells_table);
	chain_memo_init(&chains->memo, CHAIN_MEMO_WORDS);
	sequences_init(&chains->sequences, chains->seeds[0]);
	return chains;
}

void chains_seal(struct chains *chains)
{
	vector_deinit(&chains->words);
	vector_deinit(&chains->numbers);
	number_table_deinit(&chains->cells_table);
	chain_memo_deinit(&chains->memo);
	sequences_seal(&chains->sequences);
}

void chains_destroy(struct chains *chains)
{
	if (!chains)
		return;
	chains_seal(chains);
	vector_deinit(&chains->frames);
	vector_deinit(&chains->cells);
	sequences_deinit(&chains->sequences);
	free(chains);
}

size_t chains_cell_count(const struct chains *chains)
{
	return chains->cells.count;
}

const struct chains_cell *chains_cells(const struct chains *chains)
{
	return chains->cells.items;
}

const struct sequences *chains_sequences(const struct chains *chains)
{
	return &chains->sequences;
}

size_t chains_frame_count(const struct chains *chains)
{
	return chains->frames.count;
}

const struct chains_frame *chains_frames(const struct chains *chains)
{
	return chains->frames.items;
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

/* Two words at a time. Who does not know the seeds cannot choose words of equal hashes. */
static uint64_t hash_words(const struct chains *chains, uint64_t hash, const uint64_t *words,
			   size_t count)
{
	hash ^= chains->seeds[1] + count;
	for (; count >= 2; words += 2, count -= 2)
		hash = fold(words[0] ^ hash, words[1] ^ chains->seeds[2]);
	return fold((count ? *words : 0) ^ hash, chains->seeds[0] | 1);
}

/* What the answer for an address depends on, but for itself and its time. */
static void put_place(uint64_t *words, const struct chain_place *place, uint64_t time)
{
	uint64_t kernel = MACHINE_NO_KERNEL;

	if (place->machine && place->space == &place->machine->kernel)
		kernel = session_kernel_at(place->machine, time);
	words[0] = PLACE_MARK;
	words[1] = (uintptr_t)place->machine;
	words[2] = (uintptr_t)place->space;
	words[3] = kernel << 16 | place->cpumode;
}

static struct chain_place take_place(const uint64_t *words)
{
	return (struct chain_place){ .machine = (struct machine *)(uintptr_t)words[1],
				     .space = (struct space *)(uintptr_t)words[2],
				     .cpumode = words[3] & UINT16_MAX };
}

/* A chain on its way into the words of the batch: a place and addresses there, the next place … */
struct walk {
	const struct session_sample *sample;
	const struct context *context;
	const uint64_t *at, *end; /* what is left of the chain */
	uint64_t *words, *stretch, *out; /* first; where the last place is; behind the last */
	size_t room; /* for addresses */
	uint64_t hash; /* of all before the last place */
};

static void enter(struct chains *chains, const struct walk *walk, uint64_t mark,
		  struct chain_place *ret)
{
	chain_enter(chains->session, walk->sample, walk->context, mark, ret);
}

/* Begins to take what follows at PLACE; where nothing was at the last one that is gone. */
static void begin_stretch(struct chains *chains, struct walk *walk, const struct chain_place *place)
{
	if (walk->out - walk->stretch > PLACE_WORDS) {
		walk->hash = hash_words(chains, walk->hash, walk->stretch,
					walk->out - walk->stretch);
		walk->stretch = walk->out;
	}
	put_place(walk->stretch, place, walk->sample->time);
	walk->out = walk->stretch + PLACE_WORDS;
}

/* Takes marks, the last of which counts; false: it is none. */
static bool take_marks(struct chains *chains, struct walk *walk, uint64_t *mark)
{
	for (; walk->at < walk->end && chain_is_mark(*walk->at); walk->at++) {
		if (!chain_is_sound_mark(chains->session, *walk->at))
			return false;
		*mark = *walk->at;
	}
	return true;
}

static inline void take_addresses(struct walk *walk)
{
	const uint64_t *stop = walk->end;

	if ((size_t)(stop - walk->at) > walk->room)
		stop = walk->at + walk->room;
	walk->room -= stop - walk->at;
	while (walk->at < stop && !chain_is_mark(*walk->at))
		*walk->out++ = *walk->at++;
	walk->room += stop - walk->at;
}

/* Behind what there was room for: only whether the chain is sound. */
static bool take_rest(struct chains *chains, struct walk *walk)
{
	for (; walk->at < walk->end; walk->at++)
		if (chain_is_mark(*walk->at) && !chain_is_sound_mark(chains->session, *walk->at))
			return false;
	return true;
}

/* Reads the callers, of which the first are at PLACE; false: the chain is damaged. */
static bool take_callers(struct chains *chains, struct walk *walk, struct chain_place place)
{
	uint64_t mark = 0; /* what stops take_addresses() is one */

	walk->stretch = walk->out = walk->words;
	begin_stretch(chains, walk, &place);
	for (;;) {
		take_addresses(walk);
		if (walk->at == walk->end || !walk->room)
			return take_rest(chains, walk);
		if (!take_marks(chains, walk, &mark))
			return false;
		if (walk->at == walk->end)
			return true;
		enter(chains, walk, mark, &place);
		begin_stretch(chains, walk, &place);
	}
}

/* Reads the chain into the words of the batch and RET; false: there is none, or it is damaged. */
static bool read_chain(struct chains *chains, struct walk *walk, struct chains_end *ret)
{
	uint64_t mark = PERF_CONTEXT_USER;

	if (!take_marks(chains, walk, &mark) || walk->at == walk->end)
		return false;
	ret->address = *walk->at++;
	enter(chains, walk, mark, &ret->place);
	if (!take_callers(chains, walk, ret->place))
		return false;
	if (walk->out - walk->stretch == PLACE_WORDS)
		walk->out = walk->stretch; /* nothing is there */
	return true;
}

static struct chains_part make_part(const struct chains *chains, const uint64_t *words,
				    size_t count, uint32_t group, uint64_t hash)
{
	return (struct chains_part){ .start = words - chains->words.items,
				     .count = count,
				     .group = group,
				     .hash = hash };
}

void chains_begin(struct chains *chains, const struct session_sample *sample,
		  const struct context *context, uint32_t group, struct chains_end *ret)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct walk walk = { .sample = sample, .context = context, .at = fields->callchain,
			     .end = fields->callchain + fields->callchain_count,
			     .room = CHAINS_FRAMES_MAX - 1 };
	bool found;

	/* Each word may be an address at a place of its own. */
	vector_reserve(&chains->words, chains->words.count +
					       (1 + PLACE_WORDS) * (fields->callchain_count + 1));
	walk.words = chains->words.items + chains->words.count;
	found = read_chain(chains, &walk, ret);
	if (!found) {
		walk.stretch = walk.out = walk.words;
		walk.hash = 0;
		ret->place.cpumode = context->cpumode;
	}
	ret->time = sample->time;
	ret->period = fields->period;
	ret->inner = make_part(chains, walk.words, walk.stretch - walk.words, 0, walk.hash);
	ret->outer = make_part(chains, walk.stretch, walk.out - walk.stretch, group,
			       hash_words(chains, group, walk.stretch, walk.out - walk.stretch));
	chains->words.count = walk.out - chains->words.items;
	chain_memo_fetch_slot(&chains->memo, ret->outer.hash);
	if (ret->inner.count)
		chain_memo_fetch_slot(&chains->memo, ret->inner.hash);
	ret->own = found ? ret->address == fields->ip && ret->place.machine == context->machine &&
				   ret->place.space == context->space &&
				   ret->place.cpumode == context->cpumode
			 : chains->lone;
	ret->elsewhere = found && !ret->own;
}

void chains_fetch(const struct chains *chains, const struct chains_end *end)
{
	chain_memo_fetch_entry(&chains->memo, end->outer.hash);
	if (end->inner.count)
		chain_memo_fetch_entry(&chains->memo, end->inner.hash);
}

/* Looks up PART address by address, into RET. */
static void resolve_part(struct chains *chains, const struct chains_part *part, uint64_t time,
			 struct chain_memo_value *ret)
{
	const uint64_t *words = chains->words.items + part->start;
	struct chain_place place = { 0 };
	uint32_t count = 0, made = 0;

	*ret = (struct chain_memo_value){ .until = SPACE_FOREVER };
	for (uint32_t i = 0; i < part->count; i++) {
		struct address *address = &chains->addresses[count];

		if (words[i] == PLACE_MARK) {
			place = take_place(&words[i]);
			i += PLACE_WORDS - 1;
			continue;
		}
		resolver_begin(chains->resolver, place.machine, place.space, words[i], time,
			       &address->lookup);
		address->cpumode = place.cpumode;
		if (ret->from < address->lookup.from)
			ret->from = address->lookup.from;
		if (ret->until > address->lookup.until)
			ret->until = address->lookup.until;
		count++;
	}
	if (part->group)
		chains->elements[made++] = part->group;
	while (count-- && chains->sequences.items.count < SEQUENCES_MAX)
		chains->elements[made++] = frame_at(chains, &chains->addresses[count]);
	ret->sequence = sequences_intern(&chains->sequences, chains->elements, made);
}

/* What PART is at TIME; what it was at another time makes room for that. */
static uint32_t find_part(struct chains *chains, const struct chains_part *part, uint64_t time)
{
	struct chain_memo_key key = { .words = chains->words.items + part->start,
				      .count = part->count, .group = part->group,
				      .hash = part->hash };
	struct chain_memo_value *known = chain_memo_find(&chains->memo, &key), value;

	if (known && time >= known->from && time < known->until)
		return known->sequence;
	resolve_part(chains, part, time, &value);
	if (known)
		*known = value;
	else
		chain_memo_add(&chains->memo, &key, &value);
	return value.sequence;
}

static void hash_cell(struct chains *chains, struct chains_end *end)
{
	uint64_t callers = (uint64_t)end->at.outer << 32 | end->at.inner;

	end->hash = fold(callers ^ chains->seeds[0], end->at.innermost ^ chains->seeds[1]);
	number_table_prefetch(&chains->cells_table, end->hash);
}

void chains_find_callers(struct chains *chains, struct chains_end *end)
{
	struct address innermost;

	end->at.outer = find_part(chains, &end->outer, end->time);
	end->at.inner = SEQUENCE_EMPTY;
	if (end->inner.count)
		end->at.inner = find_part(chains, &end->inner, end->time);
	end->at.innermost = CHAINS_NONE;
	if (end->elsewhere) {
		resolver_begin(chains->resolver, end->place.machine, end->place.space, end->address,
			       end->time, &innermost.lookup);
		innermost.cpumode = end->place.cpumode;
		end->at.innermost = frame_at(chains, &innermost);
	}
	if (!end->own)
		hash_cell(chains, end);
}

void chains_end_at(struct chains *chains, struct chains_end *end, const struct resolved *resolved)
{
	end->at.innermost = frame_of(chains, resolved, end->place.cpumode);
	hash_cell(chains, end);
}

void chains_locate(const struct chains *chains, const struct chains_end *end)
{
	size_t at = number_table_first(&chains->cells_table, end->hash);
	uint32_t number;

	if (number_table_next(&chains->cells_table, end->hash, &at, &number))
		__builtin_prefetch(&chains->cells.items[number]);
}

/* The number of the cell of WANTED, CHAINS_NONE: there is none, and none is to be added. */
static uint32_t find_cell(struct chains *chains, const struct chains_cell *wanted, uint32_t hash,
			  bool add)
{
	uint32_t number;

	for (size_t at = number_table_first(&chains->cells_table, hash);
	     number_table_next(&chains->cells_table, hash, &at, &number);) {
		const struct chains_cell *cell = &chains->cells.items[number];

		if (cell->outer == wanted->outer && cell->inner == wanted->inner &&
		    cell->innermost == wanted->innermost)
			return number;
	}
	if (!add)
		return CHAINS_NONE;
	number = chains->cells.count;
	vector_append(&chains->cells, (struct chains_cell){ .outer = wanted->outer,
							    .inner = wanted->inner,
							    .innermost = wanted->innermost });
	number_table_add(&chains->cells_table, hash, number);
	return number;
}

/* Where a sample of the group of END counts that is the first of its chain, and one too many. */
static uint32_t find_group_cell(struct chains *chains, const struct chains_end *end)
{
	struct chains_end none = { .at.innermost = CHAINS_NONE };

	none.at.outer = sequences_intern(&chains->sequences, &end->outer.group, 1);
	hash_cell(chains, &none);
	return find_cell(chains, &none.at, none.hash, true);
}

uint32_t chains_count(struct chains *chains, const struct chains_end *end, bool *ret_full)
{
	uint32_t number = find_cell(chains, &end->at, end->hash,
				    chains->cells.count < CELLS_MAX);

	*ret_full = number == CHAINS_NONE;
	if (*ret_full)
		number = find_group_cell(chains, end);
	chains->cells.items[number].period += end->period;
	chains->cells.items[number].count++;
	return number;
}

void chains_end_batch(struct chains *chains)
{
	chains->words.count = 0;
}
