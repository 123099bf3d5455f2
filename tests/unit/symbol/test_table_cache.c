/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is stored comes back for its key alone, and damage is a miss. */
#include "test.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "symbol/table_cache.h"

static char folder[] = "/tmp/perfvisor-test-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	return setenv("XDG_CACHE_HOME", folder, 1);
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *command = memory_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

static struct symbol_table *table_of(const char *name)
{
	struct symbol_builder *builder = symbol_builder_create();

	symbol_builder_add(builder, 0x1000, 0x2000, 'T', name, "module");
	return symbol_builder_finish(builder);
}

static void store(uint64_t key, const char *name)
{
	_cleanup_symbol_table_ struct symbol_table *table = table_of(name);

	table_cache_store("test", key, table);
}

static void a_table_comes_back_for_its_key(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;

	(void)state;
	assert_null(table_cache_load("test", 7));
	store(6, "older");
	store(7, "newer");
	assert_null(table_cache_load("test", 6));
	assert_null(table_cache_load("other", 7));
	table = table_cache_load("test", 7);
	assert_non_null(table);
	assert_string_equal(symbol_name(table, symbol_table_find(table, 0x1fff)), "newer");
	assert_string_equal(symbol_module(table, symbol_table_at(table, 0)), "module");
}

static void damage_is_a_miss(void **state)
{
	_cleanup_free_ char *path = memory_printf("%s/perfvisor/test", folder);
	struct stat stat_now;

	(void)state;
	store(7, "whole");
	assert_int_equal(stat(path, &stat_now), 0);
	assert_int_equal(stat_now.st_mode & 0777, 0600);
	for (off_t size = stat_now.st_size - 1; size >= 0; size -= 7) {
		assert_int_equal(truncate(path, size), 0);
		assert_null(table_cache_load("test", 7));
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_null(table_cache_load("test", 7));
	store(7, "nowhere");
	assert_null(table_cache_load("test", 7));
	assert_int_equal(rmdir(path), 0);
}

static void no_place_is_no_error(void **state)
{
	(void)state;
	setenv("XDG_CACHE_HOME", "/proc/nonexistent", 1);
	store(7, "nowhere");
	assert_null(table_cache_load("test", 7));
	setenv("XDG_CACHE_HOME", "relative", 1);
	unsetenv("HOME");
	store(7, "nowhere");
	assert_null(table_cache_load("test", 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_comes_back_for_its_key),
		cmocka_unit_test(damage_is_a_miss),
		cmocka_unit_test(no_place_is_no_error),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
