/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sequences of numbers (parts of call chains), each kept once and known by a number of its own. */
#ifndef PROFILE_SEQUENCES_H
#define PROFILE_SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "profile/number_table.h"

#define SEQUENCE_EMPTY 0 /* the one without elements */

struct sequence {
	size_t start; /* in the elements */
	uint32_t count;
};

struct sequences {
	VECTOR(struct sequence) items;
	VECTOR(uint32_t) elements;
	struct number_table table;
	uint64_t seed;
};

/* SEED: not known to who made the recording. */
void sequences_init(struct sequences *sequences, uint64_t seed);
void sequences_deinit(struct sequences *sequences);

/* The number of the sequence of these elements, which are less than UINT32_MAX. */
uint32_t sequences_intern(struct sequences *sequences, const uint32_t *elements, uint32_t count);
/* There will be no more: frees what only interning needs. */
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
 * The place of each sequence in the order by their elements, of which the first counts most; one
 * that another begins with comes before it. To be freed by the caller.
 */
uint32_t *sequences_rank(const struct sequences *sequences);

#endif
