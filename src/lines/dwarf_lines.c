/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file's units are sorted by their addresses once (.debug_aranges would be shorter, but clang
 * leaves it out, and it is not always complete), the functions of a unit, and what is inlined into
 * them, when it is first needed (dwarf_unit.c).
 *
 * The line of the innermost function is the line table's; that of a caller is where the function
 * was inlined (DW_AT_call_file, DW_AT_call_line): as addr2line -i in binutils has it.
 *
 * Limits: no split DWARF (.dwo) and no supplementary files (dwz -m), whose paths the file would
 * choose; no relocatable files (kernel modules).
 */
#include "lines/dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <unistd.h>

#include "base/memory.h"
#include "lines/dwarf_unit.h"

#define MAX_UNITS ((size_t)1 << 20)

struct dwarf_lines {
	int fd; /* -1: an image in memory */
	Elf *elf;
	Dwarf *dwarf;
	VECTOR(struct dwarf_unit) units;
	struct dwarf_ranges ranges; /* of the units */
};

static void list_units(struct dwarf_lines *lines)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (lines->units.count < MAX_UNITS &&
	       !dwarf_get_units(lines->dwarf, unit, &unit, NULL, &type, &die, NULL)) {
		if (type != DW_UT_compile && type != DW_UT_partial)
			continue;
		dwarf_ranges_add(&lines->ranges, &die, DWARF_WHOLE, lines->units.count);
		vector_append(&lines->units, (struct dwarf_unit){ .die = die });
	}
	dwarf_ranges_sort(&lines->ranges);
}

/* Takes LINES, whose elf is open. */
static struct dwarf_lines *begin(struct dwarf_lines *lines)
{
	lines->dwarf = lines->elf ? dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL) : NULL;
	if (!lines->dwarf) {
		dwarf_lines_close(lines);
		return NULL;
	}
	list_units(lines);
	return lines;
}

struct dwarf_lines *dwarf_lines_open(int fd)
{
	struct dwarf_lines *lines = memory_calloc(1, sizeof(*lines));

	elf_version(EV_CURRENT);
	lines->fd = fd;
	lines->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	return begin(lines);
}

struct dwarf_lines *dwarf_lines_open_memory(const void *data, size_t size)
{
	struct dwarf_lines *lines = memory_calloc(1, sizeof(*lines));

	elf_version(EV_CURRENT);
	lines->fd = -1;
	lines->elf = elf_memory((char *)data, size); /* which only reads */
	return begin(lines);
}

void dwarf_lines_close(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->units.count; i++)
		dwarf_unit_deinit(&lines->units.items[i]);
	vector_deinit(&lines->units);
	dwarf_ranges_deinit(&lines->ranges);
	dwarf_end(lines->dwarf);
	elf_end(lines->elf);
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines);
}

static const char *name_of(Dwarf_Die *die)
{
	static const unsigned int names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					      DW_AT_name };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		Dwarf_Attribute attribute;
		const char *name = dwarf_formstring(
			dwarf_attr_integrate(die, names[i], &attribute));

		if (name)
			return name;
	}
	return NULL;
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) || value > UINT32_MAX)
		return 0;
	return value;
}

/* Where the function DIE was inlined. */
static void find_call(struct dwarf_unit *unit, Dwarf_Die *die, struct dwarf_frame *ret)
{
	uint32_t number = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	ret->line = number_of(die, DW_AT_call_line);
	if (!dwarf_getsrcfiles(&unit->die, &files, &count) && number < count)
		ret->file = dwarf_filesrc(files, number, NULL, NULL);
}

static void find_line(struct dwarf_unit *unit, uint64_t address, struct dwarf_frame *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
	int number;

	if (!line)
		return;
	ret->file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &number) && number > 0)
		ret->line = number;
}

void dwarf_lines_find(struct dwarf_lines *lines, uint64_t address, struct dwarf_frames *ret)
{
	Dwarf_Die functions[DWARF_LINES_MAX_FRAMES];
	struct dwarf_unit *unit;
	uint32_t number;
	size_t count;

	ret->count = 0;
	if (!dwarf_ranges_find(&lines->ranges, DWARF_WHOLE, address, &number))
		return;
	unit = &lines->units.items[number];
	count = dwarf_unit_functions(unit, address, functions, DWARF_LINES_MAX_FRAMES);
	ret->items[0] = (struct dwarf_frame){ 0 };
	find_line(unit, address, &ret->items[0]);
	if (!count) {
		ret->count = ret->items[0].file != NULL;
		return;
	}
	for (size_t i = count; i-- > 0;) {
		struct dwarf_frame *frame = &ret->items[ret->count++];

		frame->function = name_of(&functions[i]);
		if (!i)
			break;
		frame[1] = (struct dwarf_frame){ 0 };
		find_call(unit, &functions[i], &frame[1]);
	}
}
