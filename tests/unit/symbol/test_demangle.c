/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangled names, as printed by c++filt -p, and hostile ones. */
#include "test.h"

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
		cmocka_unit_test(long_names_are_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
