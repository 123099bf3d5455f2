/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest kernel's read-only data: kallsyms is searched for, and read to its end. */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "guest/kernel/kallsyms.h"

#define IMAGE_START 0xffffffff81000000ULL
#define IMAGE_END 0xffffffff83000000ULL
#define BLOCK_START 0xffffffff82000000ULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest_block block = { data, size, GVA(BLOCK_START) };
	struct guest_kallsyms_iterator iterator;
	struct guest_kallsyms_symbol symbol;
	struct guest_kallsyms kallsyms;
	uint32_t count = 0;

	if (!guest_kallsyms_find(&block, GVA(IMAGE_START), GVA(IMAGE_END), &kallsyms))
		return 0;
	iterator = guest_kallsyms_iterate(&kallsyms);
	while (guest_kallsyms_next(&iterator, &symbol)) {
		assert(strlen(symbol.name) < sizeof(symbol.name));
		count++;
	}
	assert(count == kallsyms.count);
	return 0;
}
