/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An entry, including its words, is contiguous: one prefetch gets most of it. */
#include "profile/chain_memo.h"

#include <string.h>

struct chain_memo_entry {
	uint64_t hash;
	struct chain_memo_value value;
	uint32_t count, group;
};

#define ENTRY_WORDS (sizeof(struct chain_memo_entry) / sizeof(uint64_t))

_Static_assert(sizeof(struct chain_memo_entry) % sizeof(uint64_t) == 0,
	       "entries are made of words");
_Static_assert(CHAIN_MEMO_WORDS < UINT32_MAX, "where an entry starts is a number of the table");

void chain_memo_init(struct chain_memo *memo, size_t limit)
{
	*memo = (struct chain_memo){ .limit = limit };
	number_table_init(&memo->table);
}

void chain_memo_deinit(struct chain_memo *memo)
{
	vector_deinit(&memo->words);
	number_table_deinit(&memo->table);
}

static struct chain_memo_entry *entry_at(const struct chain_memo *memo, uint32_t start)
{
	return (void *)&memo->words.items[start];
}

void chain_memo_fetch_entry(const struct chain_memo *memo, uint64_t hash)
{
	size_t at = number_table_first(&memo->table, hash);
	uint32_t start;

	if (!number_table_next(&memo->table, hash, &at, &start))
		return;
	__builtin_prefetch(entry_at(memo, start));
	__builtin_prefetch(entry_at(memo, start) + 1);
}

struct chain_memo_value *chain_memo_find(struct chain_memo *memo, const struct chain_memo_key *key)
{
	uint32_t start;

	for (size_t at = number_table_first(&memo->table, key->hash);
	     number_table_next(&memo->table, key->hash, &at, &start);) {
		struct chain_memo_entry *entry = entry_at(memo, start);

		if (entry->hash == key->hash && entry->group == key->group &&
		    entry->count == key->count &&
		    !memcmp(entry + 1, key->words, key->count * sizeof(*key->words)))
			return &entry->value;
	}
	return NULL;
}

static void forget_all(struct chain_memo *memo)
{
	number_table_deinit(&memo->table);
	number_table_init(&memo->table);
	memo->words.count = 0;
}

void chain_memo_add(struct chain_memo *memo, const struct chain_memo_key *key,
		    const struct chain_memo_value *value)
{
	size_t words = ENTRY_WORDS + key->count, start;

	if (words > memo->limit)
		return;
	if (memo->words.count + words > memo->limit)
		forget_all(memo);
	start = memo->words.count;
	vector_reserve(&memo->words, start + words);
	memo->words.count += words;
	*entry_at(memo, start) = (struct chain_memo_entry){ .hash = key->hash, .value = *value,
							    .count = key->count,
							    .group = key->group };
	memcpy(entry_at(memo, start) + 1, key->words, key->count * sizeof(*key->words));
	number_table_add(&memo->table, key->hash, start);
}
