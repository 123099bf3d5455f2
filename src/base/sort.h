/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorting many items by 64-bit keys, in any process: qsort asks the system how much memory it has
 * (glibc 2.36), which the cage does not allow.
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_key {
	uint64_t key;
	uint32_t index; /* for the caller's use */
};

/* Ascending and stable. Needs as much memory again. */
void sort_keys(struct sort_key *keys, size_t count);

#endif
