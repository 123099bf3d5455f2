/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorting by 64-bit keys, for many of them and in any process: qsort asks the system how much
 * memory there is (glibc 2.36), which the guest parser's cage does not allow.
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_key {
	uint64_t key;
	uint32_t index; /* the caller's */
};

/* Ascending; equal keys stay in their order. Takes as much memory again. */
void sort_keys(struct sort_key *keys, size_t count);

#endif
