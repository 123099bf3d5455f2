/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One guest that wants everything leaves the others their share, of memory and of time. */
#include "test.h"

#include "host/record/guest_quota.h"

#define MB ((size_t)1 << 20)
#define SECOND 1000000000ull

static struct guest_quotas quotas;

static void begin(size_t guests)
{
	guest_quotas_init(&quotas);
	quotas.all_bytes = 800 * MB;
	quotas.one_bytes = 600 * MB;
	for (size_t i = 0; i < guests; i++)
		guest_quotas_begin(&quotas, i);
}

static size_t take_all(uint32_t vm)
{
	size_t taken = 0;

	while (guest_quotas_charge(&quotas, vm, MB))
		taken += MB;
	return taken;
}

static void test_one_guest(void **state)
{
	(void)state;
	begin(1);
	assert_int_equal(take_all(0), 600 * MB);
	assert_int_equal(quotas.guests.items[0].refused, 1);
	assert_false(guest_quotas_charge(&quotas, 0, SIZE_MAX));
	guest_quotas_release(&quotas, 0, 10 * MB);
	assert_int_equal(take_all(0), 10 * MB);
	guest_quotas_deinit(&quotas);
}

/* Each of four has 100 MB of its own; the first takes the other half, too. */
static void test_greedy_guest_leaves_shares(void **state)
{
	(void)state;
	begin(4);
	assert_int_equal(take_all(2), 500 * MB);
	for (uint32_t vm = 0; vm < 4; vm++)
		assert_int_equal(take_all(vm), vm == 2 ? 0 : 100 * MB);
	guest_quotas_deinit(&quotas);
}

static void test_guests_that_come_and_go(void **state)
{
	(void)state;
	begin(1);
	assert_int_equal(take_all(0), 600 * MB);
	guest_quotas_begin(&quotas, 7);
	assert_int_equal(take_all(7), 200 * MB); /* all together: 800 MB */
	guest_quotas_begin(&quotas, 8);
	assert_int_equal(take_all(8), 133 * MB); /* its share, whatever the others have */
	guest_quotas_release(&quotas, 0, 600 * MB);
	guest_quotas_end(&quotas, 0);
	guest_quotas_end(&quotas, 0);
	assert_int_equal(take_all(8), 400 * MB + 200 * MB - 133 * MB);
	guest_quotas_deinit(&quotas);
}

static void test_host_limits(void **state)
{
	(void)state;
	guest_quotas_init(&quotas);
	assert_true(quotas.all_bytes >= 512 * MB && quotas.one_bytes <= quotas.all_bytes);
	guest_quotas_deinit(&quotas);
}

/* A guest that takes 60 s for each question, and one that takes 2 ms, always ask. */
static void test_slow_guest(void **state)
{
	struct guest_turn slow = { 0 }, quick = { 0 };
	uint64_t now = 1000 * SECOND, slow_ns = 0, quick_ns = 0;

	(void)state;
	while (now < 5000 * SECOND) {
		bool rests = now < slow.rests_until_ns;
		bool slow_next = !rests && guest_turn_is_before(&slow, &quick, now);
		uint64_t cost = slow_next ? 60 * SECOND : SECOND / 500;

		now += cost;
		*(slow_next ? &slow_ns : &quick_ns) += cost;
		guest_turn_spend(slow_next ? &slow : &quick, now, cost);
	}
	assert_true(quick_ns > 3 * slow_ns);
	assert_true(slow_ns > 0);
}

/* What was long ago does not count: neither guest has to wait for the other to catch up. */
static void test_newcomer(void **state)
{
	struct guest_turn old = { 0 }, new = { 0 };
	uint64_t now = 1000 * SECOND;

	(void)state;
	guest_turn_spend(&old, now, 400 * SECOND / 1000);
	assert_true(guest_turn_is_before(&new, &old, now));
	now += 600 * SECOND;
	guest_turn_spend(&new, now, SECOND / 1000);
	assert_true(guest_turn_is_before(&old, &new, now));
	assert_int_equal(old.rests_until_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_guest),
		cmocka_unit_test(test_greedy_guest_leaves_shares),
		cmocka_unit_test(test_guests_that_come_and_go),
		cmocka_unit_test(test_host_limits),
		cmocka_unit_test(test_slow_guest),
		cmocka_unit_test(test_newcomer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
