/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "profile/sequences.h"

#define COUNT 20000
#define LONGEST 40

static uint64_t state_of_random = 88172645463325252;

static uint32_t random_below(uint32_t limit)
{
	state_of_random ^= state_of_random << 13; /* xorshift64 */
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return (state_of_random >> 20) % limit;
}

/* Many with a common prefix, and many that are prefixes of others. */
static uint32_t intern_random(struct sequences *sequences, uint32_t *elements)
{
	uint32_t count = random_below(LONGEST), alike = random_below(LONGEST);

	for (uint32_t i = 0; i < count; i++)
		elements[i] = i < alike ? 7 : random_below(i % 3 ? UINT32_MAX - 1 : 3);
	return sequences_intern(sequences, elements, count);
}

static const struct sequences *compared;

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t count_a = sequences_length(compared, a), count_b = sequences_length(compared, b);

	for (uint32_t i = 0; i < count_a && i < count_b; i++) {
		uint32_t x = sequences_elements(compared, a)[i];
		uint32_t y = sequences_elements(compared, b)[i];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return count_a < count_b ? -1 : count_a > count_b;
}

static void equal_ones_are_one(void **state)
{
	uint32_t (*elements)[LONGEST] = memory_calloc(COUNT, sizeof(*elements));
	uint32_t *numbers = memory_calloc(COUNT, sizeof(*numbers));
	struct sequences sequences;

	(void)state;
	sequences_init(&sequences, 1);
	assert_int_equal(sequences_length(&sequences, SEQUENCE_EMPTY), 0);
	for (size_t i = 0; i < COUNT; i++)
		numbers[i] = intern_random(&sequences, elements[i]);
	for (size_t i = 0; i < COUNT; i++) {
		uint32_t count = sequences_length(&sequences, numbers[i]);

		assert_memory_equal(sequences_elements(&sequences, numbers[i]), elements[i],
				    count * sizeof(**elements));
		assert_int_equal(sequences_intern(&sequences, elements[i], count), numbers[i]);
	}
	free(elements);
	free(numbers);
	sequences_deinit(&sequences);
}

static void ranks_are_as_libc_sorts(void **state)
{
	uint32_t elements[LONGEST], *ranks, *numbers;
	struct sequences sequences;
	size_t count;

	(void)state;
	sequences_init(&sequences, 1);
	for (size_t i = 0; i < COUNT; i++)
		intern_random(&sequences, elements);
	count = sequences.items.count;
	assert_true(count > COUNT / 4);
	numbers = memory_calloc(count, sizeof(*numbers));
	for (size_t i = 0; i < count; i++)
		numbers[i] = i;
	compared = &sequences;
	qsort(numbers, count, sizeof(*numbers), compare);
	ranks = sequences_rank(&sequences);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(ranks[numbers[i]], i);
	free(ranks);
	free(numbers);
	sequences_deinit(&sequences);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ones_are_one),
		cmocka_unit_test(ranks_are_as_libc_sorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
