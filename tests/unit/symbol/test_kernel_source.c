/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each source of a guest kernel's symbols, their order, and their error messages. */
#include "test.h"

#include <string.h>

#include "base/memory.h"
#include "symbol/kernel_source.h"

/* A kernel with two functions, linked at 0xffffffff81000000; nm's output is in the tests. */
#define VMLINUX "tests/fuzz/corpus/elf/vmlinux"

static char folder[] = "/tmp/perfvisor-test-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *command = memory_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

static char *write_file(const char *name, const char *text)
{
	char *path = memory_printf("%s/%s", folder, name);
	_cleanup_free_ char *command = memory_printf("mkdir -p \"$(dirname '%s')\"", path);
	FILE *file;

	assert_int_equal(system(command), 0);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return path;
}

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);

	return symbol ? symbol_name(table, symbol) : "-";
}

static void nothing_given_is_no_error(void **state)
{
	struct kernel_source_options options = { .guestmodules = "/nonexistent" };
	struct symbol_table *table = (void *)1;
	const char *source = "";

	(void)state;
	assert_no_error(kernel_source_load(&options, 7, &table, &source));
	assert_null(table);
	assert_null(source);
}

static void kallsyms_and_modules_are_read(void **state)
{
	_cleanup_free_ char *kallsyms = write_file("k", "ffffffff81000000 T _text\n"
							"ffffffffc0000000 t f\t[mod]\n");
	_cleanup_free_ char *modules = write_file("m", "mod 8192 0 - Live 0xffffffffc0000000\n");
	struct kernel_source_options options = { .guestkallsyms = kallsyms,
						 .guestmodules = modules };
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	const char *source;

	(void)state;
	assert_no_error(kernel_source_load(&options, 0, &table, &source));
	assert_string_equal(source, "--guestkallsyms");
	assert_string_equal(name_at(table, 0xffffffffc0001fff), "f");
	assert_string_equal(name_at(table, 0xffffffffc0002000), "-");
}

static void a_mount_is_for_its_vm_alone(void **state)
{
	_cleanup_free_ char *mounted = write_file("mount/42/proc/kallsyms", "1000 T of_vm_42\n");
	_cleanup_free_ char *modules = write_file("mount/42/proc/modules", "");
	_cleanup_free_ char *for_all = write_file("all", "1000 T of_every_guest\n");
	_cleanup_free_ char *mount = memory_printf("%s/mount", folder);
	struct kernel_source_options options = { .guestmount = mount, .guestkallsyms = for_all };
	static const struct {
		uint32_t pid;
		const char *name, *source;
	} cases[] = { { 42, "of_vm_42", "--guestmount" },
		      { 43, "of_every_guest", "--guestkallsyms" },
		      { 0, "of_every_guest", "--guestkallsyms" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_symbol_table_ struct symbol_table *table = NULL;
		const char *source;

		assert_no_error(kernel_source_load(&options, cases[i].pid, &table, &source));
		assert_string_equal(source, cases[i].source);
		assert_string_equal(name_at(table, 0x1000), cases[i].name);
	}
}

static void run(const char *format, ...) PRINTF_LIKE(1, 2);
static void run(const char *format, ...)
{
	_cleanup_free_ char *command = NULL;
	va_list arguments;

	va_start(arguments, format);
	command = memory_vprintf(format, arguments);
	va_end(arguments);
	assert_int_equal(system(command), 0);
}

/*
 * The guest controls the contents of a mount: symlinks stay inside, and special files never block.
 */
static void a_mount_leads_nowhere_else(void **state)
{
	_cleanup_free_ char *outside = write_file("outside/kallsyms", "1000 T of_the_host\n");
	_cleanup_free_ char *for_all = write_file("all", "1000 T of_every_guest\n");
	_cleanup_free_ char *mount = memory_printf("%s/links", folder);
	struct kernel_source_options options = { .guestmount = mount, .guestkallsyms = for_all };
	struct symbol_table *table = NULL;
	const char *source;

	(void)state;
	run("mkdir -p %s/1 %s/2/proc %s/3/proc", mount, mount, mount);
	run("ln -s %s/outside %s/1/proc && ln -s %s %s/2/proc/kallsyms", folder, mount, outside,
	    mount);
	run("mkfifo %s/3/proc/kallsyms", mount);
	for (uint32_t pid = 1; pid <= 2; pid++) {
		assert_no_error(kernel_source_load(&options, pid, &table, &source));
		assert_string_equal(source, "--guestkallsyms");
		symbol_table_destroy(table);
	}
	table = NULL;
	assert_error(kernel_source_load(&options, 3, &table, &source), ERROR_BAD_DATA);
	assert_null(table);
}

static void a_vmlinux_is_named_as_linked(void **state)
{
	struct kernel_source_options options = { .guestvmlinux = VMLINUX };
	_cleanup_symbol_table_ struct symbol_table *table = NULL;

	(void)state;
	assert_no_error(kernel_source_load(&options, 0, &table, NULL));
	assert_string_equal(name_at(table, 0xffffffff81000000), "start_kernel");
	assert_string_equal(name_at(table, 0xffffffff81000004), "do_work");
	assert_string_equal(name_at(table, 0xffffffff81001000), "some_data");
	/* Per-CPU data is linked at 0, where it never is at run time. */
	assert_null(symbol_table_find_name(table, "per_cpu_thing"));
}

/* KASLR: the kallsyms has the address of _text; the vmlinux's symbols move there, modules stay. */
static void a_vmlinux_is_moved_by_the_kallsyms(void **state)
{
	_cleanup_free_ char *kallsyms = write_file("k2", "ffffffff9a000000 T startup_64\n"
							 "ffffffff9a000000 T _text\n"
							 "ffffffff9a000007 t only_in_kallsyms\n"
							 "ffffffffc0000000 t f\t[mod]\n");
	struct kernel_source_options options = { .guestvmlinux = VMLINUX,
						 .guestkallsyms = kallsyms };
	_cleanup_symbol_table_ struct symbol_table *table = NULL;

	(void)state;
	assert_no_error(kernel_source_load(&options, 0, &table, NULL));
	assert_string_equal(name_at(table, 0xffffffff9a000000), "start_kernel");
	assert_string_equal(name_at(table, 0xffffffff9a000004), "do_work");
	assert_string_equal(name_at(table, 0xffffffff81000004), "-");
	assert_string_equal(name_at(table, 0xffffffffc0000000), "f");
	assert_null(symbol_table_find_name(table, "only_in_kallsyms"));
}

/* No common symbol: that is an error, and nothing is guessed. */
static void a_vmlinux_that_cannot_be_placed_is_refused(void **state)
{
	_cleanup_free_ char *kallsyms = write_file("k3", "ffffffff9a000000 T startup_64\n");
	struct kernel_source_options options = { .guestvmlinux = VMLINUX,
						 .guestkallsyms = kallsyms };
	struct symbol_table *table = NULL;

	(void)state;
	assert_error(kernel_source_load(&options, 0, &table, NULL), ERROR_NOT_FOUND);
	assert_null(table);
}

static void reasons_are_given(void **state)
{
	_cleanup_free_ char *hidden = write_file("hidden", "0 T _text\n0 t x\n");
	_cleanup_free_ char *image = memory_printf("%s/image", folder);
	static const char head[0x210] = { [0x202] = 'H', 'd', 'r', 'S' };
	struct kernel_source_options options = { .guestkallsyms = hidden };
	FILE *file = fopen(image, "we");
	struct symbol_table *table = NULL;
	struct error *error;

	(void)state;
	assert_non_null(file);
	fwrite(head, sizeof(head), 1, file);
	fclose(file);
	error = kernel_source_load(&options, 0, &table, NULL);
	assert_non_null(error);
	assert_int_equal(error_code(error), ERROR_PERMISSION);
	assert_non_null(strstr(error_message(error), "--guestkallsyms"));
	assert_non_null(strstr(error_message(error), "all addresses"));
	assert_non_null(error_hint_text(error));
	error_destroy(error);

	options = (struct kernel_source_options){ .guestvmlinux = image };
	error = kernel_source_load(&options, 0, &table, NULL);
	assert_non_null(error);
	assert_int_equal(error_code(error), ERROR_UNSUPPORTED);
	assert_non_null(error_hint_text(error));
	error_destroy(error);

	options.guestvmlinux = "tests/fuzz/corpus/elf/stripped";
	error = kernel_source_load(&options, 0, &table, NULL);
	assert_non_null(error);
	assert_non_null(strstr(error_message(error), "no symbols"));
	error_destroy(error);
	options.guestvmlinux = "/nonexistent";
	assert_error(kernel_source_load(&options, 0, &table, NULL), ERROR_NOT_FOUND);
	options = (struct kernel_source_options){ .guestkallsyms = "/etc/passwd" };
	assert_error(kernel_source_load(&options, 0, &table, NULL), ERROR_BAD_DATA);
	assert_null(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_given_is_no_error),
		cmocka_unit_test(kallsyms_and_modules_are_read),
		cmocka_unit_test(a_mount_is_for_its_vm_alone),
		cmocka_unit_test(a_mount_leads_nowhere_else),
		cmocka_unit_test(a_vmlinux_is_named_as_linked),
		cmocka_unit_test(a_vmlinux_is_moved_by_the_kallsyms),
		cmocka_unit_test(a_vmlinux_that_cannot_be_placed_is_refused),
		cmocka_unit_test(reasons_are_given),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
