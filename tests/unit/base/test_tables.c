/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps, interned strings and arenas, each compared with the simplest possible model. */
#include "test.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/memory.h"

static void map_holds_what_was_put_in(void **state)
{
	_cleanup_map_ struct map map;
	bool added;

	(void)state;
	map_init(&map);
	assert_null(map_find(&map, 0));
	for (uint64_t i = 0; i < 20000; i++) {
		*map_insert(&map, i << 40, &added) = i + 1;
		assert_true(added);
	}
	assert_int_equal(map.count, 20000);
	*map_insert(&map, 0, &added) += 100;
	assert_false(added);
	assert_int_equal(*map_find(&map, 0), 101);
	for (uint64_t i = 1; i < 20000; i++)
		assert_int_equal(*map_find(&map, i << 40), i + 1);
	assert_null(map_find(&map, 1));
	assert_null(map_find(&map, 20000ULL << 40));
}

/* Reserved room is enough for that many keys: the table does not move, and can still grow later. */
static void a_map_with_room_does_not_move(void **state)
{
	static const size_t counts[] = { 1, 32, 33, 1000, 4096 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		_cleanup_map_ struct map map;
		struct map_entry *entries;

		map_init(&map);
		map_reserve(&map, counts[i]);
		entries = map.entries;
		assert_null(map_find(&map, 7));
		for (uint64_t key = 0; key < counts[i]; key++)
			*map_insert(&map, key, NULL) = key + 1;
		assert_ptr_equal(map.entries, entries);
		for (uint64_t key = counts[i]; key < 10000; key++)
			*map_insert(&map, key, NULL) = key + 1;
		for (uint64_t key = 0; key < 10000; key++)
			assert_int_equal(*map_find(&map, key), key + 1);
	}
}

static void hash_depends_on_every_byte(void **state)
{
	char text[40] = { 0 };
	uint64_t zero = hash_bytes(text, sizeof(text));

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = 1;
		assert_true(hash_bytes(text, sizeof(text)) != zero);
		assert_true(hash_bytes(text, i) != hash_bytes(text, i + 1));
		text[i] = 0;
	}
}

static void interned_text_has_one_number(void **state)
{
	_cleanup_intern_ struct intern *intern = intern_create();
	char text[32];

	(void)state;
	assert_int_equal(intern_text(intern, ""), 0);
	assert_int_equal(intern_bytes(intern, NULL, 0), 0);
	assert_int_equal(hash_bytes(NULL, 0), hash_bytes("", 0));
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name%d", i);
		assert_int_equal(intern_text(intern, text), i + 1);
	}
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name%dtail", i);
		assert_int_equal(intern_bytes(intern, text, strlen(text) - 4), i + 1);
	}
	assert_int_equal(intern_count(intern), 5001);
	assert_string_equal(intern_string(intern, 4321), "name4320");
}

/* Texts that all have the same hash_bytes(), made by inverting its last step. */
static void texts_made_to_collide_do_not(void **state)
{
	enum { TEXTS = 100000 };
	static const uint64_t first = ~(uint64_t)16 * 0x9e3779b97f4a7c15ULL;
	_cleanup_intern_ struct intern *intern = intern_create();
	uint64_t words[2] = { 0, hash_u64(first) }, hash = hash_bytes(words, sizeof(words));

	(void)state;
	alarm(30); /* 5,000,000,000 comparisons would take longer */
	for (uint64_t i = 1; i <= TEXTS; i++) {
		words[0] = i;
		words[1] = hash_u64(first ^ i);
		assert_int_equal(hash_bytes(words, sizeof(words)), hash);
		assert_int_not_equal(hash_bytes_seeded(17, words, sizeof(words)), hash);
		assert_int_equal(intern_bytes(intern, (const char *)words, sizeof(words)), i);
	}
	alarm(0);
}

static void arena_gives_zeroed_apart_memory(void **state)
{
	_cleanup_arena_ struct arena *arena = arena_create();
	uint8_t *parts[300];

	(void)state;
	for (size_t i = 0; i < 300; i++) {
		size_t size = i % 50 == 49 ? 100000 : i;

		parts[i] = arena_alloc(arena, size);
		assert_int_equal((uintptr_t)parts[i] % _Alignof(max_align_t), 0);
		for (size_t byte = 0; byte < size; byte++)
			assert_int_equal(parts[i][byte], 0);
		memset(parts[i], (int)i, size);
	}
	for (size_t i = 0; i < 300; i++)
		for (size_t byte = 0; byte < (i % 50 == 49 ? 100000 : i); byte++)
			assert_int_equal(parts[i][byte], (uint8_t)i);
	assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
	assert_true(arena_bytes(arena) >= 600000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_holds_what_was_put_in),
		cmocka_unit_test(a_map_with_room_does_not_move),
		cmocka_unit_test(hash_depends_on_every_byte),
		cmocka_unit_test(interned_text_has_one_number),
		cmocka_unit_test(texts_made_to_collide_do_not),
		cmocka_unit_test(arena_gives_zeroed_apart_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
