/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "base/buffer.h"

static void appends_and_pads(void **state)
{
	_cleanup_buffer_ struct buffer buffer;
	static const uint8_t expected[] = { 'a', 'b', 0x01, 0x02, 0x00, '7', 0, 0 };

	(void)state;
	buffer_init(&buffer, 100);
	buffer_append_string(&buffer, "ab");
	buffer_append_u8(&buffer, 1);
	buffer_append_u16(&buffer, 2);
	buffer_printf(&buffer, "%d", 7);
	buffer_pad(&buffer, 8);
	assert_int_equal(buffer.size, 8);
	assert_memory_equal(buffer.data, expected, 8);
	buffer_pad(&buffer, 8);
	assert_int_equal(buffer.size, 8);
	assert_false(buffer.overflow);
}

static void stops_at_its_maximum(void **state)
{
	_cleanup_buffer_ struct buffer buffer;

	(void)state;
	buffer_init(&buffer, 1000);
	for (int i = 0; i < 125; i++)
		buffer_append_u64(&buffer, i);
	assert_int_equal(buffer.size, 1000);
	assert_false(buffer.overflow);
	buffer_append_u8(&buffer, 1);
	assert_true(buffer.overflow);
	assert_int_equal(buffer.size, 1000);
	/* Overflow persists: the second half of a structure must not be appended after a gap. */
	buffer_clear(&buffer);
	assert_false(buffer.overflow);
	assert_null(buffer_extend(&buffer, 1001));
	assert_null(buffer_extend(&buffer, 1));
	assert_null(buffer_extend(&buffer, SIZE_MAX));
}

static void grows_past_many_sizes(void **state)
{
	_cleanup_buffer_ struct buffer buffer;

	(void)state;
	buffer_init(&buffer, 1 << 20);
	for (size_t i = 0; i < (1 << 20); i++)
		buffer_append_u8(&buffer, (uint8_t)(i * 7));
	assert_false(buffer.overflow);
	for (size_t i = 0; i < (1 << 20); i++)
		assert_int_equal(buffer.data[i], (uint8_t)(i * 7));
}

/* Prints text of every length into buffers of every size, up to the last byte and one past it. */
static void prints_into_any_room(void **state)
{
	(void)state;
	for (int before = 0; before <= 300; before++) {
		for (int bytes = 0; bytes <= 300; bytes += 7) {
			_cleanup_buffer_ struct buffer buffer;

			buffer_init(&buffer, 400);
			for (int i = 0; i < before; i++)
				buffer_append_u8(&buffer, 'b');
			buffer_printf(&buffer, "%*s", bytes, "");
			assert_int_equal(buffer.overflow, before + bytes > 400);
			assert_int_equal(buffer.size,
					 before + (buffer.overflow ? 0 : bytes));
			for (size_t i = 0; i < buffer.size; i++)
				assert_int_equal(buffer.data[i], i < before ? 'b' : ' ');
			buffer_append_string(&buffer, "");
			buffer_printf(&buffer, "%s", "");
			assert_int_equal(buffer.overflow, before + bytes > 400);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appends_and_pads),
		cmocka_unit_test(stops_at_its_maximum),
		cmocka_unit_test(grows_past_many_sizes),
		cmocka_unit_test(prints_into_any_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
