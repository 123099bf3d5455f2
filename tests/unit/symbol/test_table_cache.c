/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stored table is only returned for its own key, and damage is a miss. */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
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
	_cleanup_free_ char *path = memory_printf("%s/perfvisor/test.table", folder);
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

static void assert_loads(const char *name)
{
	_cleanup_symbol_table_ struct symbol_table *table = table_cache_load(name, 7);

	assert_non_null(table);
}

static void flip(const char *path, off_t at, char byte)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

/* The text comes last: one name of 202 bytes with its terminator, and "module". */
static void a_control_character_is_a_miss(void **state)
{
	_cleanup_free_ char *path = memory_printf("%s/perfvisor/test.table", folder);
	static const char bad[] = { 1, '\n', 31, 127 };
	static const char good[] = { ' ', '~', (char)0x80, (char)0xff };
	char name[202];
	struct stat stat_now;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	store(7, name);
	assert_int_equal(stat(path, &stat_now), 0);
	for (off_t at = stat_now.st_size - 209; at < stat_now.st_size - 8; at += 25) {
		for (size_t i = 0; i < sizeof(bad); i++) {
			flip(path, at, bad[i]);
			assert_null(table_cache_load("test", 7));
		}
		for (size_t i = 0; i < sizeof(good); i++) {
			flip(path, at, good[i]);
			assert_loads("test");
		}
	}
}

static size_t count_files(void)
{
	_cleanup_free_ char *path = memory_printf("%s/perfvisor", folder);
	DIR *entries = opendir(path);
	size_t count = 0;

	while (readdir(entries))
		count++;
	closedir(entries);
	return count;
}

static void what_is_kept_stays_small(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table = table_of("x");

	(void)state;
	for (int i = 0; i < 1500; i++) {
		_cleanup_free_ char *name = memory_printf("table-%d", i);

		table_cache_store(name, 7, table);
		assert_true(count_files() < 1100);
	}
	assert_loads("table-1499");
	assert_null(table_cache_load("table-0", 7));
}

/* More files than the cache may have, some called like its own. */
static void fill(const char *path)
{
	for (int i = 0; i < 1101; i++) {
		_cleanup_free_ char *name = memory_printf("%s/%d%s", path, i,
							  i % 2 ? ".table" : "");
		_cleanup_close_ int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

		assert_true(fd >= 0);
	}
}

static size_t count_entries(const char *path)
{
	DIR *entries = opendir(path);
	size_t count = 0;

	assert_non_null(entries);
	while (readdir(entries))
		count++;
	closedir(entries);
	return count - 2;
}

static void files_elsewhere_are_left_alone(void **state)
{
	char elsewhere[] = "/tmp/perfvisor-test-XXXXXX", cache[] = "/tmp/perfvisor-test-XXXXXX";
	_cleanup_free_ char *link = NULL, *command = NULL;

	(void)state;
	assert_non_null(mkdtemp(elsewhere));
	assert_non_null(mkdtemp(cache));
	fill(elsewhere);
	link = memory_printf("%s/perfvisor", cache);
	assert_int_equal(symlink(elsewhere, link), 0);
	setenv("XDG_CACHE_HOME", cache, 1);
	store(7, "through a link");
	assert_null(table_cache_load("test", 7));
	assert_int_equal(count_entries(elsewhere), 1101);

	/* Its own folder, where other programs have files, too. */
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rename(elsewhere, link), 0);
	for (int i = 1; i < 1101; i += 2) {
		_cleanup_free_ char *name = memory_printf("%s/%d.table", link, i);
		_cleanup_free_ char *other = memory_printf("%s/%d.other", link, i);

		assert_int_equal(rename(name, other), 0);
	}
	store(7, "among others");
	assert_loads("test");
	assert_int_equal(count_entries(link), 1102);

	/* Whoever can write to the folder could have written the tables. */
	assert_int_equal(chmod(link, 0777), 0);
	assert_null(table_cache_load("test", 7));
	store(7, "for all");
	assert_int_equal(chmod(link, 0700), 0);
	assert_loads("test");
	assert_int_equal(count_entries(link), 1102);
	command = memory_printf("rm -rf '%s'", cache);
	assert_int_equal(system(command), 0);
	setenv("XDG_CACHE_HOME", folder, 1);
}

static void folders_of_others_are_not_used(void **state)
{
	char home[] = "/tmp/perfvisor-test-XXXXXX";
	_cleanup_free_ char *cache = NULL, *command = NULL;

	(void)state;
	if (geteuid())
		skip_because("only root can make another user's folder");
	assert_non_null(mkdtemp(home));
	cache = memory_printf("%s/.cache", home);
	assert_int_equal(chown(home, 65534, 65534), 0);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	store(7, "at home of another");
	assert_int_equal(access(cache, F_OK), -1);
	setenv("XDG_CACHE_HOME", home, 1);
	store(7, "in the cache of another");
	assert_int_equal(count_entries(home), 0);
	command = memory_printf("rm -rf '%s'", home);
	assert_int_equal(system(command), 0);
	setenv("XDG_CACHE_HOME", folder, 1);
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
		cmocka_unit_test(a_control_character_is_a_miss),
		cmocka_unit_test(what_is_kept_stays_small),
		cmocka_unit_test(files_elsewhere_are_left_alone),
		cmocka_unit_test(folders_of_others_are_not_used),
		cmocka_unit_test(no_place_is_no_error),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
