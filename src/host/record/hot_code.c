/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/record/hot_code.h"

#include <stdlib.h>

#define SHARE 95 /* percent */

void hot_code_init(struct hot_code *code)
{
	*code = (struct hot_code){ 0 };
	map_init(&code->index);
}

void hot_code_deinit(struct hot_code *code)
{
	vector_deinit(&code->counts);
	map_deinit(&code->index);
}

/* Seeded: a guest could choose addresses that collide. */
static uint64_t key_of(const struct hot_code *code, const struct hot_place *place)
{
	return hash_bytes_seeded(code->index.seed, place, sizeof(*place));
}

static int compare(const void *left_data, const void *right_data)
{
	const struct hot_count *left = left_data, *right = right_data;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return (left->place.ip.value > right->place.ip.value) -
	       (left->place.ip.value < right->place.ip.value);
}

/* The most frequent first. */
static void sort(struct hot_code *code)
{
	if (code->counts.count)
		qsort(code->counts.items, code->counts.count, sizeof(*code->counts.items),
		      compare);
	map_deinit(&code->index);
	map_init(&code->index);
	for (size_t i = 0; i < code->counts.count; i++)
		*map_insert(&code->index, key_of(code, &code->counts.items[i].place), NULL) = i;
}

/* Makes room: the less frequent half goes. */
static void forget_half(struct hot_code *code)
{
	sort(code);
	for (size_t i = code->counts.count / 2; i < code->counts.count; i++) {
		code->samples -= code->counts.items[i].count;
		if (!code->counts.items[i].chosen)
			code->unchosen -= code->counts.items[i].count;
	}
	code->counts.count /= 2;
	sort(code);
}

void hot_code_note(struct hot_code *code, const struct hot_place *place)
{
	uint64_t *index;
	bool added;

	if (code->counts.count == HOT_CODE_PLACES)
		forget_half(code);
	index = map_insert(&code->index, key_of(code, place), &added);
	if (added) {
		*index = code->counts.count;
		vector_append(&code->counts, (struct hot_count){ .place = *place });
	}
	if (code->counts.items[*index].count == UINT32_MAX)
		return;
	code->counts.items[*index].count++;
	code->samples++;
	code->unchosen += !code->counts.items[*index].chosen;
}

size_t hot_code_choose(struct hot_code *code, struct hot_place *ret, size_t max)
{
	uint64_t passed = 0;
	size_t count = 0;

	sort(code);
	for (size_t i = 0; i < code->counts.count && count < max; i++) {
		struct hot_count *at = &code->counts.items[i];

		if (passed * 100 >= code->samples * SHARE)
			break;
		passed += at->count;
		if (at->chosen)
			continue;
		at->chosen = true;
		code->unchosen -= at->count;
		ret[count++] = at->place;
	}
	code->chosen += count;
	return count;
}
