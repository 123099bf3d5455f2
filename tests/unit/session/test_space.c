/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces over time, compared with a linear search through all mappings. */
#include "test.h"

#include <stdlib.h>

#include "session/space.h"

static struct space_mapping mapping(uint64_t start, uint64_t end, uint64_t from, uint32_t dso)
{
	return (struct space_mapping){ .start = start, .end = end, .from = from, .dso = dso };
}

static void newer_mapping_hides_older(void **state)
{
	struct space space;
	struct space_lookup found;
	struct space_mapping old = mapping(100, 200, 10, 1), new = mapping(150, 160, 20, 2);

	(void)state;
	space_init(&space, 0);
	space_add(&space, &old);
	space_add(&space, &new);
	assert_null(space_find(&space, 150, 9).mapping);
	assert_null(space_find(&space, 200, 30).mapping);
	found = space_find(&space, 150, 10);
	assert_int_equal(found.mapping->dso, 1);
	assert_int_equal(found.from, 10);
	assert_int_equal(found.until, 20);
	found = space_find(&space, 159, 20);
	assert_int_equal(found.mapping->dso, 2);
	assert_true(found.until == SPACE_FOREVER);
	assert_int_equal(space_find(&space, 160, 99).mapping->dso, 1);
	space_deinit(&space);
}

static void fork_keeps_what_was_there(void **state)
{
	struct space parent, child;
	struct space_mapping before = mapping(100, 200, 10, 1), after = mapping(100, 200, 30, 2);
	struct space_mapping own = mapping(100, 150, 40, 3);

	(void)state;
	space_init(&parent, 0);
	space_init(&child, 1);
	space_add(&parent, &before);
	space_fork(&child, &parent, 20);
	space_add(&parent, &after);
	space_add(&child, &own);
	assert_int_equal(space_find(&child, 120, 35).mapping->dso, 1);
	assert_int_equal(space_find(&child, 120, 35).until, 40);
	assert_int_equal(space_find(&child, 120, 40).mapping->dso, 3);
	assert_int_equal(space_find(&child, 180, 50).mapping->dso, 1);
	assert_int_equal(space_find(&parent, 180, 50).mapping->dso, 2);
	space_deinit(&child);
	space_deinit(&parent);
}

static void endless_forks_end(void **state)
{
	static struct space spaces[1000];
	struct space_mapping first = mapping(1000, 2000, 1, 0);

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		struct space_mapping own = mapping(10 * i, 10 * i + 5, 2 * i + 1, i);

		space_init(&spaces[i], i);
		if (i)
			space_fork(&spaces[i], &spaces[i - 1], 2 * i);
		space_add(&spaces[i], i ? &own : &first);
	}
	assert_int_equal(space_find(&spaces[50], 1999, 9999).mapping->dso, 0);
	assert_null(space_find(&spaces[999], 1999, 9999).mapping); /* too far: gives up */
	for (size_t i = 0; i < 1000; i++)
		space_deinit(&spaces[i]);
}

/* The expected result: the newest of all mappings, and until when. */
static struct space_lookup search(const struct space *space, uint64_t address, uint64_t time)
{
	struct space_lookup found = { .until = SPACE_FOREVER };

	for (size_t i = 0; i < space->mappings.count; i++) {
		const struct space_mapping *at = &space->mappings.items[i];

		if (address < at->start || address >= at->end)
			continue;
		if (at->from <= time) {
			found.mapping = at;
			found.from = at->from;
		} else if (at->from < found.until) {
			found.until = at->from;
		}
	}
	return found;
}

static void many_mappings_agree_with_search(void **state)
{
	struct space space;

	(void)state;
	srand(7);
	space_init(&space, 0);
	for (uint32_t i = 0; i < 500; i++) {
		uint64_t start = rand() % 1000;
		struct space_mapping one = mapping(start, start + 1 + rand() % 300, i / 3, i);

		if (i == 250)
			one.end = UINT64_MAX;
		space_add(&space, &one);
	}
	for (int i = 0; i < 50000; i++) {
		uint64_t address = rand() % 1400, time = rand() % 180;
		struct space_lookup want = search(&space, address, time);
		struct space_lookup got = space_find(&space, address, time);

		assert_ptr_equal(got.mapping, want.mapping);
		assert_true(got.from == want.from && got.until == want.until);
	}
	space_deinit(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newer_mapping_hides_older),
		cmocka_unit_test(fork_keeps_what_was_there),
		cmocka_unit_test(endless_forks_end),
		cmocka_unit_test(many_mappings_agree_with_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
