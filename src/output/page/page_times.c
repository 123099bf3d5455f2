/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples are listed by bucket of time and by slot, which is a node and a mode: most nodes have one
 * slot. In the list, numbers have seven bits in a byte, the lowest first, and the highest bit of
 * all bytes but the last is set. Each bucket is
 *
 *	the number of entries, one for each of its slots, in order
 *	for each entry: how much the slot's number is above the one before (the first's: above 0),
 *		times four; plus one if there are several samples; plus two if the sum of their
 *		periods is not as many times the usual one. If so, the number and the sum follow.
 *
 * Where exact periods take too many bytes, they are rounded to a fraction of the usual one, or to
 * it. What rounding leaves over is carried to the slot's next entry, so that sums stay.
 */
#include "output/page/page_times.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

#define LEAST_BYTES (256 * 1024)
#define NO_SLOT UINT32_MAX
#define MODES 8 /* no fewer than there are */

struct writer {
	const struct page_times *input;
	size_t count; /* of samples */
	uint32_t *slot_of; /* of each sample */
	VECTOR(uint64_t) slots; /* node * MODES + mode, in order */
	uint64_t first_ns, last_ns;
	uint64_t bucket_ns; /* 0: there is only one */
	uint64_t usual; /* the mean period, in units: all have it, if it is everyone's */
	uint64_t rounding; /* of periods; in units */
	struct sort_key *keys;
	uint64_t *taken, *given; /* of each slot: periods so far, in units; rounded */
	struct buffer list;
};

/* In the order of STACK_GUEST_KERNEL and so on. */
static unsigned int mode_of(uint16_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return 0;
	case PERF_RECORD_MISC_GUEST_USER:
		return 1;
	case PERF_RECORD_MISC_KERNEL:
		return 2;
	case PERF_RECORD_MISC_USER:
		return 3;
	default:
		return 4;
	}
}

/* Numbers the slots, and finds out what all samples have in common. */
static void find_slots(struct writer *writer)
{
	const struct page_times *input = writer->input;
	const struct profile_sample *samples = input->profile->samples.items;
	size_t all = input->profile->samples.count;
	uint64_t sum = 0;

	writer->slot_of = memory_alloc((all + 1) * sizeof(*writer->slot_of));
	writer->keys = memory_alloc((all + 1) * sizeof(*writer->keys));
	for (size_t i = 0; i < all; i++) {
		uint32_t place = input->places[samples[i].node];

		writer->slot_of[i] = NO_SLOT;
		if (place == STACK_NONE)
			continue;
		if (!writer->count)
			writer->first_ns = samples[i].time_ns;
		sum += samples[i].period;
		writer->last_ns = samples[i].time_ns;
		writer->keys[writer->count++] = (struct sort_key){
			.key = (uint64_t)input->numbers[place] * MODES +
			       mode_of(samples[i].cpumode),
			.index = i,
		};
	}
	writer->usual = sum / input->unit / (writer->count ? writer->count : 1);
	sort_keys(writer->keys, writer->count);
	for (size_t i = 0; i < writer->count; i++) {
		if (!i || writer->keys[i].key != writer->keys[i - 1].key)
			vector_append(&writer->slots, writer->keys[i].key);
		writer->slot_of[writer->keys[i].index] = writer->slots.count - 1;
	}
}

static uint64_t bucket_of(const struct writer *writer, uint64_t time_ns)
{
	return writer->bucket_ns ? (time_ns - writer->first_ns) / writer->bucket_ns : 0;
}

static uint64_t bucket_count(const struct writer *writer)
{
	return bucket_of(writer, writer->last_ns) + 1;
}

static void append_number(struct buffer *out, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		buffer_append_u8(out, number | 0x80);
	buffer_append_u8(out, number);
}

/* Sorts the samples by bucket, and by slot in it. */
static void sort_samples(struct writer *writer)
{
	const struct profile_sample *samples = writer->input->profile->samples.items;
	size_t count = 0;

	for (size_t i = 0; count < writer->count; i++)
		if (writer->slot_of[i] != NO_SLOT)
			writer->keys[count++] = (struct sort_key){
				.key = bucket_of(writer, samples[i].time_ns) << 32 |
				       writer->slot_of[i],
				.index = i,
			};
	sort_keys(writer->keys, count);
}

/* Appends the COUNT samples from FIRST on, which are of one bucket and one slot, BEFORE another. */
static void append_entry(struct writer *writer, size_t first, size_t count, uint32_t before)
{
	const struct profile_sample *samples = writer->input->profile->samples.items;
	uint32_t slot = writer->keys[first].key;
	uint64_t rounded, period;
	bool unusual;

	for (size_t i = first; i < first + count; i++)
		writer->taken[slot] += samples[writer->keys[i].index].period / writer->input->unit;
	rounded = (writer->taken[slot] + writer->rounding / 2) / writer->rounding;
	period = rounded - writer->given[slot];
	writer->given[slot] = rounded;
	unusual = period != count * (writer->usual / writer->rounding);
	append_number(&writer->list, (uint64_t)(slot - before) * 4 + 2 * unusual + (count > 1));
	if (count > 1)
		append_number(&writer->list, count);
	if (unusual)
		append_number(&writer->list, period);
}

/* The number of samples from AT on that have the same key, but for its lowest BITS. */
static size_t count_alike(const struct writer *writer, size_t at, unsigned int bits)
{
	size_t end = at;

	while (end < writer->count && writer->keys[end].key >> bits == writer->keys[at].key >> bits)
		end++;
	return end - at;
}

static void append_bucket(struct writer *writer, size_t first, size_t end)
{
	uint64_t entries = 0;
	uint32_t before = 0;
	size_t alike;

	for (size_t i = first; i < end; i += count_alike(writer, i, 0))
		entries++;
	append_number(&writer->list, entries);
	for (size_t i = first; i < end; i += alike) {
		alike = count_alike(writer, i, 0);
		append_entry(writer, i, alike, before);
		before = writer->keys[i].key;
	}
}

/* False: the list is too long. */
static bool make_list(struct writer *writer)
{
	uint64_t buckets = bucket_count(writer);
	size_t at = 0;

	sort_samples(writer);
	buffer_clear(&writer->list);
	writer->list.overflow = false;
	memset(writer->taken, 0, writer->slots.count * sizeof(*writer->taken));
	memset(writer->given, 0, writer->slots.count * sizeof(*writer->given));
	for (uint64_t bucket = 0; bucket < buckets && !writer->list.overflow; bucket++) {
		size_t end = at;

		if (at < writer->count && writer->keys[at].key >> 32 == bucket)
			end += count_alike(writer, at, 32);
		append_bucket(writer, at, end);
		at = end;
	}
	return !writer->list.overflow;
}

/* As exact as there is room for: periods give way before times. */
static void fit_list(struct writer *writer)
{
	const uint64_t roundings[] = { 1, writer->usual / 16, writer->usual };
	size_t step = 0;

	writer->rounding = 1;
	writer->bucket_ns = writer->input->profile->session->timed ? PAGE_BUCKET_NS : 0;
	while (bucket_count(writer) > PAGE_MAX_BUCKETS)
		writer->bucket_ns *= 2;
	while (!make_list(writer) && bucket_count(writer) > 1) {
		while (++step < 3 && roundings[step] <= writer->rounding)
			continue;
		if (step < 3)
			writer->rounding = roundings[step];
		else
			writer->bucket_ns *= 2;
	}
}

/* What the list may take: slots are texts of some four characters. */
static size_t list_bytes(const struct writer *writer)
{
	size_t slots = 5 * writer->slots.count, max = writer->input->max_bytes;

	return (max > slots + LEAST_BYTES ? max - slots : LEAST_BYTES) / 4 * 3;
}

/* RFC 4648, section 4. The caller frees it. */
static char *to_base64(const struct buffer *data)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = memory_alloc(data->size / 3 * 4 + 5), *end = text;

	for (size_t i = 0; i < data->size; i += 3) {
		size_t left = data->size - i;
		uint32_t bits = data->data[i] << 16 | (left > 1 ? data->data[i + 1] << 8 : 0) |
				(left > 2 ? data->data[i + 2] : 0);

		*end++ = digits[bits >> 18];
		*end++ = digits[bits >> 12 & 63];
		*end++ = left > 1 ? digits[bits >> 6 & 63] : '=';
		*end++ = left > 2 ? digits[bits & 63] : '=';
	}
	*end = 0;
	return text;
}

static void write_slots(struct json *json, const struct writer *writer)
{
	uint64_t before = 0;

	json_open_line(json, "slots");
	for (size_t i = 0; i < writer->slots.count; i++) {
		uint64_t node = writer->slots.items[i] / MODES;

		json_unsigned(json, NULL, node - before);
		json_unsigned(json, NULL, STACK_GUEST_KERNEL + writer->slots.items[i] % MODES);
		before = node;
	}
	json_close(json);
}

static void write_times(struct json *json, const struct writer *writer)
{
	_cleanup_free_ char *list = to_base64(&writer->list);
	char first[32];

	snprintf(first, sizeof(first), "%" PRIu64, writer->first_ns);
	json_open_object(json, "times");
	json_string(json, "first", first);
	json_unsigned(json, "bucket", writer->bucket_ns);
	json_unsigned(json, "buckets", bucket_count(writer));
	json_unsigned(json, "rounding", writer->rounding);
	json_unsigned(json, "usual", writer->usual / writer->rounding);
	write_slots(json, writer);
	json_string(json, "list", list);
	json_close(json);
}

void page_times_write(struct json *json, const struct page_times *times)
{
	struct writer writer = { .input = times };

	find_slots(&writer);
	buffer_init(&writer.list, list_bytes(&writer));
	writer.taken = memory_calloc(writer.slots.count + 1, sizeof(*writer.taken));
	writer.given = memory_calloc(writer.slots.count + 1, sizeof(*writer.given));
	if (writer.count) {
		fit_list(&writer);
		write_times(json, &writer);
	}
	free(writer.slot_of);
	free(writer.keys);
	free(writer.taken);
	free(writer.given);
	vector_deinit(&writer.slots);
	buffer_deinit(&writer.list);
}
