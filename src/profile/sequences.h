/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sequences of numbers (parts of call chains), each stored once and identified by a number. */
#ifndef PROFILE_SEQUENCES_H
#define PROFILE_SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "profile/number_table.h"

#define SEQUENCE_EMPTY 0 /* the one without elements */

struct sequence {
	size_t start; /* index into the elements */
	uint32_t count;
};

struct sequences {
	VECTOR(struct sequence) items;
	VECTOR(uint32_t) elements;
	struct number_table table;
	uint64_t seed;
};

/* SEED must be unknown to whoever made the recording. */
void sequences_init(struct sequences *sequences, uint64_t seed);
void sequences_deinit(struct sequences *sequences);

/* The number of the sequence of these elements, which must be below UINT32_MAX. */
uint32_t sequences_intern(struct sequences *sequences, const uint32_t *elements, uint32_t count);
/* There will be no more sequences: frees what only interning needs. */
void sequences_seal(struct sequences *sequences);

static inline const uint32_t *sequences_elements(const struct sequences *sequences,
						 uint32_t number)
{
	return &sequences->elements.items[sequences->items.items[number].start];
}

static inline uint32_t sequences_length(const struct sequences *sequences, uint32_t number)
{
	return sequences->items.items[number].count;
}

/*
 * The rank of each sequence if they are sorted by their elements, the first of which is the most
 * significant; a prefix comes before the longer sequence. The caller frees the array.
 */
uint32_t *sequences_rank(const struct sequences *sequences);

#endif
