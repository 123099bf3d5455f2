/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VM inventory; the first byte selects the byte order. Valid input must survive a round trip.
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_inventory inventory;
	struct error *error;

	if (size < 1)
		return 0;
	error = perfdata_inventory_decode(data + 1, size - 1, data[0] & 1, &inventory);
	if (!error) {
		encode_again(&inventory);
		perfdata_inventory_deinit(&inventory);
	}
	error_destroy(error);
	return 0;
}
