/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts by time data that consists of sorted runs (one run per CPU and flush, as in perf.data);
 * entries with equal times keep their order.
 */
#ifndef SESSION_ORDER_H
#define SESSION_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct order_entry {
	uint64_t time;
	uint64_t value; /* for the caller: an index, an offset */
};

/* Sorts ENTRIES by time, stably: O(n) if they are already sorted, otherwise O(n log runs). */
void order_sort(struct order_entry *entries, size_t count);

#endif
