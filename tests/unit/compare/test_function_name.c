/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as GCC and Clang make them. */
#include "test.h"

#include <string.h>

#include "compare/function_name.h"

static void check(const char *name, const char *wanted)
{
	assert_int_equal(function_name_length(name), strlen(wanted));
	assert_memory_equal(name, wanted, strlen(wanted));
}

static void test_functions(void **state)
{
	(void)state;
	check("schedule", "schedule");
	check("finish_task_switch.isra.0", "finish_task_switch");
	check("f.constprop.12.cold", "f");
	check("f.part.0.isra.0", "f");
	check("f.cold", "f");
	check("f.cold.3", "f");
	check("f.llvm.1234567890", "f");
	check("f.lto_priv.0.constprop.0", "f");
	/* static variables' and others' numbers are no copies of functions */
	check("__key.12", "__key.12");
	check("f.7", "f.7");
	check("f.colder", "f.colder");
	check(".cold", ".cold");
	check(".isra.0", ".isra.0");
	check("", "");
	check("std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)");
}

static void test_modules(void **state)
{
	(void)state;
	assert_string_equal(module_name("[guest.kernel.kallsyms]"), "[kernel]");
	assert_string_equal(module_name("[kernel.kallsyms]"), "[kernel]");
	assert_string_equal(module_name("vmlinux"), "[kernel]");
	assert_string_equal(module_name("[kvm]"), "[kvm]");
	assert_string_equal(module_name("libc.so.6"), "libc.so.6");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_functions),
					    cmocka_unit_test(test_modules) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
