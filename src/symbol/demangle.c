/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demangles names with libiberty: Rust (both manglings) first, then the Itanium C++ ABI, both
 * without parameters, hashes and clone suffixes. Stock perf uses the same library in the same way,
 * so names can be compared. It gets only names that it demangles in little time (demangle_cost.h).
 */
#include <string.h>
#include <libiberty/demangle.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "symbol/demangle_cost.h"
#include "symbol/dso.h"

#define OUTPUT_MAX_BYTES 65536
#define FREE_COST 32768 /* names of real programs cost less, with few exceptions */
#define PLT_SUFFIX "@plt"

static void take_piece(const char *text, size_t bytes, void *opaque)
{
	buffer_append(opaque, text, bytes);
}

/* NULL if NAME has no known mangling, or is too expensive or too long. */
static char *demangle(const char *name, uint64_t *cost)
{
	_cleanup_buffer_ struct buffer output;

	buffer_init(&output, OUTPUT_MAX_BYTES);
	if (!(demangle_is_cheap_rust(name, cost) &&
	      rust_demangle_callback(name, DMGL_NO_OPTS, take_piece, &output)) &&
	    !(demangle_is_cheap_cplus(name, cost) &&
	      cplus_demangle_v3_callback(name, DMGL_NO_OPTS, take_piece, &output)))
		return NULL;
	if (output.overflow || !output.size)
		return NULL;
	return memory_strndup((const char *)output.data, output.size);
}

static char *demangle_stem(const char *name, uint64_t *cost)
{
	size_t bytes = strlen(name), suffix_bytes = strlen(PLT_SUFFIX);
	_cleanup_free_ char *stem = NULL, *demangled = NULL;

	if (bytes <= suffix_bytes || strcmp(name + bytes - suffix_bytes, PLT_SUFFIX))
		return demangle(name, cost);
	stem = memory_strndup(name, bytes - suffix_bytes);
	demangled = demangle(stem, cost);
	return demangled ? memory_printf("%s%s", demangled, PLT_SUFFIX) : NULL;
}

char *dso_demangle_within(const char *name, uint64_t *budget)
{
	char *demangled = NULL;
	uint64_t cost = 0;

	if (*budget && *name == '_')
		demangled = demangle_stem(name, &cost);
	if (cost > FREE_COST)
		*budget -= cost < *budget ? cost : *budget;
	return demangled ? demangled : memory_strdup(name);
}

char *dso_demangle(const char *name)
{
	uint64_t budget = UINT64_MAX;

	return dso_demangle_within(name, &budget);
}
