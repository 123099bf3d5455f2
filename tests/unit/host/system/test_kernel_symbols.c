/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols that are asked for, in files of many lines, cut anywhere by what a read returns. */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "host/system/kernel_symbols.h"

#define PATH "/tmp/test_kernel_symbols_XXXXXX"

static FILE *make_file(char *path)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	return fdopen(fd, "w");
}

static struct host_kernel_symbols read_and_remove(const char *path, FILE *file)
{
	struct host_kernel_symbols symbols;

	assert_int_equal(fclose(file), 0);
	host_kernel_symbols_read(path, &symbols);
	unlink(path);
	return symbols;
}

/* OTHERS lines of LENGTH before each symbol. */
static void test_long(size_t others, int length)
{
	char path[] = PATH;
	FILE *file = make_file(path);
	const char *const lines[] = {
		"ffffffff81000000 T _stext\n",
		"ffffffff81000040 T _text_is_another\n",
		"ffffffff80ffff00 T _text\n",
		"ffffffff82001000 T _etext\n",
		"ffffffffc0001000 t kvm_is_user_mode.part.0\t[kvm]\n",
		"ffffffffc0001000 T _text\t[odd]\n",
		"ffffffffc0002000 t kvm_arch_vcpu_in_kernel_not\t[kvm]\n",
		"ffffffffc0003000 T kvm_arch_vcpu_preempted_in_kernel\t[kvm]\n",
	};
	struct host_kernel_symbols symbols;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		for (size_t j = 0; j < others; j++)
			fprintf(file, "ffffffff81000000 t k%0*zu\n", length, j);
		fputs(lines[i], file);
	}
	symbols = read_and_remove(path, file);
	assert_int_equal(symbols.text_start, 0xffffffff80ffff00);
	assert_int_equal(symbols.text_end, 0xffffffff82001000);
	assert_true(symbols.has_kvm_is_user_mode);
	assert_false(symbols.has_kvm_arch_vcpu_in_kernel);
	assert_true(symbols.has_kvm_arch_vcpu_preempted_in_kernel);
}

static void test_found(void **state)
{
	(void)state;
	test_long(0, 1);
	/* The ends of chunks are at many places of lines of these lengths. */
	for (int length = 20; length < 24; length++)
		test_long(20000, length);
}

static void test_odd(void **state)
{
	char path[] = PATH, hidden_path[] = PATH;
	FILE *file = make_file(path);
	struct host_kernel_symbols symbols;

	(void)state;
	fputs("0000000000000000 T _text\n0000000000000000 T _etext\n", file);
	symbols = read_and_remove(path, file);
	assert_int_equal(symbols.text_start, 0);
	assert_int_equal(symbols.text_end, 0);

	/* no line at all, a line without a name, and one longer than any */
	file = make_file(hidden_path);
	fputs("\n \nffffffff81000000\nffffffff81000000 T _text\n", file);
	for (size_t i = 0; i < 1000000; i++)
		fputc('_', file);
	fputs("\nffffffff82000000 T _etext\n", file);
	symbols = read_and_remove(hidden_path, file);
	assert_int_equal(symbols.text_end, 0);

	host_kernel_symbols_read("/nowhere/kallsyms", &symbols);
	assert_int_equal(symbols.text_start, 0);
	assert_false(symbols.has_kvm_is_user_mode);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
