/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/chain_memo.h"

#define HASH 0x123456789abcdefULL
#define LIMIT 1000 /* words */

static struct chain_memo_key key_of(const uint64_t *words, uint32_t count, uint32_t group,
				    uint64_t hash)
{
	return (struct chain_memo_key){ .words = words, .count = count, .group = group,
					.hash = hash };
}

static void add(struct chain_memo *memo, struct chain_memo_key key, uint32_t sequence)
{
	chain_memo_add(memo, &key, &(struct chain_memo_value){ .until = 10, .sequence = sequence });
}

static void check(struct chain_memo *memo, struct chain_memo_key key, uint32_t sequence)
{
	const struct chain_memo_value *value = chain_memo_find(memo, &key);

	chain_memo_fetch_entry(memo, key.hash);
	assert_non_null(value);
	assert_int_equal(value->sequence, sequence);
}

/* Chains must stay apart even if somebody finds words with the same hash. */
static void words_count_not_hashes(void **state)
{
	const uint64_t words[] = { 1, 2, 3 }, others[] = { 1, 2, 4 };
	struct chain_memo_key key;
	struct chain_memo memo;

	(void)state;
	chain_memo_init(&memo, LIMIT);
	add(&memo, key_of(words, 3, 0, HASH), 1);
	add(&memo, key_of(others, 3, 0, HASH), 2);
	add(&memo, key_of(words, 2, 0, HASH), 3);
	add(&memo, key_of(words, 3, 7, HASH), 4);
	add(&memo, key_of(words, 0, 7, HASH), 5);
	check(&memo, key_of(words, 3, 0, HASH), 1);
	check(&memo, key_of(others, 3, 0, HASH), 2);
	check(&memo, key_of(words, 2, 0, HASH), 3);
	check(&memo, key_of(words, 3, 7, HASH), 4);
	check(&memo, key_of(words, 0, 7, HASH), 5);
	key = key_of(others, 2, 1, HASH);
	assert_null(chain_memo_find(&memo, &key));
	key = key_of(words, 3, 0, HASH ^ 1ULL << 60); /* the same slot, another hash */
	assert_null(chain_memo_find(&memo, &key));
	chain_memo_deinit(&memo);
}

static void size_is_bounded(void **state)
{
	uint64_t words[LIMIT] = { 0 };
	struct chain_memo memo;
	struct chain_memo_key key;
	size_t known = 0;

	(void)state;
	chain_memo_init(&memo, LIMIT);
	for (uint64_t i = 0; i < 10000; i++) {
		words[0] = i;
		add(&memo, key_of(words, 1 + i % 90, 0, i * 0x9e3779b97f4a7c15), i);
		assert_true(memo.words.count <= LIMIT);
		assert_true(memo.table.count <= LIMIT);
		check(&memo, key_of(words, 1 + i % 90, 0, i * 0x9e3779b97f4a7c15), i);
	}
	for (uint64_t i = 0; i < 10000; i++) {
		words[0] = i;
		key = key_of(words, 1 + i % 90, 0, i * 0x9e3779b97f4a7c15);
		known += chain_memo_find(&memo, &key) != NULL;
	}
	assert_in_range(known, 1, LIMIT);
	/* An entry that is larger than the limit is not kept. */
	key = key_of(words, LIMIT, 0, 1);
	add(&memo, key, 1);
	assert_null(chain_memo_find(&memo, &key));
	chain_memo_deinit(&memo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_count_not_hashes),
		cmocka_unit_test(size_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
