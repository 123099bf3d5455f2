/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

#define COUNT 5000

static int compare(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

/* Compares with libc. Keys use the bits in MASK; with few bits, many keys are equal. */
static void check(size_t count, uint64_t mask)
{
	_cleanup_free_ struct sort_key *keys = memory_calloc(count, sizeof(*keys));
	_cleanup_free_ struct sort_key *wanted = NULL;
	uint64_t random = 88172645463325252;

	for (size_t i = 0; i < count; i++) {
		random ^= random << 13; /* xorshift64 */
		random ^= random >> 7;
		random ^= random << 17;
		keys[i] = (struct sort_key){ random & mask, i };
	}
	wanted = memory_dup(keys, count * sizeof(*keys));
	qsort(wanted, count, sizeof(*wanted), compare);
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(keys[i].key, wanted[i].key);
		assert_int_equal(keys[i].index, wanted[i].index);
	}
}

static void as_libc_sorts(void **state)
{
	static const uint64_t masks[] = { UINT64_MAX, 0,      0xff,       0xff00000000000000,
					  0x7ff,      0xfff0, 1ULL << 63, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++) {
		check(COUNT, masks[i]);
		check(2, masks[i]);
		check(1, masks[i]);
		check(0, masks[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_libc_sorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
