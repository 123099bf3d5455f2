/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies a chain, since its record does not stay. Marks become the places that they stand for. */
#include "profile/chain_parts.h"

/* Hashes two words at a time. Without the seeds nobody can choose words with equal hashes. */
static uint64_t hash_words(const struct chain_parts *parts, uint64_t hash, const uint64_t *words,
			   size_t count)
{
	hash ^= parts->seeds[1] + count;
	for (; count >= 2; words += 2, count -= 2)
		hash = chain_parts_fold(words[0] ^ hash, words[1] ^ parts->seeds[2]);
	return chain_parts_fold((count ? *words : 0) ^ hash, parts->seeds[0] | 1);
}

/* What the answer for an address depends on, apart from the address and the time. */
static void put_place(uint64_t *words, const struct chain_place *place, uint64_t time)
{
	uint64_t kernel = MACHINE_NO_KERNEL;

	if (place->machine && place->space == &place->machine->kernel)
		kernel = session_kernel_at(place->machine, time);
	words[0] = CHAIN_PARTS_PLACE;
	words[1] = (uintptr_t)place->machine;
	words[2] = (uintptr_t)place->space;
	words[3] = kernel << 16 | place->cpumode;
}

struct chain_place chain_parts_place(const uint64_t *words)
{
	return (struct chain_place){ .machine = (struct machine *)(uintptr_t)words[1],
				     .space = (struct space *)(uintptr_t)words[2],
				     .cpumode = words[3] & UINT16_MAX };
}

/*
 * A chain that is being copied into the words of the batch: a place, the addresses there, the next
 * place …
 */
struct walk {
	const struct session_sample *sample;
	const struct context *context;
	const uint64_t *at, *end; /* the rest of the chain */
	uint64_t *words, *stretch, *out; /* the first word; the last place; the end of the words */
	size_t room; /* for addresses */
	uint64_t hash; /* of everything before the last place */
};

static void enter(struct chain_parts *parts, const struct walk *walk, uint64_t mark,
		  struct chain_place *place)
{
	chain_enter(parts->session, walk->sample, walk->context, mark, place);
}

/* Begins a stretch of addresses at PLACE. If the last stretch is empty, it is replaced. */
static void begin_stretch(struct chain_parts *parts, struct walk *walk,
			  const struct chain_place *place)
{
	if (walk->out - walk->stretch > CHAIN_PARTS_PLACE_WORDS) {
		walk->hash = hash_words(parts, walk->hash, walk->stretch,
					walk->out - walk->stretch);
		walk->stretch = walk->out;
	}
	put_place(walk->stretch, place, walk->sample->time);
	walk->out = walk->stretch + CHAIN_PARTS_PLACE_WORDS;
}

/* Reads successive marks, the last of which counts; false: one of them is invalid. */
static bool take_marks(struct chain_parts *parts, struct walk *walk, uint64_t *mark)
{
	for (; walk->at < walk->end && chain_is_mark(*walk->at); walk->at++) {
		if (!chain_is_sound_mark(parts->session, *walk->at))
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

/* Reads what there was no room for, only to check that the chain is valid. */
static bool take_rest(struct chain_parts *parts, struct walk *walk)
{
	for (; walk->at < walk->end; walk->at++)
		if (chain_is_mark(*walk->at) && !chain_is_sound_mark(parts->session, *walk->at))
			return false;
	return true;
}

/* Reads the callers, the first of which are at PLACE; false: the chain is damaged. */
static bool take_callers(struct chain_parts *parts, struct walk *walk, struct chain_place place)
{
	uint64_t mark = 0; /* take_addresses() stops at a mark */

	walk->stretch = walk->out = walk->words;
	begin_stretch(parts, walk, &place);
	for (;;) {
		take_addresses(walk);
		if (walk->at == walk->end || !walk->room)
			return take_rest(parts, walk);
		if (!take_marks(parts, walk, &mark))
			return false;
		if (walk->at == walk->end)
			return true;
		enter(parts, walk, mark, &place);
		begin_stretch(parts, walk, &place);
	}
}

/* Reads the chain into the words of the batch and RET; false: there is none, or it is damaged. */
static bool read_chain(struct chain_parts *parts, struct walk *walk, struct chain_read *ret)
{
	uint64_t mark = PERF_CONTEXT_USER;

	if (!take_marks(parts, walk, &mark) || walk->at == walk->end)
		return false;
	ret->address = *walk->at++;
	ret->place = (struct chain_place){ 0 };
	enter(parts, walk, mark, &ret->place);
	if (!take_callers(parts, walk, ret->place))
		return false;
	if (walk->out - walk->stretch == CHAIN_PARTS_PLACE_WORDS)
		walk->out = walk->stretch; /* it is empty */
	return true;
}

static struct chain_part make_part(const struct chain_parts *parts, const uint64_t *words,
				    size_t count, uint32_t group, uint64_t hash)
{
	return (struct chain_part){ .start = words - parts->words.items,
				     .count = count,
				     .group = group,
				     .hash = hash };
}

void chain_parts_read(struct chain_parts *parts, const struct session_sample *sample,
		      const struct context *context, uint32_t group, struct chain_read *ret)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct walk walk = { .sample = sample, .context = context, .room = parts->max_frames - 1 };

	if (fields->callchain_count) { /* else there is no place */
		walk.at = fields->callchain;
		walk.end = fields->callchain + fields->callchain_count;
	}
	/* Each word may be an address at a place of its own. */
	vector_reserve(&parts->words,
		       parts->words.count +
			       (1 + CHAIN_PARTS_PLACE_WORDS) * (fields->callchain_count + 1));
	walk.words = parts->words.items + parts->words.count;
	ret->found = read_chain(parts, &walk, ret);
	if (!ret->found) {
		walk.stretch = walk.out = walk.words;
		walk.hash = 0;
	}
	ret->inner = make_part(parts, walk.words, walk.stretch - walk.words, 0, walk.hash);
	ret->outer = make_part(parts, walk.stretch, walk.out - walk.stretch, group,
			       hash_words(parts, group, walk.stretch, walk.out - walk.stretch));
	parts->words.count = walk.out - parts->words.items;
}
