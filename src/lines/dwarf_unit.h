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

struct dwarf_range {
	uint64_t start, end;
	size_t number; /* of what is there */
};

/* Ranges that may contain each other. */
struct dwarf_ranges {
	VECTOR(struct dwarf_range) items;
};

/* Adds the addresses of DIE. */
void dwarf_ranges_add(struct dwarf_ranges *ranges, Dwarf_Die *die, size_t number);
void dwarf_ranges_sort(struct dwarf_ranges *ranges);
/* The number of the shortest range around ADDRESS; only the last few that begin before it count. */
bool dwarf_ranges_find(const struct dwarf_ranges *ranges, uint64_t address, size_t *ret);
void dwarf_ranges_deinit(struct dwarf_ranges *ranges);

struct dwarf_unit {
	Dwarf_Die die;
	bool listed;
	VECTOR(Dwarf_Die) functions;
	struct dwarf_ranges ranges; /* of the functions */
};

/*
 * The function of UNIT at ADDRESS, and those inlined there: the outermost first, at most MAX (the
 * outermost are kept). Returns how many there are.
 */
size_t dwarf_unit_functions(struct dwarf_unit *unit, uint64_t address, Dwarf_Die *ret, size_t max);
void dwarf_unit_deinit(struct dwarf_unit *unit);

#endif
