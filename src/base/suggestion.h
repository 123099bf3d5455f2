/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a user who mistyped a word may have meant. */
#ifndef BASE_SUGGESTION_H
#define BASE_SUGGESTION_H

#include <stddef.h>

/* Start with the mistyped TEXT and zeros. BEST is the nearest word so far; NULL: none is near. */
struct suggestion {
	const char *text, *best; /* borrowed */
	size_t changes;
};

void suggestion_consider(struct suggestion *suggestion, const char *word);

#endif
