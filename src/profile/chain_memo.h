/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remembers the results for parts of call chains: the words by which a part is looked up, and the
 * sequence that they stand for during a span of time. Words are compared, not just their hashes.
 * Its size is bounded: it forgets everything when it is full.
 */
#ifndef PROFILE_CHAIN_MEMO_H
#define PROFILE_CHAIN_MEMO_H

#include <stdint.h>

#include "base/vector.h"
#include "profile/number_table.h"

#define CHAIN_MEMO_WORDS ((size_t)8 << 20)

struct chain_memo {
	/*
	 * Entries, one after another: the words of a chain_memo_entry, followed by those of its
	 * part.
	 */
	VECTOR(uint64_t) words;
	struct number_table table; /* where an entry starts */
	/* in words; an entry that is larger by itself is not kept */
	size_t limit;
};

struct chain_memo_key {
	const uint64_t *words;
	uint32_t count;
	uint32_t group; /* the same words in another group are a different part */
	uint64_t hash;	/* of words and group */
};

/* Valid in [from, until). */
struct chain_memo_value {
	uint64_t from, until;
	uint64_t stamp; /* … and as long as this is the session's */
	uint32_t sequence;
};

/* LIMIT: CHAIN_MEMO_WORDS, or less. */
void chain_memo_init(struct chain_memo *memo, size_t limit);
void chain_memo_deinit(struct chain_memo *memo);

/* Two steps towards the answer, each of which prefetches what the next one reads. */
static inline void chain_memo_fetch_slot(const struct chain_memo *memo, uint64_t hash)
{
	number_table_prefetch(&memo->table, hash);
}
void chain_memo_fetch_entry(const struct chain_memo *memo, uint64_t hash);

/*
 * What is known of KEY, valid until the next add; NULL: nothing. The caller overwrites a value that
 * is no longer valid.
 */
struct chain_memo_value *chain_memo_find(struct chain_memo *memo, const struct chain_memo_key *key);
void chain_memo_add(struct chain_memo *memo, const struct chain_memo_key *key,
		    const struct chain_memo_value *value);

#endif
