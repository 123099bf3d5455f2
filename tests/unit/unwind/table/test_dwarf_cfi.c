/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Incomplete call frame information, and forms other than .eh_frame of x86-64. */
#include "test.h"

#include <string.h>

#include "base/buffer.h"
#include "unwind/file_source.h"
#include "guest/process/elf_frames.h"
#include "unwind/program/program_table.h"
#include "unwind/table/dwarf_cfi.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

static bool same_row(const struct unwind_row *a, const struct unwind_row *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* A page of .eh_frame that is not in memory loses the functions in it, and no others. */
static void missing_pages(void **state)
{
	struct file_source file;
	struct guest_elf_source source;
	struct guest_elf_frames frames;
	_cleanup_unwind_table_ struct unwind_table *whole = NULL;

	(void)state;
	file_source_open(LIBC, &file);
	source = file_source_elf(&file);
	assert_no_error(guest_elf_frames_read(&source, &frames));
	assert_no_error(unwind_table_read_file(&source, &whole));
	assert_true(frames.bytes > 16 * 4096 && frames.record_count > 1000);
	for (uint64_t page = 1; page < frames.bytes / 4096; page += 7) {
		_cleanup_unwind_table_ struct unwind_table *table = NULL;
		uint64_t start = frames.code[0].offset, known = 0, lost = 0;
		const uint8_t *at =
			memmem(file.file.data, file.file.size, frames.data, frames.bytes);

		file.hole = (at - file.file.data + page * 4096) & ~4095ULL;
		file.hole_end = file.hole + 4096;
		assert_no_error(unwind_table_read_file(&source, &table));
		for (uint64_t i = start; i < start + frames.code[0].bytes; i += 11) {
			const struct unwind_row *wanted = unwind_table_find(whole, i);
			const struct unwind_row *row = unwind_table_find(table, i);

			if (!wanted || wanted->type == UNWIND_ROW_UNDEFINED)
				continue;
			known++;
			if (!row || row->type == UNWIND_ROW_UNDEFINED)
				lost++;
			else
				assert_true(same_row(row, wanted));
		}
		assert_true(lost > 0 && lost < known / 4);
	}
	guest_elf_frames_deinit(&frames);
	file_source_close(&file);
}

/* .debug_frame from the fuzzer's corpus; the rows are those of readelf. */
static void debug_frame(void **state)
{
	static const struct {
		uint64_t address;
		int16_t sp_offset, bp_offset;
	} wanted[] = {
		{ 0x1090, 8, 0 },      { 0x1091, 16, -16 },
		{ 0x1097, 24, -16 },   { 0x109e, 1008, -16 },
		{ 0x1196, 1008, -16 }, { 0x1197, 24, -16 },
		{ 0x119d, 16, -16 },   { 0x119e, 8, 0 /* popped */ },
		{ 0x11a0, 8, 0 },      { 0x11a8, 16, 0 },
		{ 0x12bf, 336, 0 },
	};
	struct dwarf_code code = { .address = 0x1000, .bytes = 0x1000, .offset = 0x1000 };
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	struct file_source file;
	struct cfi_section section;

	(void)state;
	file_source_open("tests/fuzz/corpus/dwarf_cfi/debug_frame", &file);
	section = (struct cfi_section){ .data = file.file.data + 9,
					.bytes = file.file.size - 9,
					.debug_frame = true };
	assert_true(dwarf_add_section(table, &section, &code, 1));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const struct unwind_row *row = unwind_table_find(table, wanted[i].address);

		assert_non_null(row);
		assert_int_equal(row->type, UNWIND_ROW_CALL);
		assert_int_equal(row->sp_base, UNWIND_BASE_SP);
		assert_int_equal(row->sp_offset, wanted[i].sp_offset);
		assert_int_equal(row->bp_offset, wanted[i].bp_offset);
	}
	assert_int_equal(unwind_table_find(table, 0x119f)->type, UNWIND_ROW_UNDEFINED);
	file_source_close(&file);
}

#define PAIRS 8

/*
 * Each FDE names a CIE of its own. All CIEs end at the same place, 4096 instructions after the last
 * one starts: each but the last skips the headers of those after it, as the operand of an
 * instruction. GAP bytes are added that belong to no CIE.
 */
static void overlapping_cies(struct buffer *section, size_t gap)
{
	size_t end = PAIRS * 16 + 4096;

	for (size_t i = 0; i < PAIRS; i++) {
		buffer_append_u32(section, end - i * 16 - 4);
		buffer_append_u32(section, 0);
		buffer_append(section, "\1\0\1\x78\x10", 5); /* version, "", factors, column */
		/* DW_CFA_val_expression of register 0: a block of 13 bytes */
		buffer_append(section, i + 1 < PAIRS ? "\x16\0\x0d" : "\0\0\0", 3);
	}
	while (section->size < end)
		buffer_append_u8(section, 0);
	for (size_t i = 0; i < PAIRS; i++) {
		size_t at = section->size + 4;

		buffer_append_u32(section, 28);
		buffer_append_u32(section, at - i * 16);
		buffer_append_u64(section, 0x1000 + i * 16);
		buffer_append_u64(section, 16);
		/* DW_CFA_def_cfa: sp + 8; DW_CFA_offset: the return address is at CFA - 8 */
		buffer_append(section, "\x0c\7\x08\x90\1\0\0\0", 8);
	}
	buffer_append_u32(section, gap - 4);
	buffer_append_u32(section, section->size); /* an FDE of no code */
	for (size_t i = 8; i < gap; i++)
		buffer_append_u8(section, 0);
}

static size_t functions_with_rows(size_t gap)
{
	struct dwarf_code code = { .address = 0x1000, .bytes = 0x1000, .offset = 0x1000 };
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	_cleanup_buffer_ struct buffer buffer;
	struct cfi_section section;
	size_t count = 0;

	buffer_init(&buffer, 1 << 20);
	overlapping_cies(&buffer, gap);
	section = (struct cfi_section){ .data = buffer.data, .bytes = buffer.size };
	assert_true(dwarf_add_section(table, &section, &code, 1));
	for (size_t i = 0; i < PAIRS; i++) {
		const struct unwind_row *row = unwind_table_find(table, 0x1000 + i * 16);

		count += row && row->type != UNWIND_ROW_UNDEFINED;
	}
	return count;
}

/* A section whose CIEs add up to more than itself would take the product of both to read. */
static void cies_do_not_add_up_to_more_than_the_section(void **state)
{
	(void)state;
	assert_int_equal(functions_with_rows(24), 1);
	assert_int_equal(functions_with_rows(4096), 2);
	assert_int_equal(functions_with_rows(PAIRS * 4096), PAIRS);
}

/* A 32-bit library; the rows are those of readelf, except for the linkage table's expression. */
static void bits32(void **state)
{
	static const struct {
		uint64_t address;
		struct unwind_row row;
	} wanted[] = {
		{ 0x292, { .sp_base = UNWIND_BASE_SP, .sp_offset = 4 } },
		{ 0x2a1, { .sp_base = UNWIND_BASE_SP, .sp_offset = 4 } },
		{ 0x2a3, { .sp_base = UNWIND_BASE_SP, .sp_offset = 12 } },
		{ 0x2bf, { .sp_base = UNWIND_BASE_SP, .sp_offset = 28 } },
		{ 0x2da, { .sp_base = UNWIND_BASE_SP, .sp_offset = 32 } },
		{ 0x2de, { .sp_base = UNWIND_BASE_SP, .sp_offset = 4 } },
		{ 0x250, { .sp_base = UNWIND_BASE_SP, .sp_offset = 8 } },
		{ 0x25f, { .sp_base = UNWIND_BASE_SP, .sp_offset = 12 } },
		{ 0x260, { .sp_base = UNWIND_BASE_SP_PLT, .sp_offset = 4, .bp_offset = 11 } },
	};
	_cleanup_unwind_table_ struct unwind_table *table = NULL;
	struct file_source file;
	struct guest_elf_source source;

	(void)state;
	file_source_open("tests/fuzz/corpus/elf/so32", &file);
	source = file_source_elf(&file);
	assert_no_error(unwind_table_read_file(&source, &table));
	assert_true(unwind_table_is_bits32(table));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const struct unwind_row *row = unwind_table_find(table, wanted[i].address);

		assert_non_null(row);
		assert_int_equal(row->type, UNWIND_ROW_CALL);
		assert_int_equal(row->sp_base, wanted[i].row.sp_base);
		assert_int_equal(row->sp_offset, wanted[i].row.sp_offset);
		assert_int_equal(row->bp_base, UNWIND_BASE_UNDEFINED);
		assert_int_equal(row->bp_offset, wanted[i].row.bp_offset);
	}
	assert_int_equal(unwind_table_find(table, 0x290)->type, UNWIND_ROW_UNDEFINED);
	file_source_close(&file);
}

static uint8_t machine;

/* Sets e_machine to MACHINE. */
static bool read_other(void *context, uint64_t offset, void *data, size_t size)
{
	const uint64_t at = offsetof(Elf32_Ehdr, e_machine);

	if (!file_source_read(context, offset, data, size))
		return false;
	if (offset <= at && at - offset < size)
		((uint8_t *)data)[at - offset] = machine;
	return true;
}

/* A file for another machine, and a 32-bit one for x86-64 (x32). */
static void other_machines(void **state)
{
	static const uint8_t machines[] = { EM_ARM, EM_X86_64 };
	struct unwind_table *table;
	struct file_source file;
	struct guest_elf_source source;

	(void)state;
	file_source_open("tests/fuzz/corpus/elf/so32", &file);
	source = file_source_elf(&file);
	source.read = read_other;
	for (size_t i = 0; i < sizeof(machines); i++) {
		machine = machines[i];
		assert_error(unwind_table_read_file(&source, &table), ERROR_UNSUPPORTED);
	}
	file_source_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_pages),
		cmocka_unit_test(debug_frame),
		cmocka_unit_test(cies_do_not_add_up_to_more_than_the_section),
		cmocka_unit_test(bits32),
		cmocka_unit_test(other_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
