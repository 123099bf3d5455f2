/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VM inventory, and news of it; the first byte selects the byte order. Valid input must survive
 * a round trip.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "perfdata/inventory.h"

#define MAX_BYTES (16 << 20)

static void encode_again(const struct perfdata_inventory *inventory)
{
	_cleanup_buffer_ struct buffer first, second;
	struct perfdata_inventory again;
	struct error *error;

	buffer_init(&first, MAX_BYTES);
	buffer_init(&second, MAX_BYTES);
	perfdata_inventory_encode(inventory, &first);
	assert(!first.overflow);
	error = perfdata_inventory_decode(first.data, first.size, false, &again);
	assert(!error);
	perfdata_inventory_encode(&again, &second);
	assert(first.size == second.size && !memcmp(first.data, second.data, first.size));
	perfdata_inventory_deinit(&again);
}

/* News upon news; what was taken, told as news, gives the same inventory. */
static void take_news(const uint8_t *data, size_t size, bool swap)
{
	struct perfdata_inventory_told told = { 0 };
	struct perfdata_inventory inventory, again;
	_cleanup_buffer_ struct buffer news;
	struct cursor cursor = cursor_make(data, size, swap);

	perfdata_inventory_init(&inventory);
	perfdata_inventory_init(&again);
	for (int i = 0; i < 3; i++)
		error_destroy(perfdata_inventory_decode_news(&cursor, &inventory));
	encode_again(&inventory);
	buffer_init(&news, MAX_BYTES);
	perfdata_inventory_encode_news(&inventory, &told, &news);
	assert(!news.overflow);
	cursor = cursor_make(news.data, news.size, false);
	error_destroy(perfdata_inventory_decode_news(&cursor, &again));
	assert(!cursor.failed && again.vms.count == inventory.vms.count);
	assert(again.special_ids.count == inventory.special_ids.count);
	vector_deinit(&told.vms);
	perfdata_inventory_deinit(&inventory);
	perfdata_inventory_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_inventory inventory;
	struct error *error;

	if (size < 1)
		return 0;
	take_news(data + 1, size - 1, data[0] & 1);
	error = perfdata_inventory_decode(data + 1, size - 1, data[0] & 1, &inventory);
	if (!error) {
		encode_again(&inventory);
		perfdata_inventory_deinit(&inventory);
	}
	error_destroy(error);
	return 0;
}
