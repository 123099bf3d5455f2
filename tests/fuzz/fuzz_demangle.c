/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mangled names: with a limit of 20 seconds for an input, libFuzzer finds those that take long. The
 * seeds are names that took hours.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "base/memory.h"
#include "symbol/dso.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *mangled = memory_strndup((const char *)data, size);
	_cleanup_free_ char *name = dso_demangle(mangled);
	uint64_t budget = 0;
	_cleanup_free_ char *copy = dso_demangle_within(mangled, &budget);

	assert(name && !strcmp(copy, mangled) && !budget);
	return 0;
}
