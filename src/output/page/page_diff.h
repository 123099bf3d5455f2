/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a page says of the first of two recordings; flamegraph.c describes it. */
#ifndef OUTPUT_PAGE_PAGE_DIFF_H
#define OUTPUT_PAGE_PAGE_DIFF_H

#include "output/json.h"
#include "output/stacks_diff.h"

/* All is borrowed. */
struct page_diff {
	const struct stacks_diff *diff;
	const char *title; /* of the first recording */
	const struct base_own *base; /* what it has of each node, also of those that were merged */
	const uint32_t *functions; /* those in the page, by number in DIFF */
	size_t function_count;
	const uint32_t *frame_of; /* of each node, the number of its frame in the page */
	uint64_t unit; /* of periods */
};

/* The functions with the largest shares of either, largest first. The caller frees the array. */
uint32_t *page_diff_choose(const struct stacks_diff *diff, size_t *ret_count);

void page_diff_write(struct json *json, const struct page_diff *page);

#endif
