/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangled names, as printed by c++filt -p, and hostile ones. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/dso.h"

static void known_names_come_out(void **state)
{
	static const struct {
		const char *mangled, *name;
	} cases[] = {
		{ "main", "main" },
		{ "", "" },
		{ "_Z", "_Z" },
		{ "_Zgarbage", "_Zgarbage" },
		{ "_Z3fooi", "foo" },
		{ "_Z3fooi.part.0", "foo" },
		{ "_Z3fooi@plt", "foo@plt" },
		{ "memcpy@plt", "memcpy@plt" },
		{ "@plt", "@plt" },
		{ "memcpy@@GLIBC_2.14", "memcpy@@GLIBC_2.14" },
		{ "_ZNK2ns1AISt6vectorIiSaIiEEE4spinEi",
		  "ns::A<std::vector<int, std::allocator<int> > >::spin" },
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		/* Rust, legacy and v0. */
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_RNvXC1aDG_INtC1b2FnTRL0_hEEp6OutputuEL_NtC1c1d1e",
		  "<dyn for<'a> b::Fn<(&'a u8,), Output = ()> as c::d>::e" },
		{ "_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>" },
		{ "_GLOBAL__I_main.cc", "global constructors keyed to main.cc" },
		{ "_GLOBAL__D__ZN1a1fEi", "global destructors keyed to a::f(int)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_free_ char *name = dso_demangle(cases[i].mangled);

		assert_string_equal(name, cases[i].name);
	}
}

/*
 * f<A<int, int>, A<A<int, int>, A<int, int> >, …>: each argument is twice as long as the one
 * before.
 */
static void a_name_that_explodes_is_left_as_it_is(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	_cleanup_free_ char *small = dso_demangle("_Z1fI1AIiiES0_IS1_S1_EEvv");
	_cleanup_buffer_ struct buffer mangled;
	_cleanup_free_ char *name = NULL;

	(void)state;
	assert_string_equal(small, "f<A<int, int>, A<A<int, int>, A<int, int> > >");
	buffer_init(&mangled, 1 << 16);
	buffer_append_string(&mangled, "_Z1fI1AIiiE");
	for (int i = 1; i <= 30; i++)
		buffer_printf(&mangled, "S0_IS%c_S%c_E", digits[i], digits[i]);
	buffer_append_string(&mangled, "Evv");
	buffer_append_u8(&mangled, 0);
	name = dso_demangle((const char *)mangled.data);
	assert_string_equal(name, (const char *)mangled.data);
}

static void assert_stays(struct buffer *mangled)
{
	_cleanup_free_ char *name = NULL;

	buffer_append_u8(mangled, 0);
	name = dso_demangle((const char *)mangled->data);
	assert_string_equal(name, (const char *)mangled->data);
	buffer_clear(mangled);
}

/* S_, S0_, … */
static void append_substitution(struct buffer *mangled, unsigned int number)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (number > 36)
		buffer_printf(mangled, "S%c%c_", digits[(number - 1) / 36],
			      digits[(number - 1) % 36]);
	else if (number)
		buffer_printf(mangled, "S%c_", digits[number - 1]);
	else
		buffer_append_string(mangled, "S_");
}

static void append_times(struct buffer *mangled, size_t times, const char *text)
{
	while (times--)
		buffer_append_string(mangled, text);
}

/*
 * Each of these takes libiberty 2^50 steps or more before it prints anything: in a type with a pack
 * (each argument is the next one, twice), in the operand of sizeof..., and in the parser.
 */
static void names_that_take_forever_are_left_as_they_are(void **state)
{
	_cleanup_buffer_ struct buffer mangled;

	(void)state;
	buffer_init(&mangled, 4096);
	buffer_append_string(&mangled, "_Z1fIDp1AI");
	append_times(&mangled, 59, "S0_I");
	buffer_append_string(&mangled, "iiE");
	for (unsigned int i = 2; i <= 60; i++) {
		append_substitution(&mangled, i);
		buffer_append_string(&mangled, "E");
	}
	buffer_append_string(&mangled, "Evv");
	assert_stays(&mangled);

	buffer_append_string(&mangled, "_Z1fIXsZ");
	append_times(&mangled, 60, "pp");
	buffer_append_string(&mangled, "T_EEvv");
	assert_stays(&mangled);

	buffer_append_string(&mangled, "_ZN1AcvT_");
	append_times(&mangled, 60, "IT_");
	buffer_append_string(&mangled, "Ii");
	append_times(&mangled, 62, "E");
	assert_stays(&mangled);

	/* Rust: more lifetimes than can be counted, in a path that is not printed. */
	buffer_append_string(&mangled, "_RMIC0FGzzzzzzzzzz_EuEp");
	assert_stays(&mangled);
	buffer_append_string(&mangled, "_GLOBAL__I__Z1fIXsZ");
	append_times(&mangled, 60, "pp");
	buffer_append_string(&mangled, "T_EEvv");
	assert_stays(&mangled);
}

/* A table of a million symbols may have a million names that are just below the limit. */
static void a_budget_limits_all_names_together(void **state)
{
	static const char plain[] = "_Z3fooi";
	_cleanup_buffer_ struct buffer mangled;
	uint64_t budget = 1 << 22, before;
	_cleanup_free_ char *first = NULL, *last = NULL;

	(void)state;
	buffer_init(&mangled, 4096);
	buffer_append_string(&mangled, "_Z1fI1AIiiE");
	for (unsigned int i = 2; i <= 11; i++) {
		buffer_append_string(&mangled, "S0_I");
		append_substitution(&mangled, i);
		append_substitution(&mangled, i);
		buffer_append_string(&mangled, "E");
	}
	buffer_append_string(&mangled, "Evv");
	buffer_append_u8(&mangled, 0);
	for (int i = 0; i < 1000 && budget; i++) {
		_cleanup_free_ char *name =
			dso_demangle_within((const char *)mangled.data, &budget);

		assert_string_not_equal(name, (const char *)mangled.data);
		before = budget;
		free(take_pointer(name));
		name = dso_demangle_within(plain, &budget);
		assert_string_equal(name, before ? "foo" : plain);
		assert_int_equal(budget, before);
	}
	assert_int_equal(budget, 0);
	first = dso_demangle_within(plain, &budget);
	assert_string_equal(first, plain);
	last = dso_demangle(plain);
	assert_string_equal(last, "foo");
}

/* Those of the C++ library, as printed by c++filt: no fewer than 999 in 1000 are demangled. */
static void names_of_a_real_library_come_out(void **state)
{
	FILE *pipe = popen("bash -c 'names=$(nm -D --defined-only --without-symbol-versions "
			   "\"$(gcc -print-file-name=libstdc++.so)\" | grep -o \"_Z[^ ]*$\") && "
			   "paste <(echo \"$names\") <(echo \"$names\" | c++filt -p)'",
			   "re");
	size_t same = 0, verbose = 0, others = 0;
	char line[8192];

	(void)state;
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		char *expected = strchr(line, '\t');
		_cleanup_free_ char *name = NULL;

		assert_non_null(expected);
		*expected++ = 0;
		expected[strcspn(expected, "\n")] = 0;
		name = dso_demangle(line);
		if (!strcmp(name, expected))
			same++;
		else if (strncmp(expected, "_Z", 2) && strncmp(name, "_Z", 2))
			verbose++; /* c++filt writes some standard types at length */
		else
			others++;
	}
	assert_int_equal(pclose(pipe), 0);
	assert_true(same > 1000);
	assert_true(verbose * 4 <= same);
	assert_true(others * 1000 <= same);
}

static void long_names_are_not_looked_at(void **state)
{
	_cleanup_free_ char *mangled = memory_alloc(1 << 20);
	_cleanup_free_ char *name = NULL;

	(void)state;
	memset(mangled, 'P', 1 << 20);
	memcpy(mangled, "_Z1f", 4);
	mangled[(1 << 20) - 1] = 0;
	name = dso_demangle(mangled);
	assert_string_equal(name, mangled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_names_come_out),
		cmocka_unit_test(a_name_that_explodes_is_left_as_it_is),
		cmocka_unit_test(names_that_take_forever_are_left_as_they_are),
		cmocka_unit_test(a_budget_limits_all_names_together),
		cmocka_unit_test(names_of_a_real_library_come_out),
		cmocka_unit_test(long_names_are_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
