/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The name of a thread, and its process's mappings, at any time. */
#include "test.h"

#include "session/timeline.h"

static struct arena *arena;
static uint32_t numbers;
static struct timeline timeline;

static int set_up(void **state)
{
	(void)state;
	arena = arena_create();
	numbers = 0;
	timeline_init(&timeline, arena, &numbers);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	timeline_deinit(&timeline);
	arena_destroy(arena);
	return 0;
}

static void add_fork(uint32_t pid, uint32_t tid, uint32_t parent_pid, uint32_t parent_tid,
		     bool synthesized, uint64_t time)
{
	struct timeline_fork fork = { pid, tid, parent_pid, parent_tid, synthesized };

	timeline_add_fork(&timeline, &fork, time);
}

static void add_mapping(uint32_t pid, uint64_t start, uint32_t dso, uint64_t time)
{
	struct space_mapping mapping = { .start = start, .end = start + 100, .from = time,
					 .dso = dso };

	timeline_add_mapping(&timeline, pid, &mapping);
}

static void names_hold_from_their_time(void **state)
{
	struct timeline_span span;

	(void)state;
	timeline_add_comm(&timeline, 7, 1, 10);
	timeline_add_comm(&timeline, 7, 2, 20);
	span = timeline_find(&timeline, 7, 7, 5);
	assert_int_equal(span.comm, TIMELINE_NO_COMM);
	assert_int_equal(span.final_comm, 1); /* like perf: under the later name */
	assert_int_equal(span.until, 10);
	span = timeline_find(&timeline, 7, 7, 19);
	assert_int_equal(span.comm, 1);
	assert_int_equal(span.from, 10);
	assert_int_equal(span.until, 20);
	assert_int_equal(timeline_find(&timeline, 7, 7, 20).comm, 2);
	assert_int_equal(timeline_find(&timeline, 7, 8, 20).final_comm, TIMELINE_NO_COMM);
}

static void forked_thread_has_its_parents_name(void **state)
{
	(void)state;
	timeline_add_comm(&timeline, 7, 1, 0);
	add_fork(8, 8, 7, 7, false, 10);
	timeline_add_comm(&timeline, 8, 2, 20);
	assert_int_equal(timeline_find(&timeline, 8, 8, 15).comm, 1);
	assert_int_equal(timeline_find(&timeline, 8, 8, 25).comm, 2);
	/* The tid is reused by a child of a thread without a name. */
	add_fork(8, 8, 9, 9, false, 30);
	timeline_add_comm(&timeline, 8, 3, 40);
	assert_int_equal(timeline_find(&timeline, 8, 8, 29).comm, 2);
	assert_int_equal(timeline_find(&timeline, 8, 8, 35).comm, TIMELINE_NO_COMM);
	assert_int_equal(timeline_find(&timeline, 8, 8, 35).final_comm, 3);
	/*
	 * A name from before the fork belongs to the earlier thread; it is not this one's arriving
	 * late.
	 */
	add_fork(5, 5, 9, 9, false, 50);
	assert_int_equal(timeline_find(&timeline, 5, 5, 1).final_comm, TIMELINE_NO_COMM);
}

static void processes_share_or_copy_mappings(void **state)
{
	struct timeline_span span;

	(void)state;
	add_mapping(7, 1000, 1, 0);
	add_fork(7, 70, 7, 7, false, 5);  /* a thread */
	add_fork(8, 8, 7, 7, false, 10);  /* a process */
	add_fork(9, 9, 7, 7, true, 10);	  /* already running: its mappings are listed */
	add_mapping(7, 2000, 2, 20);
	assert_ptr_equal(timeline_find(&timeline, 7, 70, 30).space,
			 timeline_find(&timeline, 7, 7, 30).space);
	span = timeline_find(&timeline, 8, 8, 30);
	assert_int_equal(space_find(span.space, 1000, 30).mapping->dso, 1);
	assert_null(space_find(span.space, 2000, 30).mapping);
	span = timeline_find(&timeline, 9, 9, 30);
	assert_null(space_find(span.space, 1000, 30).mapping);
	assert_null(timeline_find(&timeline, 8, 8, 9).space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_hold_from_their_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forked_thread_has_its_parents_name, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(processes_share_or_copy_mappings, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
