/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF of a guest's kernel: the sizes of all types, and fields found by paths through the first
 * structures.
 */
#include "fuzz.h"
#include "guest/kernel/guest_btf.h"

#define MAX_TYPES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const structures[] = { "task", "mm", "list_head", "outer" };
	static const char *const paths[] = {
		"next", "mm.pgd", "pid", "inner.value", "bits", "array"
	};
	_cleanup_guest_btf_ struct guest_btf *btf = guest_btf_create(data, size);
	struct guest_btf_field field;
	uint32_t element, count;
	int64_t value;

	if (!btf)
		return 0;
	for (uint32_t type = 0; type < MAX_TYPES; type++) {
		guest_btf_size(btf, type);
		guest_btf_array(btf, type, &element, &count);
	}
	for (size_t s = 0; s < sizeof(structures) / sizeof(*structures); s++)
		for (size_t p = 0; p < sizeof(paths) / sizeof(*paths); p++)
			guest_btf_find_field(btf, structures[s], paths[p], &field);
	guest_btf_find_enumerator(btf, "LAST", &value);
	return 0;
}
