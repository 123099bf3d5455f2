/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions are listed with all that may contain more of them: namespaces, types, other functions.
 * A block without addresses is looked into as well, since compilers leave them out.
 *
 * The number of entries that are looked at is limited: a damaged file may link them in circles.
 */
#include "lines/dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>

#define MAX_RANGES ((size_t)8 << 20)
#define MAX_DEPTH 128
#define MAX_ENTRIES (64U << 20)
#define MAX_STEPS 64 /* back through ranges that begin before an address */

void dwarf_ranges_add(struct dwarf_ranges *ranges, Dwarf_Die *die, size_t number)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (ranges->items.count < MAX_RANGES &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start && start < end)
			vector_append(&ranges->items,
				      (struct dwarf_range){ .start = start, .end = end,
							    .number = number });
}

static int compare(const void *left, const void *right)
{
	const struct dwarf_range *a = left, *b = right;

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

bool dwarf_ranges_find(const struct dwarf_ranges *ranges, uint64_t address, size_t *ret)
{
	size_t low = 0, high = ranges->items.count;
	uint64_t shortest = UINT64_MAX;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < MAX_STEPS && low-- > 0; i++) {
		const struct dwarf_range *range = &ranges->items.items[low];

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
	vector_deinit(&unit->functions);
	dwarf_ranges_deinit(&unit->ranges);
}

static bool may_contain_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static void add_function(struct dwarf_unit *unit, Dwarf_Die *die)
{
	size_t before = unit->ranges.items.count;

	dwarf_ranges_add(&unit->ranges, die, unit->functions.count);
	if (unit->ranges.items.count > before)
		vector_append(&unit->functions, *die);
}

/* Adds the functions of UNIT in the order of its entries. */
static void list_functions(struct dwarf_unit *unit)
{
	Dwarf_Die path[MAX_DEPTH];
	size_t depth = 0;
	int failed = dwarf_child(&unit->die, &path[0]);

	for (uint32_t i = 0; i < MAX_ENTRIES; i++) {
		int tag;

		while (failed) {
			if (!depth)
				return;
			depth--;
			failed = dwarf_siblingof(&path[depth], &path[depth]);
			if (failed < 0)
				return;
		}
		tag = dwarf_tag(&path[depth]);
		if (tag == DW_TAG_subprogram)
			add_function(unit, &path[depth]);
		if (may_contain_functions(tag) && depth + 1 < MAX_DEPTH &&
		    !dwarf_child(&path[depth], &path[depth + 1]))
			depth++;
		else
			failed = dwarf_siblingof(&path[depth], &path[depth]);
	}
}

static bool has_addresses(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* Whether DIE is what to look into for functions inlined at ADDRESS. */
static bool leads_to(Dwarf_Die *die, uint64_t address)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
		return dwarf_haspc(die, address) > 0;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return dwarf_haspc(die, address) > 0 || !has_addresses(die);
	default:
		return false;
	}
}

/* What comes after the path's last entry, and after everything below it; false: nothing. */
static bool next_after(Dwarf_Die *path, size_t *depth, size_t floor)
{
	while (*depth > floor) {
		int failed = dwarf_siblingof(&path[*depth], &path[*depth]);

		if (failed < 0)
			return false;
		if (!failed)
			return true;
		(*depth)--;
	}
	return false;
}

/* Appends the functions inlined into RET[0] at ADDRESS. */
static size_t walk_down(uint64_t address, Dwarf_Die *ret, size_t max)
{
	Dwarf_Die path[MAX_DEPTH] = { ret[0] };
	size_t depth = 0, floor = 0, count = 1;
	bool more = !dwarf_child(&path[0], &path[1]);

	depth = more;
	for (uint32_t i = 0; more && count < max && i < MAX_ENTRIES; i++) {
		bool enter = leads_to(&path[depth], address);

		if (enter && dwarf_tag(&path[depth]) == DW_TAG_inlined_subroutine) {
			ret[count++] = path[depth];
			floor = depth; /* nothing next to it is at the address */
		}
		if (enter && depth + 1 < MAX_DEPTH && !dwarf_child(&path[depth], &path[depth + 1]))
			depth++;
		else
			more = next_after(path, &depth, floor);
	}
	return count;
}

size_t dwarf_unit_functions(struct dwarf_unit *unit, uint64_t address, Dwarf_Die *ret, size_t max)
{
	size_t number;

	if (!unit->listed) {
		unit->listed = true;
		list_functions(unit);
		dwarf_ranges_sort(&unit->ranges);
	}
	if (!max || !dwarf_ranges_find(&unit->ranges, address, &number))
		return 0;
	ret[0] = unit->functions.items[number];
	return walk_down(address, ret, max);
}
