/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records are read once. Their functions are sorted by address, as linkers sort them for
 * .eh_frame_hdr, and each produces its rows. If functions overlap, the one that starts later gets
 * the code, as in a search of that table.
 *
 * FDEs do not overlap, and each of their bytes is run at most once. A CIE's program runs once to
 * create the initial state of its functions. FDEs may name a CIE at any offset, because the list
 * may have holes; in a well-formed section CIEs do not overlap either, so once those that were
 * named add up to more than the section, no more are read. So time and memory are bounded by the
 * section's size.
 */
#include "unwind/table/dwarf_cfi.h"

#include <elf.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vector.h"

struct cie {
	bool valid;
	struct cfi_cie cie;
	struct cfi_state initial;
};

struct function {
	struct cfi_fde fde;
	uint32_t cie; /* its index */
};

struct build {
	const struct cfi_section *section;
	VECTOR(struct cie) cies;
	struct map cie_numbers; /* offset in the section -> index */
	size_t cie_bytes;	/* of all CIEs so far */
	VECTOR(struct function) functions;
	/* The code being processed: */
	const struct dwarf_code *code;
	uint64_t end; /* of the function's code */
	VECTOR(uint32_t) ips;
	VECTOR(struct unwind_row) rows;
};

static bool read_cie(struct build *build, size_t offset, struct cie *ret)
{
	struct cfi_record record;
	size_t start = offset;

	if (build->cie_bytes > build->section->bytes ||
	    !cfi_next(build->section, &offset, &record))
		return false;
	build->cie_bytes += offset - start;
	return build->cie_bytes <= build->section->bytes && record.is_cie &&
	       cfi_read_cie(build->section, &record, &ret->cie) &&
	       cfi_initial_state(build->section, &ret->cie, &ret->initial);
}

static const struct cie *find_cie(struct build *build, size_t offset, uint32_t *ret_number)
{
	struct cie cie = { 0 };
	bool added;
	uint64_t *number = map_insert(&build->cie_numbers, offset, &added);

	if (added) {
		*number = build->cies.count;
		cie.valid = read_cie(build, offset, &cie);
		vector_append(&build->cies, cie);
	}
	*ret_number = *number;
	return &build->cies.items[*number];
}

static void add_function(struct build *build, const struct cfi_record *record)
{
	struct function function;
	const struct cie *cie = find_cie(build, record->cie_offset, &function.cie);

	if (cie->valid && cfi_read_fde(build->section, record, &cie->cie, &function.fde))
		vector_append(&build->functions, function);
}

/* Moves past a missing or malformed part; *NEXT continues in the section's list of records. */
static bool skip_hole(const struct cfi_section *section, size_t *next, size_t *offset)
{
	while (*next < section->record_count && section->records[*next] <= *offset)
		++*next;
	if (*next == section->record_count)
		return false;
	*offset = section->records[*next];
	return true;
}

static void add_functions(struct build *build)
{
	size_t offset = 0, next = 0;

	while (build->functions.count < DWARF_MAX_FUNCTIONS) {
		struct cfi_record record;

		if (cfi_next(build->section, &offset, &record)) {
			if (!record.is_cie)
				add_function(build, &record);
		} else if (!skip_hole(build->section, &next, &offset)) {
			return;
		}
	}
}

/* Of functions with the same start, the last one is kept. */
static void sort_functions(struct build *build)
{
	size_t count = build->functions.count;
	_cleanup_free_ struct sort_key *keys = memory_calloc(count, sizeof(*keys));
	struct function *sorted = memory_calloc(count, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){ build->functions.items[i].fde.start, i };
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = build->functions.items[keys[i].index];
	free(build->functions.items);
	build->functions.items = sorted;
	build->functions.capacity = count;
}

static void append_row(struct build *build, uint64_t address, const struct unwind_row *row)
{
	vector_append(&build->ips, address - build->code->address);
	vector_append(&build->rows, *row);
}

static void add_row(void *context, uint64_t address, const struct unwind_row *row)
{
	struct build *build = context;

	if (address < build->end)
		append_row(build, address, row);
}

/* Makes the rows of the functions that start in build->code, beginning with FIRST. */
static void make_rows(struct build *build, size_t first)
{
	static const struct unwind_row undefined = { .type = UNWIND_ROW_UNDEFINED };
	uint64_t code_end = build->code->address + build->code->bytes;

	for (size_t i = first; i < build->functions.count; i++) {
		const struct function *function = &build->functions.items[i];
		const struct cie *cie = &build->cies.items[function->cie];
		uint64_t next = code_end;

		if (function->fde.start >= code_end)
			break;
		if (i + 1 < build->functions.count && function[1].fde.start < next)
			next = function[1].fde.start;
		build->end = function->fde.end < next ? function->fde.end : next;
		cfi_make_rows(build->section, &cie->cie, &cie->initial, &function->fde, add_row,
			      build);
		if (build->end < next)
			append_row(build, build->end, &undefined);
	}
}

static size_t first_in(const struct build *build, uint64_t address)
{
	return SEARCH_COUNT(i, build->functions.count,
			    build->functions.items[i].fde.start < address);
}

static bool add_code(struct build *build, struct unwind_table *table, const struct dwarf_code *code)
{
	struct unwind_rows rows = { .start = GVA(code->offset),
				    .end = GVA(code->offset + code->bytes) };

	if (code->bytes > UINT32_MAX || code->address > UINT64_MAX - code->bytes ||
	    code->offset > UINT64_MAX - code->bytes)
		return false;
	build->code = code;
	build->ips.count = build->rows.count = 0;
	make_rows(build, first_in(build, code->address));
	rows.ips = build->ips.items;
	rows.rows = build->rows.items;
	rows.count = build->rows.count;
	return unwind_table_add_rows(table, &rows);
}

bool dwarf_add_section(struct unwind_table *table, const struct cfi_section *section,
		       const struct dwarf_code *code, size_t code_count)
{
	struct build build = { .section = section };
	bool any = false;

	if (section->bytes > DWARF_MAX_SECTION_BYTES)
		return false;
	if (section->machine == EM_386)
		unwind_table_set_bits32(table);
	map_init(&build.cie_numbers);
	add_functions(&build);
	sort_functions(&build);
	for (size_t i = 0; i < code_count; i++)
		any |= add_code(&build, table, &code[i]);
	map_deinit(&build.cie_numbers);
	vector_deinit(&build.cies);
	vector_deinit(&build.functions);
	vector_deinit(&build.ips);
	vector_deinit(&build.rows);
	return any;
}
