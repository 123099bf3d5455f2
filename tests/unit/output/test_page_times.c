/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of a report's samples, read as page_times.c describes it: whatever is rounded, the sums
 * of each slot are right to half of what they are rounded to, at any time, and all samples are
 * there.
 */
#include "test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "output/page/page_times.h"
#include "session/session.h"

#define NODES 40
#define FIRST_NS 5000000000ULL
#define LIST_MAX_BYTES (256 * 1024 / 4 * 3) /* with max_bytes 0 */

struct list {
	unsigned char *bytes;
	size_t size, at;
	uint64_t rounding, usual, bucket, buckets;
};

static struct profile_sample *samples;

/* COUNT samples, one in each bucket of each node, of 1 to 2 * MEAN - 1. */
static struct profile make_profile(size_t count, uint64_t mean, struct session *session)
{
	struct profile profile = { .session = session };
	uint64_t random = 12345;

	samples = memory_calloc(count, sizeof(*samples));
	for (size_t i = 0; i < count; i++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		samples[i] = (struct profile_sample){
			.time_ns = FIRST_NS + i / NODES * PAGE_BUCKET_NS + i % NODES,
			.period = 1 + (random >> 33) % (2 * mean - 1),
			.node = i % NODES,
			.cpumode = PERF_RECORD_MISC_USER,
		};
	}
	profile.samples.items = samples;
	profile.samples.count = profile.samples.capacity = count;
	return profile;
}

static uint64_t member(const char *text, const char *name)
{
	char *key = memory_printf("\"%s\": ", name);
	const char *found = strstr(text, key);
	uint64_t value;

	assert_non_null(found);
	value = strtoull(found + strlen(key), NULL, 10);
	free(key);
	return value;
}

/* RFC 4648, up to the quote that ends the member. */
static void read_base64(const char *text, struct list *ret)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	int known = 0;

	ret->bytes = memory_alloc(strlen(text));
	for (; *text != '"' && *text != '='; text++) {
		bits = bits << 6 | (uint32_t)(strchr(digits, *text) - digits);
		known += 6;
		if (known >= 8)
			ret->bytes[ret->size++] = bits >> (known -= 8);
	}
}

static struct list write_list(const struct profile *profile)
{
	uint32_t places[NODES], numbers[NODES];
	struct page_times times = { .profile = profile, .places = places, .numbers = numbers,
				    .unit = 1 };
	struct list list = { 0 };
	struct json json;
	char *text;
	size_t size;

	for (uint32_t i = 0; i < NODES; i++)
		places[i] = numbers[i] = i;
	json_init(&json, open_memstream(&text, &size));
	json_open_object(&json, NULL);
	page_times_write(&json, &times);
	json_close(&json);
	fclose(json.out);
	list.rounding = member(text, "rounding");
	list.usual = member(text, "usual");
	list.bucket = member(text, "bucket");
	list.buckets = member(text, "buckets");
	read_base64(strstr(text, "\"list\": \"") + 9, &list);
	free(text);
	return list;
}

static uint64_t take(struct list *list)
{
	uint64_t value = 0;
	unsigned char byte;
	int shift = 0;

	do {
		assert_true(list->at < list->size);
		byte = list->bytes[list->at++];
		value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	return value;
}

/* Reads all of LIST, of COUNT samples, and compares it with them after each bucket. */
static void check_list(struct list *list, size_t count)
{
	uint64_t given[NODES] = { 0 }, wanted[NODES] = { 0 };
	size_t met = 0, compared = 0;

	for (uint64_t bucket = 0; bucket < list->buckets; bucket++) {
		uint64_t slot = 0;

		for (uint64_t left = take(list); left; left--) {
			uint64_t word = take(list), taken;

			slot += word / 4;
			assert_true(slot < NODES);
			taken = word & 1 ? take(list) : 1;
			met += taken;
			given[slot] += list->rounding *
				       (word & 2 ? take(list) : taken * list->usual);
		}
		for (; compared < count && (samples[compared].time_ns - FIRST_NS) / list->bucket ==
						   bucket; compared++)
			wanted[samples[compared].node] += samples[compared].period;
		assert_int_equal(met, compared);
		for (size_t i = 0; i < NODES; i++)
			assert_true(2 * llabs((long long)(given[i] - wanted[i])) <=
				    (long long)list->rounding);
	}
	assert_int_equal(list->at, list->size);
	assert_int_equal(met, count);
	assert_true(list->size <= LIST_MAX_BYTES);
}

static struct list try(size_t count, uint64_t mean)
{
	struct session session = { .timed = true };
	struct profile profile = make_profile(count, mean, &session);
	struct list list = write_list(&profile);

	check_list(&list, count);
	free(list.bytes);
	free(samples);
	return list;
}

/* Some three bytes for a period, and one for the rest of an entry. */
static void few_samples_are_exact(void **state)
{
	struct list list = try(40000, 1000000);

	(void)state;
	assert_int_equal(list.rounding, 1);
	assert_int_equal(list.bucket, PAGE_BUCKET_NS);
}

static void periods_are_rounded(void **state)
{
	struct list list = try(80000, 1000000);

	(void)state;
	assert_in_range(list.rounding, 1000000 / 16 * 9 / 10, 1000000 / 16 * 11 / 10);
	assert_int_equal(list.bucket, PAGE_BUCKET_NS);
}

/* Not even one byte for each: periods are as rough as can be, and buckets longer. */
static void buckets_get_longer(void **state)
{
	struct list list = try(400000, 1000000);

	(void)state;
	assert_in_range(list.rounding, 900000, 1100000);
	assert_true(list.bucket > PAGE_BUCKET_NS && list.bucket % PAGE_BUCKET_NS == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_samples_are_exact),
		cmocka_unit_test(periods_are_rounded),
		cmocka_unit_test(buckets_get_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
