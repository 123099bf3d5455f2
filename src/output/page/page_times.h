/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the samples of a page's nodes were taken, and in which mode: what it filters by. */
#ifndef OUTPUT_PAGE_TIMES_H
#define OUTPUT_PAGE_TIMES_H

#include "output/json.h"
#include "output/stacks.h"

#define PAGE_BUCKET_NS 20000000ULL
/* Buckets are twice as long, and so on, where there would be more: a page draws 50 in a column. */
#define PAGE_MAX_BUCKETS 36000

struct page_times {
	const struct profile *profile; /* which lists samples */
	size_t event;
	const uint32_t *places; /* of each node of its tree, the stack; STACK_NONE: another event */
	const uint32_t *numbers; /* of each stack, the number of the node that has its samples */
	uint64_t unit; /* periods are multiples of it */
	/* Buckets get longer until all takes no more, or the list a quarter of 1 MiB. */
	size_t max_bytes;
};

/* Adds the member "times" as flamegraph.c describes it; none if there are no samples. */
void page_times_write(struct json *json, const struct page_times *times);

#endif
