/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Print formats of tracepoints. What is expected is what C and printf() make of an expression, and
 * for the kernel's macros what perf script prints (tests/cli/test_tracepoints_perf.sh compares all
 * formats of a kernel). Hostile formats are refused, or read and print no more than there is.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tracepoint/print.h"

#define FIELDS                                                                                     \
	"name: example\nID: 1\nformat:\n"                                                          \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"                   \
	"\tfield:u8 small;\toffset:2;\tsize:1;\tsigned:0;\n"                                       \
	"\tfield:int number;\toffset:4;\tsize:4;\tsigned:1;\n"                                     \
	"\tfield:u64 large;\toffset:8;\tsize:8;\tsigned:0;\n"                                      \
	"\tfield:char comm[8];\toffset:16;\tsize:8;\tsigned:0;\n"                                  \
	"\tfield:u8 bytes[4];\toffset:24;\tsize:4;\tsigned:0;\n"                                   \
	"\tfield:__data_loc char[] path;\toffset:28;\tsize:4;\tsigned:0;\n"                        \
	"\tfield:__data_loc u16[] words;\toffset:32;\tsize:4;\tsigned:0;\n"                        \
	"\tfield:__data_loc cpumask_t mask;\toffset:36;\tsize:4;\tsigned:0;\n"                     \
	"\tfield:u8 uuid[16];\toffset:40;\tsize:16;\tsigned:0;\n"                                  \
	"\tfield:u8 mac[6];\toffset:56;\tsize:6;\tsigned:0;\n"                                     \
	"\nprint fmt: "

#define PAYLOAD_BYTES 80

static void make_payload(uint8_t payload[PAYLOAD_BYTES])
{
	static const uint32_t path = 5 << 16 | 62, words = 4 << 16 | 68, mask = 8 << 16 | 72;
	static const uint16_t values[2] = { 0x1234, 7 };
	static const uint64_t large = 0x8000000000000005, cpus = 0x8f;
	static const int32_t number = -3;

	for (int i = 0; i < PAYLOAD_BYTES; i++)
		payload[i] = i;
	payload[2] = 200;
	memcpy(payload + 4, &number, 4);
	memcpy(payload + 8, &large, 8);
	memcpy(payload + 16, "vcpu0", 6);
	memcpy(payload + 28, &path, 4);
	memcpy(payload + 32, &words, 4);
	memcpy(payload + 36, &mask, 4);
	memcpy(payload + 62, "/a b", 5);
	memcpy(payload + 68, values, 4);
	memcpy(payload + 72, &cpus, 8);
}

static const char *find_function(void *data, uint64_t address, uint64_t *ret_start)
{
	(void)data;
	if (address != 200)
		return NULL;
	*ret_start = 0xc0;
	return "run_vcpu";
}

/* What FORMAT prints of the payload, allocated; NULL: it is not supported. */
static char *print(const char *print_format, size_t payload_bytes)
{
	static const struct trace_functions functions = { find_function, NULL };
	_cleanup_free_ char *text = memory_printf("%s%s\n", FIELDS, print_format);
	_cleanup_trace_print_ struct trace_print *print = NULL;
	_cleanup_free_ uint8_t *copy = NULL;
	uint8_t bytes[PAYLOAD_BYTES];
	struct trace_payload payload = { .bytes = payload_bytes, .long_bytes = 8 };
	struct trace_format format;
	struct buffer out;

	make_payload(bytes);
	payload.data = copy = memory_dup(bytes, payload_bytes); /* ASan sees its end */
	assert_true(trace_format_parse(text, strlen(text), &format));
	print = trace_print_create(&format, 8);
	buffer_init(&out, 1 << 16);
	if (print)
		trace_print_append(print, &payload, &functions, &out);
	trace_format_deinit(&format);
	if (!print)
		return NULL;
	buffer_append_u8(&out, 0);
	return (char *)out.data;
}

struct row {
	const char *format, *expected; /* NULL: not supported */
};

static void expect_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *text = print(rows[i].format, PAYLOAD_BYTES);

		if (!text != !rows[i].expected || (text && strcmp(text, rows[i].expected)))
			fail_msg("%s: %s instead of %s", rows[i].format,
				 text ? text : "not supported",
				 rows[i].expected ? rows[i].expected : "not supported");
	}
}

#define EXPECT_ROWS(rows) expect_rows(rows, sizeof(rows) / sizeof((rows)[0]))

static void test_numbers(void **state)
{
	static const struct row rows[] = {
		{ "\"plain 100%% \\\"quoted\\\"\"", "plain 100% \"quoted\"" },
		{ "\"%d %u %lld %hhd\", REC->number, REC->number, REC->large, REC->small",
		  "-3 4294967293 -9223372036854775803 -56" },
		{ "\"%x %#x %08lx %-4d| %+d %5.3d\", 255, 255, 255, 7, 7, 7",
		  "ff 0xff 000000ff 7   | +7   007" },
		{ "\"%zx %Lu %o %X\", REC->large, 18446744073709551615ULL, 8, 0xabc",
		  "8000000000000005 18446744073709551615 10 ABC" },
		{ "\"%c%c|%3c\", 'a', 98, 'c'", "ab|  c" },
		{ "\"%*d|%-*d|\", 4, 1, 4, 2", "   1|2   |" },
		{ "\"%d %d %d\", 2 + 3 * 4, (2 + 3) * 4, 20 - 5 - 1", "14 20 14" },
		{ "\"%d %d %d\", 1 | 2 & 3, 1 << 2 + 1, 7 & 3 == 3", "3 8 1" },
		{ "\"%d %d\", REC->small > 100 ? REC->small > 200 ? 1 : 2 : 3, !REC->small",
		  "2 0" },
		{ "\"%d %d %d\", -1, ~0, !0", "-1 -1 1" },
		{ "\"%d %d\", REC->small / 0, REC->small % 0", "0 0" },
		{ "\"%llx %llx\", REC->large << 64, REC->large >> 63",
		  "8000000000000005 1" },
		{ "\"%llx %x %llx\", (u16)REC->large, (unsigned char)0x1ff, (unsigned long)-1",
		  "5 ff ffffffffffffffff" },
		{ "\"%x %x %d\", REC->bytes[1], ((u8 *)REC->bytes)[3], REC->bytes[4]", "19 1b 0" },
		{ "\"%x %d %d\", ((u16 *)__get_dynamic_array(words))[0], "
		  "__get_dynamic_array(words)[1], __get_dynamic_array_len(words)",
		  "1234 7 4" },
		{ "\"%d %d %d %d\", sizeof(u64), sizeof(long), sizeof(unsigned int), "
		  "sizeof(REC->small)",
		  "8 8 4 1" },
		{ "\"%d\", __builtin_expect(!!(REC->small), 1)", "1" },
		{ "\"%d %d\", (REC)->small, UNKNOWN_ENUMERATOR", "200 0" },
	};

	(void)state;
	EXPECT_ROWS(rows);
}

static void test_texts(void **state)
{
	static const struct row rows[] = {
		{ "\"%s|%8s|%-8s|%.2s\", REC->comm, REC->comm, REC->comm, REC->comm",
		  "vcpu0|   vcpu0|vcpu0   |vc" },
		{ "\"%s %.*s\", __get_str(path), 2, __get_str(path)", "/a b /a" },
		{ "\"%s\" \" %s\", \"one\" \"two\", REC->small ? \"yes\" : \"no\"", "onetwo yes" },
		{ "\"%s\", __print_symbolic(REC->small, { 1, \"a\" }, { 100 * 2, \"#\" \"b\" })",
		  "#b" },
		{ "\"%s\", __print_symbolic(REC->small, { 1, \"a\" }, { })", "0xc8" },
		{ "\"%s %s\", __print_flags(REC->small, \"|\", { 8, \"a\" }, "
		  "{ (1UL << 6), \"b\" }), "
		  "__print_flags(0, \"\", { 1, \"x\" }, { 0, ((void *)0) })",
		  "a|b|0x80 " },
		{ "\"%s\", __print_flags(REC->large, \",\", { (1ULL << 63), \"top\" }, "
		  "{ 1 << UNKNOWN_BIT, \"none\" })",
		  "top,0x5" },
		{ "\"%s %s\", __print_hex(REC->bytes, 3), __print_hex_str((u8 *)REC->bytes, 2)",
		  "18 19 1a 1819" },
		{ "\"%s\", __print_array(__get_dynamic_array(words), 2, 2)", "{0x1234,0x7}" },
		{ "\"%s %s\", __get_bitmask(mask), __get_cpumask(mask)",
		  "00000000,0000008f 0-3,7" },
		{ "\"%s\", REC->large", "8000000000000005" },
	};

	(void)state;
	EXPECT_ROWS(rows);
}

/* The forms of Documentation/core-api/printk-formats.rst. */
static void test_pointers(void **state)
{
	static const struct row rows[] = {
		{ "\"%p %p\", REC->large, 0", "0x8000000000000005 (nil)" },
		{ "\"%ps %pS %pS\", REC->small, (void *)REC->small, REC->number",
		  "run_vcpu run_vcpu+0x8 0xfffffffd" },
		{ "\"%pM %pm %pMR\", REC->mac, REC->mac, REC->mac",
		  "38:39:3a:3b:3c:3d 38393a3b3c3d 3d:3c:3b:3a:39:38" },
		{ "\"%pI4 %pi4 %pI4l\", REC->bytes, REC->bytes, REC->bytes",
		  "24.25.26.27 024.025.026.027 27.26.25.24" },
		{ "\"%pU %pUL\", REC->uuid, REC->uuid",
		  "28292a2b-2c2d-2e2f-3031-323334353637 2B2A2928-2D2C-2F2E-3031-323334353637" },
		{ "\"%pI6c %pi6\", REC->uuid, REC->uuid",
		  "2829:2a2b:2c2d:2e2f:3031:3233:3435:3637 28292a2b2c2d2e2f3031323334353637" },
		{ "\"%pM %pI4 %pU\", REC->bytes, REC->mac, REC->mac",
		  "INVALIDMAC INVALIDIPv4 INVALIDUUID" },
		{ "\"%*phC\", 3, __get_dynamic_array(path)", "2f:61:20" },
		{ "\"%pU\", 7", NULL },
	};

	(void)state;
	EXPECT_ROWS(rows);
}

static void test_refused(void **state)
{
	static const struct row rows[] = {
		{ "", NULL },
		{ "REC->small", NULL },
		{ "\"%d\"", NULL },
		{ "\"%s %d\", REC->comm", NULL },
		{ "\"%n\", REC->small", NULL },
		{ "\"%1000d\", REC->small", NULL },
		{ "\"%.1000d\", REC->small", NULL },
		{ "\"%*.*d\", 1, 2, 3", NULL },
		{ "\"%\", 1", NULL },
		{ "\"unterminated", NULL },
		{ "\"%d\", REC->nothing", NULL },
		{ "\"%d\", system(1)", NULL },
		{ "\"%d\", *(int *)REC->large", NULL },
		{ "\"%d\", &REC->small", NULL },
		{ "\"%d\", REC->small = 1", NULL },
		{ "\"%d\", 7[3]", NULL },
		{ "\"%s\", __print_hex(4096, 16)", NULL },
		{ "\"%s\", __print_hex((u8 *)\"text\", 16)", NULL },
		{ "\"%s\", __print_array(REC->small ? REC->bytes : 1, 4, 1)", NULL },
		{ "\"%s\", __print_symbolic(REC->small, { REC->number, \"a\" })", NULL },
		{ "\"%d\", 1, ", NULL },
		{ "\"%d\", (1", NULL },
		{ "\"%d\", 1 ? 2", NULL },
	};

	(void)state;
	EXPECT_ROWS(rows);
}

/* Counts and lengths beyond the field and the data. */
static void test_beyond(void **state)
{
	static const struct row rows[] = {
		{ "\"%s\", __print_hex(REC->bytes, 1000000)", "18 19 1a 1b" },
		{ "\"%s\", __print_hex(REC->bytes, REC->large)", "18 19 1a 1b" },
		{ "\"%s\", __print_hex_str(__get_dynamic_array(words), 65536)", "34120700" },
		{ "\"%s\", __print_array(REC->bytes, 1000000, 2)", "{0x1918,0x1b1a}" },
		{ "\"%s\", __print_array(REC->bytes, 1000000, 0)", "{}" },
		{ "\"%s\", __print_array(REC->bytes, 2, REC->large)", "{}" },
		{ "\"%d\", REC->bytes[REC->large]", "0" },
		{ "\"%d\", __get_dynamic_array(words)[4611686018427387904]", "0" },
		{ "\"%.*s\", -1, REC->comm", "vcpu0" },
		{ "\"%.*s\", 1000000000, REC->comm", "vcpu0" },
	};

	(void)state;
	EXPECT_ROWS(rows);
}

/* Each format above, with less and less data: nothing outside of it is read (ASan). */
static void test_short_data(void **state)
{
	static const char *const formats[] = {
		"\"%d %s %s %s\", REC->large, REC->comm, __get_str(path), __get_cpumask(mask)",
		"\"%s %s\", __print_hex(__get_dynamic_array(words), 99), __print_hex(REC->mac, 99)",
		"\"%pM %pU %pI4 %pI6c %pISpc\", REC->mac, REC->uuid, REC->bytes, REC->uuid, "
		"(struct sockaddr *)REC->uuid",
		"\"%*ph %d\", 99, __get_dynamic_array(mask), __get_dynamic_array(words)[1]",
		"\"%s %d\", __print_array(REC->uuid, 16, 1), __get_dynamic_array_len(path)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		for (size_t bytes = 0; bytes <= PAYLOAD_BYTES; bytes++) {
			_cleanup_free_ char *text = print(formats[i], bytes);

			assert_non_null(text);
		}
}

/* COUNT times TEXT in the middle of "%d", BEFORE … AFTER. */
static void expect_repeated(const char *before, const char *text, size_t count, const char *after,
			    bool supported)
{
	size_t length = strlen(text);
	_cleanup_free_ char *many = memory_calloc(count + 1, length + 1), *format = NULL;
	_cleanup_free_ char *printed = NULL;

	for (size_t i = 0; i < count; i++)
		memcpy(many + i * length, text, length);
	format = memory_printf("\"%%d\", %s%s%s", before, many, after);
	printed = print(format, PAYLOAD_BYTES);
	assert_int_equal(!!printed, supported);
}

static void test_limits(void **state)
{
	(void)state;
	expect_repeated("", "(", 100000, "1", false);
	expect_repeated("", "!", 100000, "1", false);
	expect_repeated("", "(u8)", 100000, "1", false);
	expect_repeated("", "1 ? 2 : ", 100000, "1", false);
	expect_repeated("", "REC->small + ", 50000, "1", false);
	expect_repeated("", "REC->small, ", 1000, "1", false);
	expect_repeated("", "1 | ", 100000, "1", true);
	expect_repeated("REC->bytes", "[0]", 1000, "", false);
	expect_repeated("__print_symbolic(1", ", { 1, \"\" }", 50000, ")", false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),	 cmocka_unit_test(test_texts),
		cmocka_unit_test(test_pointers), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_beyond),	 cmocka_unit_test(test_short_data),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
