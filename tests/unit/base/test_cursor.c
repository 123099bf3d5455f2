/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/cursor.h"

static const uint8_t bytes[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 'h', 'i', 0, 'x' };

static void reads_in_both_byte_orders(void **state)
{
	struct cursor native = cursor_make(bytes, sizeof(bytes), false);
	struct cursor swapped = cursor_make(bytes, sizeof(bytes), true);
	uint64_t one = cursor_u64(&native);

	(void)state;
	assert_true(one == __builtin_bswap64(cursor_u64(&swapped)));
	swapped.offset = 0;
	native.offset = 0;
	assert_int_equal(cursor_u16(&native), __builtin_bswap16(cursor_u16(&swapped)));
	assert_int_equal(cursor_u32(&native), __builtin_bswap32(cursor_u32(&swapped)));
	assert_int_equal(cursor_u8(&native), 7);
	assert_int_equal(cursor_left(&native), sizeof(bytes) - 7);
}

static void fails_once_and_for_all(void **state)
{
	struct cursor cursor = cursor_make(bytes, 5, false);

	(void)state;
	cursor_skip(&cursor, 4);
	assert_int_equal(cursor_u16(&cursor), 0);
	assert_true(cursor.failed);
	assert_int_equal(cursor.offset, 4);
	/* One byte is left, but nothing after a failed read can be trusted. */
	assert_int_equal(cursor_u8(&cursor), 0);
	assert_null(cursor_bytes(&cursor, 0));
}

static void sizes_do_not_overflow(void **state)
{
	struct cursor cursor = cursor_make(bytes, sizeof(bytes), false);

	(void)state;
	cursor_skip(&cursor, 2);
	assert_null(cursor_bytes(&cursor, SIZE_MAX));
	assert_true(cursor.failed);
}

static void strings_must_end_in_their_field(void **state)
{
	struct cursor cursor = cursor_make(bytes + 8, 4, false);

	(void)state;
	assert_string_equal(cursor_string_field(&cursor, 3), "hi");
	assert_null(cursor_string_field(&cursor, 1));
	assert_true(cursor.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_in_both_byte_orders),
		cmocka_unit_test(fails_once_and_for_all),
		cmocka_unit_test(sizes_do_not_overflow),
		cmocka_unit_test(strings_must_end_in_their_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
