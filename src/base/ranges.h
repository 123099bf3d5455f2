/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of numbers as users write them: "0-3,7". An empty set is no condition. */
#ifndef BASE_RANGES_H
#define BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct range {
	uint64_t first, last; /* both are in it */
};

struct ranges {
	struct range *items; /* owned */
	size_t count;
	size_t capacity;
};

/* Appends the ranges in TEXT to RET. False: TEXT is not a list of numbers and ranges. */
bool ranges_parse(const char *text, struct ranges *ret) MUST_CHECK;
/* Whether VALUE is in one of RANGES, or there are none. */
bool ranges_admit(const struct ranges *ranges, uint64_t value);

#endif
