/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What parts of call chains were found to be: the words that such a part is looked up by, and the
 * sequence that came of them, for a span of time. Words are compared, whatever their hash. Of
 * bounded size: it forgets all when it is full.
 */
#ifndef PROFILE_CHAIN_MEMO_H
#define PROFILE_CHAIN_MEMO_H

#include <stdint.h>

#include "base/vector.h"
#include "profile/number_table.h"

#define CHAIN_MEMO_WORDS ((size_t)8 << 20)

struct chain_memo {
	/* Entries side by side; all the words of a chain_memo_entry, then those of its part. */
	VECTOR(uint64_t) words;
	struct number_table table; /* where an entry starts */
	/* of words; entries that do not fit into it alone are not kept */
	size_t limit;
};

struct chain_memo_key {
	const uint64_t *words;
	uint32_t count;
	uint32_t group; /* the same words in another group are another part */
	uint64_t hash;	/* of all that */
};

/* What holds in [from, until). */
struct chain_memo_value {
	uint64_t from, until;
	uint32_t sequence;
};

/* LIMIT: CHAIN_MEMO_WORDS, or less. */
void chain_memo_init(struct chain_memo *memo, size_t limit);
void chain_memo_deinit(struct chain_memo *memo);

/* Two steps towards the answer, each of which fetches into the cache what the next one reads. */
static inline void chain_memo_fetch_slot(const struct chain_memo *memo, uint64_t hash)
{
	number_table_prefetch(&memo->table, hash);
}
void chain_memo_fetch_entry(const struct chain_memo *memo, uint64_t hash);

/*
 * What is known of KEY, to be written to where it no longer holds; NULL: nothing. Until the next
 * add.
 */
struct chain_memo_value *chain_memo_find(struct chain_memo *memo, const struct chain_memo_key *key);
void chain_memo_add(struct chain_memo *memo, const struct chain_memo_key *key,
		    const struct chain_memo_value *value);

#endif
