/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses of units and functions, and which functions are at an address. Part of
 * dwarf_lines.c. */
#ifndef LINES_DWARF_UNIT_H
#define LINES_DWARF_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"

#define DWARF_WHOLE 0 /* the file for units, the unit for functions */

struct dwarf_range {
	uint64_t start, end;
	uint32_t number; /* of what is there */
	uint32_t within; /* DWARF_WHOLE, or the number, plus one, of what contains it */
};

/* Ranges within the same thing may contain each other as well. */
struct dwarf_ranges {
	VECTOR(struct dwarf_range) items;
};

/* Adds the addresses of DIE. False: it has none. */
bool dwarf_ranges_add(struct dwarf_ranges *ranges, Dwarf_Die *die, uint32_t within,
		      uint32_t number);
void dwarf_ranges_sort(struct dwarf_ranges *ranges);
/*
 * The number of the shortest range WITHIN that around ADDRESS; only the last few that begin before
 * it count.
 */
bool dwarf_ranges_find(const struct dwarf_ranges *ranges, uint32_t within, uint64_t address,
		       uint32_t *ret);
void dwarf_ranges_deinit(struct dwarf_ranges *ranges);

struct dwarf_unit {
	Dwarf_Die die;
	bool listed;
	VECTOR(Dwarf_Die) entries;  /* functions, what is inlined into them, and blocks */
	struct dwarf_ranges ranges; /* of the entries */
};

/*
 * The function of UNIT at ADDRESS, and those inlined there: the outermost first, at most MAX (the
 * outermost are kept). Returns how many there are. The unit's entries are read once, for the first
 * address.
 */
size_t dwarf_unit_functions(struct dwarf_unit *unit, uint64_t address, Dwarf_Die *ret, size_t max);
void dwarf_unit_deinit(struct dwarf_unit *unit);

#endif
