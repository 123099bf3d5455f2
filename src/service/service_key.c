/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes a key from everything a table of symbols or unwind data is made of: if the key is the
 * same, so is the table. The kernel's own part does not change while it runs; modules may, even at
 * the same address.
 */
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "service/service_private.h"
#include "unwind/table/orc.h"

#define MAX_ORC_BYTES (64ULL << 20) /* for all modules: a kernel and its modules have 4 MB */

static uint64_t hash_symbols(uint64_t key, const struct guest_modules *modules)
{
	for (size_t i = 0; i < modules->symbols.count; i++) {
		const struct guest_symbol *symbol = &modules->symbols.items[i];
		uint64_t words[] = { symbol->address.value, (uint8_t)symbol->type };

		key = hash_bytes_seeded(key, words, sizeof(words));
		key = hash_bytes_seeded(key, symbol->name, strlen(symbol->name));
	}
	return key;
}

static uint64_t hash_modules(uint64_t key, const struct guest_modules *modules)
{
	for (size_t i = 0; i < modules->items.count; i++) {
		const struct guest_module *module = &modules->items.items[i];
		uint64_t words[] = { module->text.value, module->range_count,
				     module->symbol_count };

		key = hash_bytes_seeded(key, words, sizeof(words));
		key = hash_bytes_seeded(key, module->ranges,
					module->range_count * sizeof(*module->ranges));
		key = hash_bytes_seeded(key, module->name, strlen(module->name));
	}
	return hash_symbols(key, modules);
}

static uint64_t hash_bytes_at(uint64_t key, struct guest_space *space, struct gva at, uint64_t size,
			      uint64_t *bytes_left)
{
	_cleanup_free_ uint8_t *bytes = guest_space_copy(space, at, size, *bytes_left);

	if (bytes)
		*bytes_left -= size;
	return bytes ? hash_bytes_seeded(key, bytes, size) : key;
}

/* Other code of the same size may have the same symbols, but has other unwind data. */
static uint64_t hash_unwind_data(uint64_t key, struct guest_space *space,
				 const struct guest_modules *modules)
{
	uint64_t bytes_left = MAX_ORC_BYTES;

	for (size_t i = 0; i < modules->items.count; i++) {
		const struct guest_module *module = &modules->items.items[i];
		uint64_t count = module->orc_count;

		key = hash_bytes_seeded(key, &count, sizeof(count));
		key = hash_bytes_at(key, space, module->orc_ips, count * ORC_IP_BYTES, &bytes_left);
		key = hash_bytes_at(key, space, module->orc_entries, count * ORC_ENTRY_BYTES,
				    &bytes_left);
	}
	return key;
}

uint64_t service_symbols_key(struct service *service, const struct guest_modules *modules)
{
	uint64_t key = guest_kernel_identity(service->kernel);

	if (!key)
		return 0;
	return (modules ? hash_modules(key, modules) : key) | 1;
}

uint64_t service_unwind_key(struct service *service, const struct guest_modules *modules)
{
	uint64_t key = service_symbols_key(service, modules);

	return key ? hash_unwind_data(key, &service->space, modules) | 1 : 0;
}
