/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of files, compared with nm and readelf for the system's files, and with objdump for the
 * fixtures in tests/fuzz/corpus/elf (a shared library with a few functions; the same stripped, its
 * debug file, and one with .plt.sec).
 */
#include "test.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/memory.h"
#include "symbol/dso.h"
#include "symbol/elf_file.h"
#include "symbol/kallsyms.h"

#define FIXTURES "tests/fuzz/corpus/elf/"
#define MAX_SEGMENTS 16

static char folder[] = "/tmp/perfvisor-test-XXXXXX";

/* The build-id of so64 and of the files made from it, as printed by readelf. */
static const uint8_t fixture_id[20] = {
	0x0d, 0x05, 0x13, 0x51, 0xb5, 0x94, 0x54, 0x2e, 0x7f, 0x52,
	0x85, 0xca, 0xcb, 0x5a, 0x2d, 0x2f, 0xea, 0xbe, 0xa2, 0xed,
};

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	return setenv("PERF_BUILDID_DIR", folder, 1) || setenv("XDG_CACHE_HOME", folder, 1);
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *command = memory_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

static const char *name_at(const struct dso_symbols *symbols, uint64_t offset)
{
	const struct symbol *symbol = symbol_table_find(symbols->table, offset);

	return symbol ? symbol_name(symbols->table, symbol) : "-";
}

/* A segment as printed by readelf -l. */
struct segment {
	uint64_t offset, address, bytes;
};

static size_t read_segments(const char *path, struct segment *ret)
{
	_cleanup_free_ char *command = memory_printf("readelf -lW '%s' 2>/dev/null", path);
	FILE *pipe = popen(command, "re");
	size_t count = 0;
	char line[512];

	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		struct segment *segment = &ret[count];

		if (count < MAX_SEGMENTS &&
		    sscanf(line, " LOAD %" SCNx64 " %" SCNx64 " %*x %" SCNx64, &segment->offset,
			   &segment->address, &segment->bytes) == 3)
			count++;
	}
	pclose(pipe);
	return count;
}

/* nm sorts its output, so functions at the same address are adjacent lines. */
struct nm_line {
	uint64_t address;
	char type;
	char name[256];
};

static bool read_nm_line(FILE *pipe, struct nm_line *ret)
{
	char line[65536];

	while (fgets(line, sizeof(line), pipe)) {
		char *version;

		if (sscanf(line, "%" SCNx64 " %c %255s", &ret->address, &ret->type,
			   ret->name) != 3 ||
		    !strchr("tTwWi", ret->type))
			continue;
		version = strchr(ret->name, '@');
		if (version)
			*version = 0;
		return true;
	}
	return false;
}

/*
 * Counts the functions that nm OPTIONS lists for PATH, those that the table has, and those named
 * alike.
 */
static void compare_with_nm(const char *path, const char *options,
			    const struct dso_symbols *symbols, size_t *known, size_t *alike)
{
	_cleanup_free_ char *command =
		memory_printf("nm -n %s --defined-only '%s' 2>/dev/null", options, path);
	struct segment segments[MAX_SEGMENTS + 1];
	size_t segment_count = read_segments(path, segments);
	FILE *pipe = popen(command, "re");
	struct nm_line line;

	assert_non_null(pipe);
	while (read_nm_line(pipe, &line)) {
		const struct symbol *symbol = NULL;
		bool loaded = false;
		uint64_t offset = 0;

		for (size_t i = 0; i < segment_count && !loaded; i++) {
			offset = line.address - segments[i].address + segments[i].offset;
			loaded = line.address >= segments[i].address &&
				 line.address - segments[i].address < segments[i].bytes;
		}
		if (!loaded)
			continue;
		symbol = symbol_table_find(symbols->table, offset);
		assert_non_null(symbol);
		if (symbol->start != offset)
			continue; /* a hidden label, which is left out */
		(*known)++;
		*alike += !strncmp(symbol_name(symbols->table, symbol), line.name,
				   strlen(line.name));
	}
	pclose(pipe);
}

/*
 * Every function that nm lists is found at readelf's address; if its name differs, it is an alias.
 */
static void system_files_agree_with_nm(void **state)
{
	static const char *const paths[] = { "/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib64/ld-linux-x86-64.so.2", "/proc/self/exe",
					     "/usr/lib/x86_64-linux-gnu/libstdc++.so.6" };
	size_t known = 0, alike = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		_cleanup_free_ char *path = realpath(paths[i], NULL);
		struct dso_request request = { .path = path };
		struct dso_symbols symbols;
		size_t before = known;

		if (!path) {
			part_skipped(paths[i], "there is no such file");
			continue;
		}
		assert_no_error(dso_load_symbols(&request, &symbols));
		compare_with_nm(path, "-D", &symbols, &known, &alike);
		compare_with_nm(path, "", &symbols, &known, &alike);
		assert_true(known > before + 20);
		dso_symbols_deinit(&symbols);
	}
	assert_true(known > 1000);
	/* Aliases of one address get one name; a third of libc's functions have some. */
	assert_true(alike > known * 2 / 3);
}

static void check_fixture(const struct dso_symbols *symbols)
{
	/* From objdump -d and nm. */
	assert_string_equal(name_at(symbols, 0x390), "_Z3foov@plt");
	assert_string_equal(name_at(symbols, 0x3af), "imported@plt");
	assert_string_equal(name_at(symbols, 0x3b0), "weak_one@plt");
	assert_string_equal(name_at(symbols, 0x380), "-");
	assert_string_equal(name_at(symbols, 0x3c2), "local");
	assert_string_equal(name_at(symbols, 0x3c5), "local");
	assert_string_equal(name_at(symbols, 0x3c6), "_Z3foov");
	assert_string_equal(name_at(symbols, 0x3cc), "weak_one");
	assert_string_equal(name_at(symbols, 0x3cf), "entry");
	/* The second segment has different offsets in file and memory; .bss is not in the file. */
	assert_string_equal(name_at(symbols, 0x1018), "data_object");
	assert_null(symbol_table_find_name(symbols->table, "bss_object"));
	assert_null(symbol_table_find_name(symbols->table, "imported"));
}

static void a_library_is_named(void **state)
{
	_cleanup_free_ char *path = realpath(FIXTURES "so64", NULL);
	struct dso_request request = { .path = path };
	struct dso_symbols symbols;

	(void)state;
	assert_no_error(dso_load_symbols(&request, &symbols));
	check_fixture(&symbols);
	assert_string_equal(symbols.found, path);
	/* An open label extends to the next symbol. The linker has made the hidden one local. */
	assert_string_equal(name_at(&symbols, 0x3c0), "label");
	assert_string_equal(name_at(&symbols, 0x3c1), "hidden_label");
	dso_symbols_deinit(&symbols);
}

static void second_tables_of_the_linkage_are_named(void **state)
{
	_cleanup_free_ char *path = realpath(FIXTURES "ibt", NULL);
	struct dso_request request = { .path = path };
	struct dso_symbols symbols;

	(void)state;
	assert_no_error(dso_load_symbols(&request, &symbols));
	assert_string_equal(name_at(&symbols, 0x430), "imported@plt");
	assert_string_equal(name_at(&symbols, 0x460), "imported@plt");
	assert_string_equal(name_at(&symbols, 0x47f), "weak_one@plt");
	dso_symbols_deinit(&symbols);
}

static void other_build_ids_are_refused(void **state)
{
	_cleanup_free_ char *path = realpath(FIXTURES "so64", NULL);
	uint8_t other[20] = { 1, 2, 3 };
	struct dso_request request = { path, other, sizeof(other), 0 };
	struct dso_symbols symbols;
	struct error *error = dso_load_symbols(&request, &symbols);

	(void)state;
	assert_non_null(error);
	assert_non_null(strstr(error_message(error), "build-id"));
	assert_int_equal(error_code(error), ERROR_NOT_FOUND);
	error_destroy(error);
	request.build_id = fixture_id;
	assert_no_error(dso_load_symbols(&request, &symbols));
	dso_symbols_deinit(&symbols);
}

static void copy(const char *from, const char *to)
{
	_cleanup_free_ char *command = memory_printf("cp %s '%s/%s'", from, folder, to);

	assert_int_equal(system(command), 0);
}

static void assert_same_tables(const struct symbol_table *left, const struct symbol_table *right)
{
	assert_int_equal(symbol_table_count(left), symbol_table_count(right));
	for (size_t i = 0; i < symbol_table_count(left); i++) {
		const struct symbol *a = symbol_table_at(left, i), *b = symbol_table_at(right, i);

		assert_int_equal(a->start, b->start);
		assert_int_equal(a->end, b->end);
		assert_int_equal(a->type, b->type);
		assert_string_equal(symbol_name(left, a), symbol_name(right, b));
	}
}

/* The number of program tables in the cache folder. */
static int count_kept(void)
{
	_cleanup_free_ char *command =
		memory_printf("exit $(ls '%s/perfvisor' | grep -c ^program-)", folder);

	return WEXITSTATUS(system(command));
}

static void a_file_is_read_again_once_it_changed(void **state)
{
	_cleanup_free_ char *path = memory_printf("%s/changing.so", folder);
	struct dso_request request = { .path = path };
	struct dso_symbols read, kept, other;
	int before;

	(void)state;
	copy(FIXTURES "so64", "changing.so");
	assert_no_error(dso_load_symbols(&request, &read));
	before = count_kept();
	assert_true(before > 0);
	assert_no_error(dso_load_symbols(&request, &kept));
	assert_int_equal(count_kept(), before);
	check_fixture(&kept);
	assert_same_tables(read.table, kept.table);
	assert_string_equal(read.found, kept.found);

	copy(FIXTURES "ibt", "changing.so");
	assert_no_error(dso_load_symbols(&request, &other));
	assert_string_equal(name_at(&other, 0x430), "imported@plt");
	assert_int_equal(count_kept(), before);
	check_fixture(&kept); /* a reader of the old one still sees the old one */
	dso_symbols_deinit(&read);
	dso_symbols_deinit(&kept);
	dso_symbols_deinit(&other);
}

/* The file is gone; perf's cache has a stripped copy, and its debug file. */
static void the_cache_gives_what_is_gone(void **state)
{
	_cleanup_free_ char *make = memory_printf(
		"mkdir -p '%s/.build-id/0d/051351b594542e7f5285cacb5a2d2feabea2ed'", folder);
	struct dso_request request = { "/nonexistent/library.so", fixture_id, 20, 0 };
	struct dso_symbols symbols;

	(void)state;
	assert_error(dso_load_symbols(&request, &symbols), ERROR_NOT_FOUND);
	assert_int_equal(system(make), 0);
	copy(FIXTURES "stripped", ".build-id/0d/051351b594542e7f5285cacb5a2d2feabea2ed/elf");
	assert_no_error(dso_load_symbols(&request, &symbols));
	assert_string_equal(name_at(&symbols, 0x3cf), "entry");
	assert_null(symbol_table_find_name(symbols.table, "local"));
	dso_symbols_deinit(&symbols);

	copy(FIXTURES "dbg", ".build-id/0d/051351b594542e7f5285cacb5a2d2feabea2ed/debug");
	assert_no_error(dso_load_symbols(&request, &symbols));
	check_fixture(&symbols);
	assert_non_null(strstr(symbols.found, "/debug"));
	dso_symbols_deinit(&symbols);
}

/*
 * The cache of debuginfod's client, for the host's files and a guest's; and names that a guest must
 * not use.
 */
static void debuginfod_gives_what_it_has(void **state)
{
	_cleanup_free_ char *make = memory_printf(
		"rm -rf '%s/.build-id'; mkdir -p '%s/debuginfod_client/"
		"0d051351b594542e7f5285cacb5a2d2feabea2ed'", folder, folder);
	struct dso_request request = { "/nonexistent/library.so", fixture_id, 20, 0 };
	struct dso_symbols symbols;

	(void)state;
	assert_int_equal(system(make), 0);
	copy(FIXTURES "dbg",
	     "debuginfod_client/0d051351b594542e7f5285cacb5a2d2feabea2ed/debuginfo");
	copy(FIXTURES "stripped",
	     "debuginfod_client/0d051351b594542e7f5285cacb5a2d2feabea2ed/executable");
	for (int foreign = 0; foreign < 2; foreign++) {
		request.foreign = foreign;
		assert_no_error(dso_load_symbols(&request, &symbols));
		check_fixture(&symbols);
		dso_symbols_deinit(&symbols);
	}
	request.build_id = NULL;
	assert_error(dso_load_symbols(&request, &symbols), ERROR_NOT_FOUND);
}

/* Their build-ids are unknown, or they are not files: no file on this machine is taken for them. */
static void a_guests_files_are_not_ours(void **state)
{
	_cleanup_free_ char *own = realpath(FIXTURES "so64", NULL);
	const char *paths[] = { own, "/bin/sh", "[vdso]", "[kernel.kallsyms]", "[ext4]",
				"/lib/modules/x.ko", "//anon", "", "relative" };
	struct dso_symbols symbols;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct dso_request request = { .path = paths[i], .foreign = true };

		assert_error(dso_load_symbols(&request, &symbols), ERROR_NOT_FOUND);
		request.build_id = (const uint8_t *)"an id of nothing at all";
		request.build_id_bytes = 20;
		assert_error(dso_load_symbols(&request, &symbols), ERROR_NOT_FOUND);
	}
}

static void what_has_no_symbols_says_so(void **state)
{
	static const char *const paths[] = { "/nonexistent", "/etc/passwd", "/tmp", "[heap]",
					     "[stack]", "//anon", "anon_inode:x", "",
					     "[no_such_module]", "/dev/zero" };
	struct dso_symbols symbols;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct dso_request request = { .path = paths[i] };
		struct error *error = dso_load_symbols(&request, &symbols);

		assert_non_null(error);
		error_destroy(error);
	}
}

static void the_vdso_is_this_process_own(void **state)
{
	struct dso_request request = { .path = "[vdso]" };
	uint8_t other[20] = { 0 };
	struct dso_symbols symbols;
	struct error *error = dso_load_symbols(&request, &symbols);

	(void)state;
	if (error)
		skip_for(error);
	assert_true(symbol_table_find_name(symbols.table, "__vdso_clock_gettime") ||
		    symbol_table_find_name(symbols.table, "clock_gettime") ||
		    symbol_table_find_name(symbols.table, "__kernel_clock_gettime"));
	dso_symbols_deinit(&symbols);
	request.build_id = other;
	request.build_id_bytes = sizeof(other);
	assert_error(dso_load_symbols(&request, &symbols), ERROR_NOT_FOUND);
}

/*
 * A kernel that was at another address when it was recorded: everything moves by the same amount.
 */
static void the_kernel_moves_to_where_it_was(void **state)
{
	struct utsname here;
	struct dso_request request = { .path = "[kernel.kallsyms]_stext", .release = here.release,
				       .machine = here.machine };
	struct dso_symbols now, then;
	struct error *error;
	const struct symbol *symbol;
	uint64_t distance = 0x2400000;

	(void)state;
	uname(&here);
	error = dso_load_symbols(&request, &now);
	if (error)
		skip_for(error);
	/* Again, this time from the cache, with the same result. */
	assert_no_error(dso_load_symbols(&request, &then));
	assert_int_equal(symbol_table_count(now.table), symbol_table_count(then.table));
	dso_symbols_deinit(&then);
	symbol = symbol_table_find_name(now.table, "do_exit");
	assert_non_null(symbol);
	assert_no_error(kallsyms_find_symbol(NULL, "/proc/kallsyms", "_stext", &request.reference));
	request.reference += distance;
	assert_no_error(dso_load_symbols(&request, &then));
	assert_string_equal(name_at(&then, symbol->start + distance), "do_exit");
	dso_symbols_deinit(&now);
	dso_symbols_deinit(&then);
}

static void build_ids_compare_as_recordings_keep_them(void **state)
{
	struct build_id id = { .bytes = 16 };
	uint8_t data[32] = { 0 };

	(void)state;
	for (int i = 0; i < 16; i++)
		id.data[i] = data[i] = i + 1;
	assert_true(build_id_equal(&id, data, 16));
	assert_true(build_id_equal(&id, data, 20)); /* padded with zeros */
	assert_false(build_id_equal(&id, data, 19));
	assert_false(build_id_equal(&id, data, 15));
	data[19] = 1;
	assert_false(build_id_equal(&id, data, 20));
	id.bytes = 32;
	id.data[19] = 1;
	assert_true(build_id_equal(&id, data, 20)); /* cut */
	id.bytes = 0;
	assert_false(build_id_equal(&id, data, 0));
}

static void notes_of_any_kind_are_read(void **state)
{
	struct build_id id;
	uint32_t notes[] = { 4, 5, 7, 0x00756e58, 1, 2, /* another note: "Xnu", 5 bytes */
			     4, 8, 3, 0x00554e47, 0x11111111, 0x22222222 };

	(void)state;
	id = build_id_from_notes(notes, sizeof(notes), false);
	assert_int_equal(id.bytes, 8);
	assert_memory_equal(id.data, &notes[10], 8);
	for (size_t size = 0; size < sizeof(notes); size++) {
		_cleanup_free_ void *cut = memory_dup(notes, size);

		assert_int_equal(build_id_from_notes(cut, size, false).bytes, 0);
	}
	notes[7] = 0xfffffff0;
	assert_int_equal(build_id_from_notes(notes, sizeof(notes), false).bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(system_files_agree_with_nm),
		cmocka_unit_test(a_library_is_named),
		cmocka_unit_test(second_tables_of_the_linkage_are_named),
		cmocka_unit_test(other_build_ids_are_refused),
		cmocka_unit_test(a_file_is_read_again_once_it_changed),
		cmocka_unit_test(the_cache_gives_what_is_gone),
		cmocka_unit_test(debuginfod_gives_what_it_has),
		cmocka_unit_test(a_guests_files_are_not_ours),
		cmocka_unit_test(what_has_no_symbols_says_so),
		cmocka_unit_test(the_vdso_is_this_process_own),
		cmocka_unit_test(the_kernel_moves_to_where_it_was),
		cmocka_unit_test(build_ids_compare_as_recordings_keep_them),
		cmocka_unit_test(notes_of_any_kind_are_read),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
