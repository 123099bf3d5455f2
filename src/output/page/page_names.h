/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names in a page. Guests choose them, and how long they are. */
#ifndef OUTPUT_PAGE_PAGE_NAMES_H
#define OUTPUT_PAGE_PAGE_NAMES_H

#include "base/intern.h"
#include "output/json.h"

/* In the page, all names together take no more, besides some bytes for each. */
#define PAGE_NAMES_BYTES 1500000

/*
 * Adds the member "names": COUNT of TEXTS, by their NUMBERS. If they would take more, the longest
 * are cut, all to the same size, and "names_cut" says how many.
 */
void page_names_write(struct json *json, const struct intern *texts, const uint32_t *numbers,
		      size_t count);

#endif
