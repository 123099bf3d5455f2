/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of tracepoints and the fields in raw data. The formats are those of kernels; expected
 * values are what they say themselves, and how perf prints them (print_field_raw in libtraceevent).
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tracepoint/format.h"
#include "tracepoint/value.h"

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FORMAT                                                                                     \
	"name: example\nID: 316\nformat:\n" COMMON                                                 \
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                            \
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"                                \
	"\tfield:unsigned long flags;\toffset:32;\tsize:8;\tsigned:0;\n"                           \
	"\tfield:__data_loc char[] path;\toffset:40;\tsize:4;\tsigned:0;\n"                        \
	"\tfield:__rel_loc u16[] words;\toffset:44;\tsize:4;\tsigned:0;\n"                         \
	"\tfield:const char * __attribute__((user)) file;\toffset:48;\tsize:8;\tsigned:0;\n"       \
	"\tfield:u32 ids[2];\toffset:56;\tsize:8;\tsigned:0;\n"                                    \
	"\tfield:short level;\toffset:64;\tsize:2;\tsigned:1;\n"                                   \
	"\nprint fmt: \"%s\", REC->prev_comm\n"

static const struct trace_field *find(const struct trace_format *format, const char *name)
{
	const struct trace_field *field = trace_format_find(format, name, strlen(name));

	if (!field)
		fail_msg("no field %s", name);
	return field;
}

static void expect_field(const struct trace_format *format, const char *name, uint32_t offset,
			 uint32_t bytes, uint32_t element_bytes, uint32_t flags)
{
	const struct trace_field *field = find(format, name);

	assert_int_equal(field->offset, offset);
	assert_int_equal(field->bytes, bytes);
	assert_int_equal(field->element_bytes, element_bytes);
	assert_int_equal(field->flags, flags);
}

static void test_fields(void **state)
{
	struct trace_format format;

	(void)state;
	assert_true(trace_format_parse(FORMAT, strlen(FORMAT), &format));
	assert_string_equal(format.name, "example");
	assert_int_equal(format.id, 316);
	assert_int_equal(format.common_count, 4);
	assert_int_equal(format.field_count, 12);
	assert_string_equal(format.print, " \"%s\", REC->prev_comm\n");
	expect_field(&format, "common_type", 0, 2, 2, 0);
	expect_field(&format, "prev_comm", 8, 16, 1, TRACE_FIELD_ARRAY | TRACE_FIELD_STRING);
	expect_field(&format, "prev_pid", 24, 4, 4, TRACE_FIELD_SIGNED);
	expect_field(&format, "flags", 32, 8, 8, TRACE_FIELD_LONG);
	expect_field(&format, "path", 40, 4, 1,
		     TRACE_FIELD_ARRAY | TRACE_FIELD_STRING | TRACE_FIELD_DYNAMIC);
	expect_field(&format, "words", 44, 4, 2,
		     TRACE_FIELD_ARRAY | TRACE_FIELD_DYNAMIC | TRACE_FIELD_RELATIVE);
	expect_field(&format, "file", 48, 8, 8, TRACE_FIELD_POINTER);
	expect_field(&format, "ids", 56, 8, 4, TRACE_FIELD_ARRAY);
	assert_null(trace_format_find(&format, "prev", 4));
	trace_format_deinit(&format);
}

/* The words of the relative field are at 44 + 4 + 22. */
static void make_payload(uint8_t bytes[80], uint32_t path, uint32_t words)
{
	static const uint64_t flags = 0x123456789a, file = 0x7f0000001000;
	static const uint32_t ids[2] = { 7, 0xfffffff9 };
	static const uint16_t numbers[2] = { 0x0102, 0x0304 };
	static const int32_t pid = -5;
	static const int16_t level = -2;

	memset(bytes, 0, 80);
	memcpy(bytes + 8, "swapper/0", 10);
	memcpy(bytes + 24, &pid, 4);
	memcpy(bytes + 32, &flags, 8);
	memcpy(bytes + 40, &path, 4);
	memcpy(bytes + 44, &words, 4);
	memcpy(bytes + 48, &file, 8);
	memcpy(bytes + 56, ids, 8);
	memcpy(bytes + 64, &level, 2);
	memcpy(bytes + 66, "/a", 3);
	memcpy(bytes + 70, numbers, 4);
}

static char *as_text(const struct trace_format *format, const struct trace_payload *payload)
{
	struct buffer out;

	buffer_init(&out, 4096);
	trace_fields_append(format, payload, &out);
	buffer_append_u8(&out, 0);
	return (char *)out.data;
}

static void test_values(void **state)
{
	struct trace_format format;
	uint8_t bytes[80];
	struct trace_payload payload = { bytes, sizeof(bytes), false, 8 };
	_cleanup_free_ char *text = NULL;
	uint64_t value;
	int64_t with_sign;

	(void)state;
	make_payload(bytes, 3 << 16 | 66, 4 << 16 | 22);
	assert_true(trace_format_parse(FORMAT, strlen(FORMAT), &format));
	text = as_text(&format, &payload);
	assert_string_equal(text, " prev_comm=swapper/0 prev_pid=-5 flags=0x123456789a path=/a"
				  " words=ARRAY[02, 01, 04, 03] file=0x7f0000001000"
				  " ids=ARRAY[07, 00, 00, 00, f9, ff, ff, ff] level=-2");
	assert_true(trace_field_number(find(&format, "prev_pid"), &payload, &value));
	assert_int_equal(value, 0xfffffffb);
	assert_true(trace_field_signed(find(&format, "prev_pid"), &payload, &with_sign));
	assert_int_equal(with_sign, -5);
	assert_false(trace_field_number(find(&format, "prev_comm"), &payload, &value));
	trace_format_deinit(&format);
}

static void test_other_byte_order(void **state)
{
	struct trace_format format;
	uint8_t bytes[80] = { [24] = 0, 0, 1, 2 };
	struct trace_payload payload = { bytes, sizeof(bytes), true, 8 };
	uint64_t value;

	(void)state;
	assert_true(trace_format_parse(FORMAT, strlen(FORMAT), &format));
	assert_true(trace_field_number(find(&format, "prev_pid"), &payload, &value));
	assert_int_equal(value, 0x0102);
	trace_format_deinit(&format);
}

/* Data of any length, on the heap, where ASan sees a read past its end, with any dynamic field. */
static void test_hostile_payload(void **state)
{
	static const uint32_t wheres[] = { 0, 0xffffffff, 0xffff0000, 0x0000ffff, 0xffff0001,
					   0x00020050, 0x00010050, 0x0001004f };
	struct trace_format format;
	uint8_t bytes[80];

	(void)state;
	assert_true(trace_format_parse(FORMAT, strlen(FORMAT), &format));
	for (size_t where = 0; where < sizeof(wheres) / sizeof(wheres[0]); where++) {
		make_payload(bytes, wheres[where], wheres[where]);
		for (size_t size = 0; size <= sizeof(bytes); size++) {
			_cleanup_free_ uint8_t *copy = memory_dup(bytes, size);
			struct trace_payload payload = { copy, size, false, 8 };
			_cleanup_free_ char *text = as_text(&format, &payload);

			assert_non_null(strstr(text, " level="));
		}
	}
	trace_format_deinit(&format);
}

static void expect_malformed(const char *field)
{
	_cleanup_free_ char *text =
		memory_printf("name: x\nID: 1\nformat:\n%s\nprint fmt: \"\"\n", field);
	struct trace_format format;

	if (trace_format_parse(text, strlen(text), &format))
		fail_msg("accepted: %s", field);
	assert_null(format.fields);
}

static void test_malformed(void **state)
{
	static const char *const fields[] = {
		"field:",
		"field:int;\toffset:0;\tsize:4;",
		"field:int x",
		"field:int x;\toffset:-1;\tsize:4;",
		"field:int x;\toffset:65533;\tsize:4;",
		"field:int x;\toffset:0;\tsize:4294967296;",
		"field:int x;\toffset:99999999999999999999;\tsize:4;",
		"field:int x;\tsize:4;\toffset:0;",
		"field:int ]x[;\toffset:0;\tsize:4;",
		"field:int x];\toffset:0;\tsize:4;",
		"something else",
	};
	_cleanup_free_ char *many = memory_calloc(TRACE_FIELDS_MAX + 1, 32);
	size_t length = 0;
	struct trace_format format;

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		expect_malformed(fields[i]);
	for (size_t i = 0; i <= TRACE_FIELDS_MAX; i++)
		length += snprintf(many + length, 32, "field:u8 x;offset:0;size:1;\n");
	expect_malformed(many);
	assert_false(trace_format_parse("", 0, &format));
	assert_false(trace_format_parse("name: x\nID: 1\0format:\n", 22, &format));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),		 cmocka_unit_test(test_values),
		cmocka_unit_test(test_other_byte_order), cmocka_unit_test(test_hostile_payload),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
