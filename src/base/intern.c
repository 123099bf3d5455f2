/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interned strings: text in an arena, plus an open-addressed index of string numbers. */
#include "base/intern.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/vector.h"

#define FIRST_CAPACITY 256
#define EMPTY UINT32_MAX

struct string {
	const char *text;
	uint32_t hash;
	uint32_t length;
};

struct intern {
	struct arena *arena;
	VECTOR(struct string) strings;
	uint32_t *index; /* string numbers, EMPTY if unused; a power of two */
	size_t capacity;
	uint64_t seed; /* foreign strings must not be able to force collisions */
};

static void index_clear(struct intern *intern, size_t capacity)
{
	free(intern->index);
	intern->capacity = capacity;
	intern->index = memory_resize(NULL, capacity, sizeof(*intern->index));
	memset(intern->index, 0xff, capacity * sizeof(*intern->index));
}

struct intern *intern_create(void)
{
	struct intern *intern = memory_calloc(1, sizeof(*intern));

	intern->arena = arena_create();
	intern->seed = hash_u64((uintptr_t)intern);
	index_clear(intern, FIRST_CAPACITY);
	intern_text(intern, "");
	return intern;
}

void intern_destroy(struct intern *intern)
{
	if (!intern)
		return;
	arena_destroy(intern->arena);
	vector_deinit(&intern->strings);
	free(intern->index);
	free(intern);
}

static uint32_t *slot_of(struct intern *intern, const char *text, uint32_t length, uint32_t hash)
{
	size_t mask = intern->capacity - 1;

	for (size_t at = hash & mask;; at = (at + 1) & mask) {
		uint32_t *slot = &intern->index[at];
		const struct string *string;

		if (*slot == EMPTY)
			return slot;
		string = &intern->strings.items[*slot];
		if (string->hash == hash && string->length == length &&
		    (!length || !memcmp(string->text, text, length)))
			return slot;
	}
}

static void grow(struct intern *intern)
{
	size_t mask = 2 * intern->capacity - 1;

	index_clear(intern, 2 * intern->capacity);
	for (size_t i = 0; i < intern->strings.count; i++) {
		size_t at = intern->strings.items[i].hash & mask;

		while (intern->index[at] != EMPTY)
			at = (at + 1) & mask;
		intern->index[at] = i;
	}
}

uint32_t intern_bytes(struct intern *intern, const char *text, size_t length)
{
	uint32_t hash = hash_bytes_seeded(intern->seed, text, length);
	uint32_t *slot;

	if (2 * (intern->strings.count + 1) > intern->capacity)
		grow(intern);
	slot = slot_of(intern, text, length, hash);
	if (*slot == EMPTY) {
		struct string string = { .text = arena_strndup(intern->arena, text, length),
					 .hash = hash,
					 .length = length };

		*slot = intern->strings.count;
		vector_append(&intern->strings, string);
	}
	return *slot;
}

uint32_t intern_text(struct intern *intern, const char *text)
{
	return intern_bytes(intern, text, strlen(text));
}

const char *intern_string(const struct intern *intern, uint32_t number)
{
	return intern->strings.items[number].text;
}

size_t intern_count(const struct intern *intern)
{
	return intern->strings.count;
}
