/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callers repeat: the return addresses of a loop's callers are the same in every sample of it,
 * while the innermost address differs each time. Also, the kernel's part of a chain has little to
 * do with the program that called it. So a sample's callers are split into two parts, each looked
 * up as a whole (chain_memo.h): the outer part, from the chain's last mark on, and the inner part,
 * the rest. Only parts that were not seen before are looked up address by address. The innermost
 * address always is.
 *
 * No tree is built while samples are read, since a function's place in it would have to be found
 * frame by frame. Instead, triples of outer part, inner part and innermost function are counted.
 *
 * A part is looked up by its addresses and the places where these are.
 *
 * Limits, per thread: 64 Mi different chains, beyond which samples count only for their group; 64
 * Mi different parts of chains, and as many frames in all of them, beyond which parts are left out.
 * (In a recording that is not compressed, 64 Mi frames take 512 MB.)
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
#define ELEMENTS_MAX (64U << 20)
/* Elements of a part: two of them, and what is inlined into the innermost, fit into a tree. */
#define EXPANDED_MAX (CHAINS_FRAMES_MAX - SOURCE_FRAMES_MAX - 2)
#define LEVEL_MASK ((1U << CHAINS_LEVEL_BITS) - 1)

struct address {
	struct lookup lookup;
	uint16_t cpumode;
};

struct chains {
	struct resolver *resolver;
	struct chain_frames *frames;
	uint64_t now; /* incremented for each frame that is looked up */
	bool lone, inlined;
	struct chain_parts parts; /* of the batch */
	VECTOR(struct chains_cell) cells;
	struct number_table cells_table;
	struct chain_memo memo;
	struct sequences sequences;
	uint64_t left_out; /* parts for which there was no room */
	struct address addresses[CHAINS_FRAMES_MAX]; /* of the current part … */
	uint32_t elements[CHAINS_FRAMES_MAX + 1];    /* … and the corresponding elements */
};

struct chains *chains_create(struct session *session, struct resolver *resolver,
			     struct chain_frames *frames, bool lone)
{
	struct chains *chains = memory_calloc(1, sizeof(*chains));

	chains->parts.session = session;
	chains->parts.max_frames = CHAINS_FRAMES_MAX;
	chains->resolver = resolver;
	chains->frames = frames;
	chains->lone = lone;
	if (getrandom(chains->parts.seeds, sizeof(chains->parts.seeds), GRND_NONBLOCK) < 0)
		for (size_t i = 0; i < sizeof(chains->parts.seeds) / sizeof(*chains->parts.seeds);
		     i++)
			chains->parts.seeds[i] = hash_u64((uintptr_t)chains + i);
	number_table_init(&chains->cells_table);
	chain_memo_init(&chains->memo, CHAIN_MEMO_WORDS);
	sequences_init(&chains->sequences, chains->parts.seeds[0]);
	return chains;
}

void chains_want_inlined(struct chains *chains)
{
	chains->inlined = true;
}

void chains_limit(struct chains *chains, size_t frames)
{
	if (frames < CHAINS_FRAMES_MAX)
		chains->parts.max_frames = frames;
}

void chains_seal(struct chains *chains)
{
	vector_deinit(&chains->parts.words);
	number_table_deinit(&chains->cells_table);
	chain_memo_deinit(&chains->memo);
	sequences_seal(&chains->sequences);
}

void chains_destroy(struct chains *chains)
{
	if (!chains)
		return;
	chains_seal(chains);
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

uint64_t chains_left_out(const struct chains *chains)
{
	return chains->left_out;
}

const struct sequences *chains_sequences(const struct chains *chains)
{
	return &chains->sequences;
}

const struct chain_frames *chains_frames(const struct chains *chains)
{
	return chains->frames;
}

void chains_begin_part(struct chains *chains, uint32_t number)
{
	chains->now = (uint64_t)number << 32;
}

/* The frame of an address. The resolver keeps frame + 1 with the address, and the cpumode. */
static inline uint32_t frame_of(struct chains *chains, const struct resolved *resolved,
				uint16_t cpumode)
{
	uint32_t level = cpumode & LEVEL_MASK, number;

	if (*resolved->tag >> CHAINS_LEVEL_BITS && (*resolved->tag & LEVEL_MASK) == level)
		return (*resolved->tag >> CHAINS_LEVEL_BITS) - 1;
	number = 1 + chain_frames_find(chains->frames, resolved->location, level, chains->now++);
	*resolved->tag = number << CHAINS_LEVEL_BITS | level;
	return number - 1;
}

static uint32_t frame_at(struct chains *chains, const struct address *address)
{
	struct resolved resolved = resolver_finish(chains->resolver, &address->lookup);

	return frame_of(chains, &resolved, address->cpumode);
}

/* The frame of LOCATION, a function that is inlined at ADDRESS. */
static uint32_t inlined_frame(struct chains *chains, const struct address *address,
			      uint32_t location)
{
	return chain_frames_find(chains->frames, location, address->cpumode & LEVEL_MASK,
				 chains->now++);
}

/*
 * Appends the functions inlined at ADDRESS, which is looked up, to the elements, of which there are
 * MADE, if they and LEFT more fit. Returns how many there are then.
 */
static uint32_t append_inlined(struct chains *chains, const struct address *address, uint32_t made,
			       uint32_t left)
{
	const uint32_t *locations;
	size_t count = 0;

	if (!chains->inlined)
		return made;
	locations = resolver_inlined(chains->resolver, &address->lookup, &count);
	if (made + left + count > EXPANDED_MAX ||
	    chains->sequences.elements.count + made + left + count > ELEMENTS_MAX)
		return made;
	for (size_t i = 0; i < count; i++)
		chains->elements[made++] = inlined_frame(chains, address, locations[i]);
	return made;
}

void chains_begin(struct chains *chains, const struct session_sample *sample,
		  const struct context *context, uint32_t group, struct chains_end *ret)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct chain_read *read = &ret->read;

	chain_parts_read(&chains->parts, sample, context, group, read);
	if (!read->found)
		read->place.cpumode = context->cpumode;
	ret->time = sample->time;
	ret->period = fields->period;
	chain_memo_fetch_slot(&chains->memo, read->outer.hash);
	if (read->inner.count)
		chain_memo_fetch_slot(&chains->memo, read->inner.hash);
	ret->own = read->found ? read->address == fields->ip &&
					 read->place.machine == context->machine &&
					 read->place.space == context->space &&
					 read->place.cpumode == context->cpumode
			       : chains->lone;
	ret->elsewhere = read->found && !ret->own;
}

void chains_fetch(const struct chains *chains, const struct chains_end *end)
{
	chain_memo_fetch_entry(&chains->memo, end->read.outer.hash);
	if (end->read.inner.count)
		chain_memo_fetch_entry(&chains->memo, end->read.inner.hash);
}

/* Looks up PART address by address, and stores the result in RET. */
static void resolve_part(struct chains *chains, const struct chain_part *part, uint64_t time,
			 struct chain_memo_value *ret)
{
	const uint64_t *words = chains->parts.words.items + part->start;
	struct chain_place place = { 0 };
	uint32_t count = 0, made = 0;

	*ret = (struct chain_memo_value){ .until = SPACE_FOREVER,
					  .stamp = chains->parts.session->stamp };
	for (uint32_t i = 0; i < part->count; i++) {
		struct address *address = &chains->addresses[count];

		if (words[i] == CHAIN_PARTS_PLACE) {
			place = chain_parts_place(&words[i]);
			i += CHAIN_PARTS_PLACE_WORDS - 1;
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
		chains->elements[made++] = CHAINS_GROUP | part->group;
	if (chains->sequences.items.count >= SEQUENCES_MAX ||
	    chains->sequences.elements.count + count > ELEMENTS_MAX) {
		chains->left_out++;
		count = 0;
	}
	while (count--) {
		chains->elements[made++] = frame_at(chains, &chains->addresses[count]);
		made = append_inlined(chains, &chains->addresses[count], made, count);
	}
	ret->sequence = sequences_intern(&chains->sequences, chains->elements, made);
}

/* The sequence for PART at TIME; replaces one that was found for another time. */
static uint32_t find_part(struct chains *chains, const struct chain_part *part, uint64_t time)
{
	struct chain_memo_key key = { .words = chains->parts.words.items + part->start,
				      .count = part->count, .group = part->group,
				      .hash = part->hash };
	struct chain_memo_value *known = chain_memo_find(&chains->memo, &key), value;

	if (known && time >= known->from && time < known->until &&
	    known->stamp == chains->parts.session->stamp)
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

	end->hash = chain_parts_fold(callers ^ chains->parts.seeds[0],
				     end->at.innermost ^ chains->parts.seeds[1]);
	number_table_prefetch(&chains->cells_table, end->hash);
}

/* The chain ends at ADDRESS in FRAME, or in a function that is inlined there. */
static void end_at(struct chains *chains, struct chains_end *end, const struct address *address,
		   uint32_t frame)
{
	uint32_t inner = sequences_length(&chains->sequences, end->at.inner), made = inner + 1;

	end->at.innermost = frame;
	if (!chains->inlined || chains->sequences.items.count >= SEQUENCES_MAX)
		return;
	if (inner)
		memcpy(chains->elements, sequences_elements(&chains->sequences, end->at.inner),
		       inner * sizeof(*chains->elements));
	chains->elements[inner] = frame;
	made = append_inlined(chains, address, made, 0);
	if (made == inner + 1)
		return;
	end->at.innermost = chains->elements[made - 1];
	end->at.inner = sequences_intern(&chains->sequences, chains->elements, made - 1);
}

void chains_find_callers(struct chains *chains, struct chains_end *end)
{
	struct address innermost;

	end->at.outer = find_part(chains, &end->read.outer, end->time);
	end->at.inner = SEQUENCE_EMPTY;
	if (end->read.inner.count)
		end->at.inner = find_part(chains, &end->read.inner, end->time);
	end->at.innermost = CHAINS_NONE;
	if (end->elsewhere) {
		resolver_begin(chains->resolver, end->read.place.machine, end->read.place.space,
			       end->read.address, end->time, &innermost.lookup);
		innermost.cpumode = end->read.place.cpumode;
		end_at(chains, end, &innermost, frame_at(chains, &innermost));
	}
	if (!end->own)
		hash_cell(chains, end);
}

void chains_end_at(struct chains *chains, struct chains_end *end, const struct lookup *lookup,
		   const struct resolved *resolved)
{
	struct address address = { .cpumode = end->read.place.cpumode };
	uint32_t frame = frame_of(chains, resolved, address.cpumode);

	end->at.innermost = frame;
	if (chains->inlined) {
		address.lookup = *lookup;
		end_at(chains, end, &address, frame);
	}
	hash_cell(chains, end);
}

void chains_locate(const struct chains *chains, const struct chains_end *end)
{
	size_t at = number_table_first(&chains->cells_table, end->hash);
	uint32_t number;

	if (number_table_next(&chains->cells_table, end->hash, &at, &number))
		__builtin_prefetch(&chains->cells.items[number]);
}

/* The index of the cell equal to WANTED. CHAINS_NONE: there is none, and none may be added. */
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

/* The cell for samples of GROUP whose chains do not fit. */
static uint32_t find_group_cell(struct chains *chains, uint32_t group)
{
	struct chains_end none = { .at.innermost = CHAINS_NONE };
	uint32_t element = CHAINS_GROUP | group;

	none.at.outer = sequences_intern(&chains->sequences, &element, 1);
	hash_cell(chains, &none);
	return find_cell(chains, &none.at, none.hash, true);
}

uint32_t chains_count(struct chains *chains, const struct chains_end *end, bool *ret_full)
{
	uint32_t number = find_cell(chains, &end->at, end->hash,
				    chains->cells.count < CELLS_MAX);

	*ret_full = number == CHAINS_NONE;
	if (*ret_full)
		number = find_group_cell(chains, end->read.outer.group);
	chains->cells.items[number].period += end->period;
	chains->cells.items[number].count++;
	return number;
}

void chains_take_back(struct chains *chains, uint32_t number, uint64_t period)
{
	chains->cells.items[number].period -= period;
	chains->cells.items[number].count--;
}

void chains_decay(struct chains *chains, unsigned eighths)
{
	for (size_t i = 0; i < chains->cells.count; i++) {
		struct chains_cell *cell = &chains->cells.items[i];

		cell->period = cell->period * eighths / 8;
		cell->count = cell->count * eighths / 8;
		if (!cell->period)
			cell->count = 0;
		else if (!cell->count)
			cell->count = 1;
	}
}

size_t chains_size(const struct chains *chains)
{
	return chains->cells.count + chains->sequences.elements.count;
}

void chains_end_batch(struct chains *chains)
{
	chains->parts.words.count = 0;
}

/* The numbers that OTHER's sequences have in CHAINS. */
static uint32_t *merge_sequences(struct chains *chains, const struct sequences *other)
{
	uint32_t *numbers = memory_alloc(other->items.count * sizeof(*numbers));

	for (size_t i = 0; i < other->items.count; i++)
		numbers[i] = sequences_intern(&chains->sequences, sequences_elements(other, i),
					      sequences_length(other, i));
	return numbers;
}

uint32_t *chains_merge(struct chains *chains, const struct chains *other)
{
	_cleanup_free_ uint32_t *sequences = merge_sequences(chains, &other->sequences);
	uint32_t *numbers = memory_alloc((other->cells.count + 1) * sizeof(*numbers));

	chains->left_out += other->left_out;
	for (size_t i = 0; i < other->cells.count; i++) {
		const struct chains_cell *cell = &other->cells.items[i];
		struct chains_end end = { .at = { .outer = sequences[cell->outer],
						  .inner = sequences[cell->inner],
						  .innermost = cell->innermost } };

		hash_cell(chains, &end);
		numbers[i] = find_cell(chains, &end.at, end.hash, true);
		chains->cells.items[numbers[i]].period += cell->period;
		chains->cells.items[numbers[i]].count += cell->count;
	}
	return numbers;
}

void chains_renumber(struct chains *chains, const uint32_t *groups, const uint32_t *frames)
{
	for (size_t i = 0; i < chains->sequences.elements.count; i++) {
		uint32_t *element = &chains->sequences.elements.items[i];

		*element = *element & CHAINS_GROUP ? groups[*element & ~CHAINS_GROUP] | CHAINS_GROUP
						   : frames[*element];
	}
	for (size_t i = 0; i < chains->cells.count; i++)
		if (chains->cells.items[i].innermost != CHAINS_NONE)
			chains->cells.items[i].innermost = frames[chains->cells.items[i].innermost];
}
