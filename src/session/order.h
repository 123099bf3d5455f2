/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts what comes in runs that are in order (one run per CPU and flush, as perf.data has
 * them) into one order of time; equal times stay as they came.
 */
#ifndef SESSION_ORDER_H
#define SESSION_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct order_entry {
	uint64_t time;
	uint64_t value; /* the caller's: a place, an offset */
};

/* Sorts ENTRIES by time, stably: O(n) if they are in order, O(n log runs) else. */
void order_sort(struct order_entry *entries, size_t count);

#endif
