/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups in -e. What they mean comes from `perf record -e GROUP` and `perf evlist -g`, and, of
 * attrs, from `perf evlist -v` (6.1).
 */
#include "test.h"

#include <string.h>

#include "host/event/event.h"

static struct host_event *parse(const char *text, size_t count, struct host_events *events)
{
	*events = (struct host_events){ 0 };
	assert_no_error(host_events_parse(text, events));
	assert_int_equal(events->items.count, count);
	return events->items.items;
}

static void assert_group(const struct host_event *leader, uint32_t size, const char *name)
{
	assert_int_equal(leader->group_size, size);
	for (uint32_t i = 0; i < size; i++) {
		assert_int_equal(leader[i].group_rank, i);
		assert_int_equal(!i || !leader[i].group_size, 1);
	}
	if (name)
		assert_string_equal(leader->group_name, name);
	else
		assert_null(leader->group_name);
}

static void test_groups(void **state)
{
	struct host_events events;
	struct host_event *items =
		parse("cs,{cycles,instructions:u,r10},own{cpu-clock,page-faults}:S,{faults}", 7,
		      &events);

	(void)state;
	assert_group(&items[0], 0, NULL);
	assert_group(&items[1], 3, NULL);
	assert_group(&items[4], 2, "own");
	assert_group(&items[6], 0, NULL); /* of one event: perf shows no braces */
	assert_string_equal(items[2].name, "instructions:u");
	assert_string_equal(items[4].name, "cpu-clock");
	assert_false(items[1].values_read || items[2].values_read || items[6].values_read);
	assert_true(items[4].values_read && items[5].values_read);
	assert_true(host_event_samples(&items[2]) && host_event_samples(&items[4]));
	assert_false(host_event_samples(&items[5]));
	host_events_deinit(&events);
}

static void test_modifiers(void **state)
{
	struct host_events events;
	struct host_event *items = parse("{cycles:u,instructions}:kDe", 2, &events);

	(void)state;
	assert_true(items[0].user && items[0].kernel && items[1].kernel && !items[1].user);
	/* the kernel takes these of a leader alone */
	assert_true(items[0].attr.pinned && items[0].attr.exclusive);
	assert_false(items[1].attr.pinned || items[1].attr.exclusive);
	host_events_deinit(&events);

	items = parse("{cycles:S,instructions},cs:S,{cycles,cs}:W", 5, &events);
	assert_true(items[0].values_read && items[1].values_read && items[2].values_read);
	assert_true(items[3].weak && !items[3].values_read);
	host_events_deinit(&events);
}

static void test_sampling(void **state)
{
	struct host_events events;
	struct host_event *items = parse("{cpu-clock,cs}:S,{cpu-clock,cs}", 4, &events);

	(void)state;
	for (size_t i = 0; i < 4; i++)
		host_event_set_sampling(&items[i]);
	assert_true(items[0].attr.sample_type & PERF_SAMPLE_READ);
	assert_true(items[0].attr.read_format & PERF_FORMAT_GROUP);
	assert_false((items[2].attr.sample_type | items[3].attr.sample_type) & PERF_SAMPLE_READ);
	assert_true(items[0].attr.disabled && items[2].attr.disabled);
	assert_false(items[1].attr.disabled || items[3].attr.disabled);
	host_events_deinit(&events);
}

static void test_wrong(void **state)
{
	static const char *const texts[] = {
		"{",	       "}",	      "{}",	   "{cs",	 "cs}",		  "{cs},",
		"{cs,}",       "{cs,{cs}}",   "{cs}:q",	   "{cs}S",	 "{cs}{cs}",	  "a b{cs}",
		"{cs,faults:S}", "{cs,faults}:SW", "{cs}:S:S", "{cpu/event=1}/", "/{cs}",
	};
	struct host_events events = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_error(host_events_parse(texts[i], &events), ERROR_USAGE);
		assert_int_equal(events.items.count, 0);
	}
	assert_error(host_events_parse("{cs,nonsense}", &events), ERROR_NOT_FOUND);
	host_events_deinit(&events);
}

/* A group that cannot be opened is an error; a weak one becomes none. */
static void test_probe(void **state)
{
	struct host_events events;
	struct host_event *items = parse("{cs,faults}:W", 2, &events);
	struct error *error = host_event_probe(&items[0]);

	(void)state;
	if (error) {
		host_events_deinit(&events);
		skip_for(error);
	}
	assert_no_error(host_event_probe_group(&items[0]));
	assert_group(&items[0], 2, NULL);
	items[1].attr.pinned = 1; /* as perf_event_open(2) says, of a leader alone */
	assert_no_error(host_event_probe_group(&items[0]));
	assert_group(&items[0], 0, NULL);
	assert_group(&items[1], 0, NULL);
	host_events_deinit(&events);

	items = parse("{cs,faults}", 2, &events);
	items[1].attr.pinned = 1;
	assert_error(host_event_probe_group(&items[0]), ERROR_SYSTEM);
	host_events_deinit(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups), cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_sampling), cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
