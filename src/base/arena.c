/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An arena: a list of blocks, each filled from its start; large requests get their own. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

#define BLOCK_BYTES ((size_t)64 * 1024)

struct block {
	struct block *next;
	size_t size;
	size_t used;
	_Alignas(max_align_t) uint8_t data[];
};

struct arena {
	struct block *blocks; /* the first is being filled */
	size_t bytes;
};

struct arena *arena_create(void)
{
	return memory_calloc(1, sizeof(struct arena));
}

void arena_destroy(struct arena *arena)
{
	if (!arena)
		return;
	while (arena->blocks) {
		struct block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	free(arena);
}

static struct block *add_block(struct arena *arena, size_t size)
{
	struct block *block = memory_alloc(sizeof(*block) + size);

	block->size = size;
	block->used = 0;
	arena->bytes += sizeof(*block) + size;
	/* A block for one large request is full right away: keep filling the first one. */
	if (size > BLOCK_BYTES && arena->blocks) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		block->next = arena->blocks;
		arena->blocks = block;
	}
	return block;
}

static void *alloc_aligned(struct arena *arena, size_t size, size_t alignment)
{
	struct block *block = arena->blocks;
	size_t start = block ? (block->used + alignment - 1) & ~(alignment - 1) : 0;

	if (!block || start > block->size || size > block->size - start) {
		block = add_block(arena, size > BLOCK_BYTES ? size : BLOCK_BYTES);
		start = 0;
	}
	block->used = start + size;
	return block->data + start;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return memset(alloc_aligned(arena, size, _Alignof(max_align_t)), 0, size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	char *copy = alloc_aligned(arena, length + 1, 1);

	if (length) /* TEXT may be NULL without */
		memcpy(copy, text, length);
	copy[length] = 0;
	return copy;
}

size_t arena_bytes(const struct arena *arena)
{
	return arena->bytes;
}
