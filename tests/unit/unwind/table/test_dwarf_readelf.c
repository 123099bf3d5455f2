/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of this machine's programs and libraries, compared with those printed by binutils' readelf;
 * where it only prints "exp", with the expressions from elfutils' libdw.
 */
#include "test.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "unwind/file_source.h"
#include "guest/process/elf_frames.h"
#include "unwind/program/program_table.h"

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define MAX_COLUMNS 20

/* A row as printed by readelf; "" if there is no such column. */
struct printed {
	uint64_t address;
	char cfa[32], bp[32], bx[32], ip[32];
};

struct comparison {
	const char *path;
	struct file_source file;
	struct guest_elf_frames frames; /* for the positions of code */
	struct unwind_table *table;
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi;
	char columns[MAX_COLUMNS][16];
	size_t column_count;
	struct printed last; /* of the function being read */
	uint64_t end;        /* of its code; 0: none is being read */
	size_t exact, popped, expressions, other_registers, bx_lost, functions, gaps;
};

static bool find_row(const struct comparison *comparison, uint64_t address, struct unwind_row *ret)
{
	for (size_t i = 0; i < comparison->frames.code_count; i++) {
		uint64_t inside = address - comparison->frames.code[i].address;
		const struct unwind_row *row;

		if (inside >= comparison->frames.code[i].bytes)
			continue;
		row = unwind_table_find(comparison->table,
					comparison->frames.code[i].offset + inside);
		*ret = row ? *row : (struct unwind_row){ .type = UNWIND_ROW_UNDEFINED };
		return true;
	}
	return false;
}

/* OPS are "breg7 N, deref[, plus_uconst 8]" and the like, with the given N. */
static bool is_operations(const Dwarf_Op *ops, size_t count, const uint8_t *wanted,
			  size_t wanted_count, int64_t *ret_offset)
{
	if (count != wanted_count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (ops[i].atom != wanted[i])
			return false;
	*ret_offset = (int64_t)ops[0].number;
	return true;
}

#define IS_OPERATIONS(...)                                                                         \
	is_operations(ops, count, (uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }),  \
		      &offset)

static bool cfa_agrees(const Dwarf_Op *ops, size_t count, const struct unwind_row *row)
{
	int64_t offset;

	switch (row->sp_base) {
	case UNWIND_BASE_SP_OFFSET_INDIRECT:
		return IS_OPERATIONS(DW_OP_breg7, DW_OP_deref) && offset == row->sp_offset;
	case UNWIND_BASE_BP_INDIRECT:
		return IS_OPERATIONS(DW_OP_breg6, DW_OP_deref) && offset == row->sp_offset;
	case UNWIND_BASE_SP_INDIRECT_WORD:
		return IS_OPERATIONS(DW_OP_breg7, DW_OP_deref, DW_OP_plus_uconst) &&
		       offset == row->sp_offset && ops[2].number == 8;
	case UNWIND_BASE_SP_PLT:
		return IS_OPERATIONS(DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and,
				     DW_OP_lit0 + row->bp_offset, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
				     DW_OP_plus) &&
		       offset == row->sp_offset && ops[1].number == 0;
	}
	/* Not one of the known forms. */
	return row->sp_base == UNWIND_BASE_OTHER && !IS_OPERATIONS(DW_OP_breg7, DW_OP_deref) &&
	       !IS_OPERATIONS(DW_OP_breg6, DW_OP_deref);
}

static void check_cfa_expression(struct comparison *comparison, uint64_t address,
				 const struct unwind_row *row)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t count;

	assert_int_equal(dwarf_cfi_addrframe(comparison->cfi, address, &frame), 0);
	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	if (!cfa_agrees(ops, count, row))
		fail_msg("%s: another expression at %#" PRIx64, comparison->path, address);
	free(frame);
}

/* A register's location is an expression: breg7|breg6 N, for which CFA is pushed first. */
static void check_register(struct comparison *comparison, uint64_t address, int number, uint8_t op,
			   int64_t wanted)
{
	Dwarf_Op memory[3], *ops;
	Dwarf_Frame *frame;
	size_t count;

	assert_int_equal(dwarf_cfi_addrframe(comparison->cfi, address, &frame), 0);
	assert_int_equal(dwarf_frame_register(frame, number, memory, &ops, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(ops[0].atom, DW_OP_call_frame_cfa);
	assert_int_equal(ops[1].atom, op);
	assert_int_equal(ops[1].number, wanted);
	free(frame);
}

static bool is_at_cfa(const char *column, int offset)
{
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "c%+d", offset);
	return !strcmp(column, wanted);
}

static bool bp_agrees(struct comparison *comparison, const struct printed *printed,
		      const struct unwind_row *row)
{
	int cfa, bp;

	switch (row->bp_base) {
	case UNWIND_BASE_UNDEFINED:
		/* Below SP, or at BP in a frame that was left: it was popped. */
		if (sscanf(printed->cfa, "rsp+%d", &cfa) == 1 &&
		    (!strcmp(printed->bp, "exp") ||
		     (sscanf(printed->bp, "c-%d", &bp) == 1 && bp > cfa))) {
			comparison->popped++;
			return true;
		}
		return !*printed->bp || !strcmp(printed->bp, "u") || !strcmp(printed->bp, "s");
	case UNWIND_BASE_PREV_SP:
		return is_at_cfa(printed->bp, row->bp_offset);
	case UNWIND_BASE_BP:
	case UNWIND_BASE_BP_TOP:
		check_register(comparison, printed->address, 6, DW_OP_breg6, row->bp_offset);
		return !strcmp(printed->bp, "exp");
	case UNWIND_BASE_SP:
		check_register(comparison, printed->address, 6, DW_OP_breg7, row->bp_offset);
		return !strcmp(printed->bp, "exp");
	}
	/* In a register, or a value given by an expression. */
	return row->bp_base == UNWIND_BASE_OTHER && *printed->bp && printed->bp[0] != 'c';
}

/* If BX is lost, only check that this is rare in compiler output: count it. */
static bool bx_agrees(struct comparison *comparison, const struct printed *printed,
		      const struct unwind_row *row)
{
	int cfa, bx;

	switch (row->bx_base) {
	case UNWIND_BX_SAME:
		return !*printed->bx || !strcmp(printed->bx, "u") || !strcmp(printed->bx, "s") ||
		       (sscanf(printed->cfa, "rsp+%d", &cfa) == 1 &&
			(!strcmp(printed->bx, "exp") ||
			 (sscanf(printed->bx, "c-%d", &bx) == 1 && bx > cfa)));
	case UNWIND_BX_AT_PREV_SP:
		return is_at_cfa(printed->bx, row->bx_offset);
	case UNWIND_BX_AT_BP:
		check_register(comparison, printed->address, 3, DW_OP_breg6, row->bx_offset);
		return !strcmp(printed->bx, "exp");
	}
	comparison->bx_lost++;
	return *printed->bx;
}

static const char *const general_names[UNWIND_GENERAL_REGISTERS] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
};

static bool cfa_register_agrees(const struct printed *printed, const struct unwind_row *row)
{
	char wanted[32] = "";

	if (row->sp_base == UNWIND_BASE_SP)
		snprintf(wanted, sizeof(wanted), "rsp%+d", row->sp_offset);
	else if (row->sp_base == UNWIND_BASE_SP_WORDS)
		snprintf(wanted, sizeof(wanted), "rsp%+d", 8 * row->sp_offset);
	else if (row->sp_base == UNWIND_BASE_BP)
		snprintf(wanted, sizeof(wanted), "rbp%+d", row->sp_offset);
	else if (row->sp_base >= UNWIND_BASE_GENERAL)
		snprintf(wanted, sizeof(wanted), "%s%+d",
			 general_names[row->sp_base - UNWIND_BASE_GENERAL], row->sp_offset);
	return !strcmp(printed->cfa, wanted);
}

/* A signal's frame: expressions give the locations of SP and IP. */
static bool signal_agrees(struct comparison *comparison, const struct printed *printed,
			  const struct unwind_row *row)
{
	check_cfa_expression(comparison, printed->address, row);
	check_register(comparison, printed->address, 16, DW_OP_breg7, row->sp_offset + 8);
	comparison->expressions++;
	return row->signal && row->sp_base == UNWIND_BASE_SP_OFFSET_INDIRECT &&
	       !strcmp(printed->ip, "exp") && bp_agrees(comparison, printed, row);
}

static bool other_agrees(struct comparison *comparison, const struct printed *printed,
			 const struct unwind_row *row)
{
	bool by_expression = !strcmp(printed->cfa, "exp");

	comparison->other_registers++;
	if (by_expression)
		check_cfa_expression(comparison, printed->address, row);
	/* Neither SP nor BP, or the return address is elsewhere. */
	return by_expression || strcmp(printed->ip, "c-8") ||
	       (strncmp(printed->cfa, "rsp", 3) && strncmp(printed->cfa, "rbp", 3));
}

static bool agrees(struct comparison *comparison, const struct printed *printed,
		   const struct unwind_row *row)
{
	if (row->type == UNWIND_ROW_END) {
		comparison->exact++;
		return !strcmp(printed->ip, "u");
	}
	if (row->type == UNWIND_ROW_SIGNAL)
		return signal_agrees(comparison, printed, row);
	if (row->type != UNWIND_ROW_CALL || row->signal)
		return false;
	if (row->sp_base == UNWIND_BASE_OTHER)
		return other_agrees(comparison, printed, row);
	if (strcmp(printed->ip, "c-8"))
		return false;
	if (!strcmp(printed->cfa, "exp")) {
		comparison->expressions++;
		check_cfa_expression(comparison, printed->address, row);
		return row->sp_base == UNWIND_BASE_SP_PLT ||
		       (bp_agrees(comparison, printed, row) && bx_agrees(comparison, printed, row));
	}
	comparison->exact++;
	return cfa_register_agrees(printed, row) && bp_agrees(comparison, printed, row) &&
	       bx_agrees(comparison, printed, row);
}

static void compare_at(struct comparison *comparison, uint64_t address)
{
	struct printed printed = comparison->last;
	struct unwind_row row;

	assert_true(find_row(comparison, address, &row));
	if (!agrees(comparison, &printed, &row))
		fail_msg("%s: %#" PRIx64
			 ": readelf: CFA %s, rbp %s, ra %s; here: type %d, sp %d%+d, "
			 "bp %d%+d",
			 comparison->path, address, printed.cfa, printed.bp, printed.ip, row.type,
			 row.sp_base, row.sp_offset, row.bp_base, row.bp_offset);
}

/* The last row extends up to END, exclusive. */
static void end_row(struct comparison *comparison, uint64_t end)
{
	if (!comparison->end || !*comparison->last.cfa || end <= comparison->last.address)
		return;
	compare_at(comparison, comparison->last.address);
	if (end - 1 != comparison->last.address) {
		struct comparison counts = *comparison;

		compare_at(comparison, end - 1);
		comparison->exact = counts.exact;
		comparison->popped = counts.popped;
		comparison->expressions = counts.expressions;
		comparison->other_registers = counts.other_registers;
		comparison->bx_lost = counts.bx_lost;
	}
}

static void end_function(struct comparison *comparison)
{
	end_row(comparison, comparison->end);
	comparison->end = 0;
	comparison->last = (struct printed){ 0 };
}

static void take_columns(struct comparison *comparison, char *line)
{
	char *rest;

	comparison->column_count = 0;
	for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		if (comparison->column_count < MAX_COLUMNS)
			snprintf(comparison->columns[comparison->column_count++],
				 sizeof(comparison->columns[0]), "%s", word);
}

static void take_row(struct comparison *comparison, char *line)
{
	struct printed printed = { 0 };
	size_t column = 0;
	char *rest;

	for (char *word = strtok_r(line, " \n", &rest); word && column < comparison->column_count;
	     word = strtok_r(NULL, " \n", &rest)) {
		const char *name = comparison->columns[column];

		if (*word == '(') /* "r10 (r10)": a register and its name */
			continue;
		column++;
		if (!strcmp(name, "LOC"))
			printed.address = strtoull(word, NULL, 16);
		else if (!strcmp(name, "CFA"))
			snprintf(printed.cfa, sizeof(printed.cfa), "%s", word);
		else if (!strcmp(name, "rbp"))
			snprintf(printed.bp, sizeof(printed.bp), "%s", word);
		else if (!strcmp(name, "rbx"))
			snprintf(printed.bx, sizeof(printed.bx), "%s", word);
		else if (!strcmp(name, "ra"))
			snprintf(printed.ip, sizeof(printed.ip), "%s", word);
	}
	end_row(comparison, printed.address);
	comparison->last = printed;
}

/*
 * Code outside of functions has no rows: according to libdw, FROM is where one ends and none
 * begins.
 */
static void check_gap(struct comparison *comparison, uint64_t from)
{
	struct unwind_row row;
	Dwarf_Frame *frame;

	if (!find_row(comparison, from, &row))
		return;
	if (!dwarf_cfi_addrframe(comparison->cfi, from, &frame)) {
		free(frame);
		return;
	}
	assert_int_equal(row.type, UNWIND_ROW_UNDEFINED);
	comparison->gaps++;
}

static void take_line(struct comparison *comparison, char *line)
{
	const char *range = strstr(line, " pc=");
	uint64_t start, end;

	if (strstr(line, " CIE ") || range || *line == '\n' || strstr(line, "ZERO"))
		end_function(comparison);
	if (range && sscanf(range, " pc=%" SCNx64 "..%" SCNx64, &start, &end) == 2) {
		struct unwind_row row;

		if (!find_row(comparison, start, &row))
			return;
		comparison->end = end;
		comparison->functions++;
		check_gap(comparison, end);
	} else if (strstr(line, "LOC ")) {
		take_columns(comparison, line);
	} else if (comparison->end && strchr("0123456789abcdef", *line)) {
		take_row(comparison, line);
	}
}

static void open_comparison(const char *path, struct comparison *ret)
{
	struct guest_elf_source source;

	*ret = (struct comparison){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC) };
	assert_true(ret->fd >= 0);
	elf_version(EV_CURRENT);
	ret->elf = elf_begin(ret->fd, ELF_C_READ, NULL);
	ret->cfi = dwarf_getcfi_elf(ret->elf);
	assert_non_null(ret->cfi);
	file_source_open(path, &ret->file);
	source = file_source_elf(&ret->file);
	assert_no_error(guest_elf_frames_read(&source, &ret->frames));
	assert_no_error(unwind_table_read_file(&source, &ret->table));
}

static void close_comparison(struct comparison *comparison)
{
	unwind_table_destroy(comparison->table);
	guest_elf_frames_deinit(&comparison->frames);
	file_source_close(&comparison->file);
	dwarf_cfi_end(comparison->cfi);
	elf_end(comparison->elf);
	close(comparison->fd);
}

static void compare(const char *path)
{
	struct comparison comparison;
	char command[512], *line = NULL;
	bool in_section = false;
	size_t room = 0, rows;
	FILE *readelf;

	open_comparison(path, &comparison);
	snprintf(command, sizeof(command),
		 "readelf -W --debug-dump=frames-interp,no-follow-links '%s' 2>/dev/null", path);
	readelf = popen(command, "r");
	assert_non_null(readelf);
	while (getline(&line, &room, readelf) > 0) {
		if (strstr(line, "Contents of the "))
			in_section = strstr(line, ".eh_frame");
		else if (in_section)
			take_line(&comparison, line);
	}
	end_function(&comparison);
	assert_int_equal(pclose(readelf), 0);
	free(line);
	rows = comparison.exact + comparison.expressions + comparison.other_registers;
	assert_true(comparison.functions > 0 && rows >= comparison.functions);
	print_message(
		"%s: %zu rows of %zu functions: %.3f %% by SP and BP (%zu with BP popped), %zu by "
		"expressions, %zu by other means; RBX lost in %zu; %zu gaps\n",
		path, rows, comparison.functions, 100.0 * (double)comparison.exact / (double)rows,
		comparison.popped, comparison.expressions, comparison.other_registers,
		comparison.bx_lost, comparison.gaps);
	close_comparison(&comparison);
}

static void rows_are_those_of_readelf(void **state)
{
	static const char *const paths[] = {
		"/proc/self/exe",
		LIBC,
		"/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", /* assembly, frames with an alignment */
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", /* exceptions */
		"/usr/bin/busybox",                         /* static */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		char path[256];
		ssize_t length = readlink(paths[i], path, sizeof(path) - 1);

		if (i || length < 0)
			snprintf(path, sizeof(path), "%s", paths[i]);
		else
			path[length] = 0;
		if (!access(path, R_OK))
			compare(path);
		else
			part_skipped(path, "there is no such file");
	}
}

/* The vDSO of the running kernel. */
static void the_vdso(void **state)
{
	char path[] = "/tmp/perfvisor-vdso-XXXXXX";
	int fd = mkstemp(path);
	const uint8_t *vdso;
	size_t bytes;

	(void)state;
	assert_true(fd >= 0);
	vdso = vdso_of_self(&bytes);
	assert_int_equal(write(fd, vdso, bytes), bytes);
	close(fd);
	compare(path);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_readelf),
		cmocka_unit_test(the_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
