/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static uint32_t decode(const char *text, size_t expected_length)
{
	uint32_t character = 0;

	assert_int_equal(utf8_decode(text, strlen(text), &character), expected_length);
	return character;
}

/* Values from RFC 3629 and the Unicode tables. */
static void decodes_every_length_at_its_ends(void **state)
{
	(void)state;
	assert_int_equal(decode("\x7f", 1), 0x7f);
	assert_int_equal(decode("\xc2\x80", 2), 0x80);
	assert_int_equal(decode("\xdf\xbf", 2), 0x7ff);
	assert_int_equal(decode("\xe0\xa0\x80", 3), 0x800);
	assert_int_equal(decode("\xef\xbf\xbf", 3), 0xffff);
	assert_int_equal(decode("\xf0\x90\x80\x80", 4), 0x10000);
	assert_int_equal(decode("\xf4\x8f\xbf\xbf", 4), 0x10ffff);
}

static void refuses_what_is_no_character(void **state)
{
	(void)state;
	decode("", 0);
	decode("\x80", 0);
	decode("\xc1\xbf", 0);
	decode("\xe0\x9f\xbf", 0);
	decode("\xf0\x8f\xbf\xbf", 0);
	decode("\xed\xa0\x80", 0);
	decode("\xf4\x90\x80\x80", 0);
	decode("\xe2\x82", 0);
	decode("\xe2\x82x", 0);
	decode("\xff", 0);
}

static void makes_text_harmless(void **state)
{
	char clean[64];

	(void)state;
	/* ESC [ 2 J; C1's CSI (U+009B); right-to-left override (U+202E); an invalid byte. */
	utf8_printable("a\x1b[2J\xc2\x9b" "b\xe2\x80\xae" "c\xff", 13, clean, sizeof(clean));
	assert_string_equal(clean, "a?[2J?b?c?");
	utf8_printable("caf\xc3\xa9", 5, clean, sizeof(clean));
	assert_string_equal(clean, "caf\xc3\xa9");
	assert_int_equal(utf8_count(clean), 4);
}

static void check_escaped(const char *text, const char *expected)
{
	struct buffer out;

	buffer_init(&out, 1000);
	utf8_append_escaped(&out, text);
	buffer_append_u8(&out, 0);
	assert_string_equal((char *)out.data, expected);
	buffer_deinit(&out);
}

static void escapes_what_steers_terminals(void **state)
{
	(void)state;
	for (unsigned int byte = 1; byte < 256; byte++) {
		char text[] = { 'a', (char)byte, 'b', 0 }, expected[8];

		snprintf(expected, sizeof(expected),
			 byte >= ' ' && byte <= '~' ? "a%cb" : "a\\x%02xb", byte);
		check_escaped(text, expected);
	}
	check_escaped("", "");
	check_escaped("\xc2\x80\xc2\x9f\xc2\xa0", "\\xc2\\x80\\xc2\\x9f\xc2\xa0");
	check_escaped("\xe2\x80\xae" "abc\xe2\x81\xa9", "\\xe2\\x80\\xae" "abc\\xe2\\x81\\xa9");
	check_escaped("a\xe2\x80\x8b" "b\xef\xbb\xbf", "a\\xe2\\x80\\x8b" "b\\xef\\xbb\\xbf");
	check_escaped("a\xc2\xad" "b\xf3\xa0\x80\x81" "c\xf3\xa0\x81\xbf",
		      "a\\xc2\\xad" "b\\xf3\\xa0\\x80\\x81" "c\\xf3\\xa0\\x81\\xbf");
	check_escaped("caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac");
	check_escaped("\xe2\x82", "\\xe2\\x82");
}

/* For each range of characters whose names are escaped, according to Perl's own Unicode tables. */
#define PERL_RANGES                                                                                \
	"perl -e 'my ($s, $p) = (-1, -2); for my $c (0 .. 0x110000) {"                             \
	" my $in = $c < 0x110000 && ($c < 0xd800 || $c > 0xdfff) && chr($c) =~"                    \
	" /[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]/;"                      \
	" if ($in) { $s = $c if $p != $c - 1; $p = $c }"                                           \
	" elsif ($p == $c - 1) { printf(qq{%x %x\\n}, $s, $p) } }' 2>/dev/null"

static void agrees_with_unicode(void **state)
{
	FILE *ranges = popen(PERL_RANGES, "r");
	uint32_t from = 0, first, last, extra = 0, count = 0;

	(void)state;
	assert_non_null(ranges);
	for (; fscanf(ranges, "%x %x", &first, &last) == 2; from = last + 1, count++) {
		for (uint32_t i = from; i < first; i++)
			extra += utf8_steers_terminal(i);
		for (uint32_t i = first; i <= last; i++)
			if (!utf8_steers_terminal(i))
				fail_msg("U+%04X", i);
	}
	if (pclose(ranges) || !count)
		skip_because("there is no Perl with all Unicode tables");
	for (; from < 0x110000; from++)
		extra += utf8_steers_terminal(from);
	assert_in_range(count, 20, 40);
	/* U+13439 to U+1343F, which Unicode has had since version 15. */
	assert_in_range(extra, 0, 7);
	assert_false(utf8_steers_terminal(0xe1000));
	assert_false(utf8_steers_terminal(0x10ffff));
}

static void cuts_between_characters(void **state)
{
	char clean[6];

	(void)state;
	utf8_printable("abcd\xc3\xa9", 6, clean, sizeof(clean));
	assert_string_equal(clean, "abcd");
	utf8_printable("abc", 3, clean, 1);
	assert_string_equal(clean, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_every_length_at_its_ends),
		cmocka_unit_test(refuses_what_is_no_character),
		cmocka_unit_test(makes_text_harmless),
		cmocka_unit_test(escapes_what_steers_terminals),
		cmocka_unit_test(agrees_with_unicode),
		cmocka_unit_test(cuts_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
