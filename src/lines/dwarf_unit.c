/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions are listed with all that may contain more of them: namespaces, types, other functions.
 * What is inlined is listed within the function, block or inlined function that contains it. A
 * block without addresses is looked into as well, since compilers leave them out. An address then
 * takes one search for each function that is inlined there, however many entries the unit has.
 *
 * The number of entries that are looked at is limited: a damaged file may link them in circles.
 */
#include "lines/dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>

#define MAX_RANGES ((size_t)8 << 20)
#define MAX_DEPTH 256
#define MAX_ENTRIES (64U << 20)
#define MAX_STEPS 64 /* back through ranges that begin before an address */
#define NOWHERE UINT32_MAX /* in no function that has addresses */

bool dwarf_ranges_add(struct dwarf_ranges *ranges, Dwarf_Die *die, uint32_t within, uint32_t number)
{
	struct dwarf_range range = { .number = number, .within = within };
	size_t before = ranges->items.count;
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while (ranges->items.count < MAX_RANGES &&
	       (at = dwarf_ranges(die, at, &base, &range.start, &range.end)) > 0)
		if (range.start && range.start < range.end)
			vector_append(&ranges->items, range);
	return ranges->items.count > before;
}

static int compare(const void *left, const void *right)
{
	const struct dwarf_range *a = left, *b = right;

	if (a->within != b->within)
		return a->within < b->within ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* the shorter one is found first, from the end */
	return a->end > b->end ? -1 : a->end < b->end;
}

void dwarf_ranges_sort(struct dwarf_ranges *ranges)
{
	if (ranges->items.count)
		qsort(ranges->items.items, ranges->items.count, sizeof(*ranges->items.items),
		      compare);
}

bool dwarf_ranges_find(const struct dwarf_ranges *ranges, uint32_t within, uint64_t address,
		       uint32_t *ret)
{
	size_t low = 0, high = ranges->items.count;
	uint64_t shortest = UINT64_MAX;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct dwarf_range *range = &ranges->items.items[middle];

		if (range->within < within || (range->within == within && range->start <= address))
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < MAX_STEPS && low-- > 0; i++) {
		const struct dwarf_range *range = &ranges->items.items[low];

		if (range->within != within)
			break;
		if (address < range->end && range->end - range->start < shortest) {
			shortest = range->end - range->start;
			*ret = range->number;
		}
	}
	return shortest != UINT64_MAX;
}

void dwarf_ranges_deinit(struct dwarf_ranges *ranges)
{
	vector_deinit(&ranges->items);
}

void dwarf_unit_deinit(struct dwarf_unit *unit)
{
	vector_deinit(&unit->entries);
	dwarf_ranges_deinit(&unit->ranges);
}

static bool has_addresses(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* Lists DIE; returns what its children are within. */
static uint32_t add_entry(struct dwarf_unit *unit, Dwarf_Die *die, uint32_t within)
{
	if (within == NOWHERE ||
	    !dwarf_ranges_add(&unit->ranges, die, within, unit->entries.count))
		return NOWHERE;
	vector_append(&unit->entries, *die);
	return unit->entries.count;
}

/* Whether to look into DIE, and what its children are within. */
static bool visit(struct dwarf_unit *unit, Dwarf_Die *die, uint32_t within, uint32_t *ret)
{
	*ret = NOWHERE;
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	case DW_TAG_subprogram:
		*ret = add_entry(unit, die, DWARF_WHOLE);
		return true;
	case DW_TAG_inlined_subroutine:
		*ret = add_entry(unit, die, within);
		return *ret != NOWHERE;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		*ret = has_addresses(die) ? add_entry(unit, die, within) : within;
		return true;
	default:
		return false;
	}
}

/* Lists what UNIT has, in the order of its entries. */
static void list_entries(struct dwarf_unit *unit)
{
	Dwarf_Die path[MAX_DEPTH];
	uint32_t within[MAX_DEPTH] = { NOWHERE };
	size_t depth = 0;
	int failed = dwarf_child(&unit->die, &path[0]);

	for (uint32_t i = 0; i < MAX_ENTRIES; i++) {
		uint32_t inner;

		while (failed) {
			if (!depth)
				return;
			depth--;
			failed = dwarf_siblingof(&path[depth], &path[depth]);
			if (failed < 0)
				return;
		}
		if (visit(unit, &path[depth], within[depth], &inner) && depth + 1 < MAX_DEPTH &&
		    !dwarf_child(&path[depth], &path[depth + 1]))
			within[++depth] = inner;
		else
			failed = dwarf_siblingof(&path[depth], &path[depth]);
	}
}

static bool is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

size_t dwarf_unit_functions(struct dwarf_unit *unit, uint64_t address, Dwarf_Die *ret, size_t max)
{
	uint32_t within = DWARF_WHOLE, number;
	size_t count = 0;

	if (!unit->listed) {
		unit->listed = true;
		list_entries(unit);
		dwarf_ranges_sort(&unit->ranges);
	}
	/* What is within an entry has a larger number, so this ends. */
	while (count < max && dwarf_ranges_find(&unit->ranges, within, address, &number)) {
		Dwarf_Die *die = &unit->entries.items[number];

		if (is_function(die))
			ret[count++] = *die;
		within = number + 1;
	}
	return count;
}
