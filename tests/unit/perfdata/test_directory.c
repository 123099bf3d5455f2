/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that is a folder, where one is already: which files go, which stay, and when. */
#include "test.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "perfdata/writer/writer.h"

#define FOLDER "/tmp/perfvisor-test-XXXXXX"

static char folder[] = FOLDER;

static int in_new_folder(void **state)
{
	(void)state;
	memcpy(folder, FOLDER, sizeof(FOLDER));
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *command = memory_printf("rm -rf '%s'", folder);

	(void)state;
	return chdir("/") || system(command) ? -1 : 0;
}

/* Makes each file of the list, which ends with NULL, and its folders; it holds its path. */
static void make_files(const char *path, ...)
{
	va_list more;

	va_start(more, path);
	for (; path; path = va_arg(more, const char *)) {
		_cleanup_free_ char *command = memory_printf(
			"mkdir -p \"$(dirname '%s')\" && printf %%s '%s' >'%s'", path, path, path);

		assert_int_equal(system(command), 0);
	}
	va_end(more);
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

/* The file at PATH holds CONTENT. */
static bool holds(const char *path, const char *content)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char bytes[100] = "";

	return fd >= 0 && read(fd, bytes, sizeof(bytes) - 1) >= 0 && !strcmp(bytes, content);
}

/* Nothing else is in the current folder. */
static void assert_entries(const char *names)
{
	_cleanup_free_ char *command = memory_printf("test \"$(ls -A | tr '\\n' ' ')\" = '%s'",
						     names);

	assert_int_equal(system(command), 0);
}

static void all_parts_are_removed(void **state)
{
	_cleanup_free_ char *file = NULL;

	(void)state;
	make_files("n.old/data", "n.old/data.0", "n.old/data.12", "n.old/kcore_dir/kallsyms",
		   "n.old/kcore_dir/modules", "n.old/kcore_dir/kcore",
		   "n.old/kcore_dir__77/kallsyms", "n.old/debug/.build-id/ab/cdef01/elf",
		   "n.old/debug/.build-id/ab/cdef02/vdso", "n.old/debug/usr/bin/a b/abcdef01/elf",
		   "n/data", NULL);
	assert_no_error(perfdata_directory_create("n", &file));
	assert_string_equal(file, "n/data");
	assert_false(exists("n/data"));
	assert_true(holds("n.old/data", "n/data"));
	assert_false(exists("n.old/debug") || exists("n.old/kcore_dir"));
	assert_entries("n n.old ");
}

/* With any of these in it, the older folder is in the way, and nothing changes. */
static void other_files_stay(void **state)
{
	static const char *const others[] = {
		"n.old/analysis/data.csv", "n.old/analysis/deep/modules", "n.old/notes",
		"n.old/data.csv", "n.old/data.", "n.old/kallsyms", "n.old/elf",
		"n.old/kcore_dir/notes", "n.old/kcore_dir/old/kallsyms", "n.old/kcore_dir2/kcore",
		"n.old/debug/elf", "n.old/debug/usr/bin/app/elf", "n.old/debug/.build-id/notes",
		"n.old/debug/.build-id/ab/cd/data",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		_cleanup_free_ char *file = NULL;

		assert_int_equal(system("rm -rf n n.old"), 0);
		make_files("n.old/data", "n.old/kcore_dir/kallsyms", "n/data", "m/data",
			   others[i], NULL);
		assert_error(perfdata_directory_check_parts("n.old"), ERROR_UNSUPPORTED);
		assert_error(perfdata_check_replaceable("n", "hint"), ERROR_UNSUPPORTED);
		assert_error(perfdata_directory_create("n", &file), ERROR_UNSUPPORTED);
		assert_error(perfdata_directory_put("m", "n"), ERROR_UNSUPPORTED);
		perfdata_directory_remove("n.old");
		assert_true(holds(others[i], others[i]));
		assert_false(exists("n.old/data"));
		assert_true(holds("n/data", "n/data"));
		assert_true(holds("m/data", "m/data"));
		assert_entries("m n n.old ");
	}
	(void)state;
}

static void links_are_not_followed(void **state)
{
	(void)state;
	make_files("n.old/data", "n/data", "mine/kallsyms", NULL);
	assert_int_equal(symlink("../mine", "n.old/kcore_dir"), 0);
	assert_error(perfdata_check_replaceable("n", "hint"), ERROR_UNSUPPORTED);
	perfdata_directory_remove("n.old");
	assert_true(holds("mine/kallsyms", "mine/kallsyms"));
}

/* What replaces a recording is missing: both older ones are where they were. */
static void a_failure_undoes_all(void **state)
{
	(void)state;
	make_files("n.old/data", "n.old/kcore_dir/kallsyms", "n/data", NULL);
	assert_error(perfdata_directory_put("missing", "n"), ERROR_NOT_FOUND);
	assert_true(holds("n/data", "n/data"));
	assert_true(holds("n.old/data", "n.old/data"));
	assert_true(holds("n.old/kcore_dir/kallsyms", "n.old/kcore_dir/kallsyms"));
	assert_entries("n n.old ");
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, in_new_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(all_parts_are_removed),
		in_folder(other_files_stay),
		in_folder(links_are_not_followed),
		in_folder(a_failure_undoes_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
