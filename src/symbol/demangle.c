/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demangles names with libiberty: Rust (both manglings) first, then the Itanium C++ ABI, both
 * without parameters, hashes and clone suffixes. Stock perf uses the same library in the same way,
 * so names can be compared.
 *
 * A mangled name can refer back to its own parts, so a short hostile one can describe terabytes.
 * The library emits its output in pieces; after OUTPUT_MAX_BYTES, longjmp() leaves it. That leaks
 * nothing: when called this way, the library allocates only on its stack. Names longer than
 * NAME_MAX_BYTES are not demangled.
 */
#include <setjmp.h>
#include <string.h>
#include <libiberty/demangle.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "symbol/dso.h"

#define NAME_MAX_BYTES 16384
#define OUTPUT_MAX_BYTES 65536
#define PLT_SUFFIX "@plt"

struct output {
	struct buffer text;
	jmp_buf too_long;
};

static void take_piece(const char *text, size_t bytes, void *opaque)
{
	struct output *output = opaque;

	buffer_append(&output->text, text, bytes);
	if (output->text.overflow)
		longjmp(output->too_long, 1);
}

/* False if NAME has no known mangling, or its output is too long. */
static bool demangle_into(struct output *output, const char *name)
{
	if (setjmp(output->too_long))
		return false;
	return (rust_demangle_callback(name, DMGL_NO_OPTS, take_piece, output) ||
		cplus_demangle_v3_callback(name, DMGL_NO_OPTS, take_piece, output)) &&
	       output->text.size;
}

static char *demangle(const char *name)
{
	struct output output;
	char *result = NULL;

	buffer_init(&output.text, OUTPUT_MAX_BYTES);
	if (demangle_into(&output, name))
		result = memory_strndup((const char *)output.text.data, output.text.size);
	buffer_deinit(&output.text);
	return result;
}

char *dso_demangle(const char *name)
{
	size_t bytes = strlen(name), suffix_bytes = strlen(PLT_SUFFIX);
	_cleanup_free_ char *stem = NULL, *demangled = NULL;

	if (bytes > NAME_MAX_BYTES)
		return memory_strdup(name);
	if (bytes > suffix_bytes && !strcmp(name + bytes - suffix_bytes, PLT_SUFFIX)) {
		stem = memory_strndup(name, bytes - suffix_bytes);
		demangled = demangle(stem);
		return demangled ? memory_printf("%s%s", demangled, PLT_SUFFIX)
				 : memory_strdup(name);
	}
	demangled = demangle(name);
	return demangled ? take_pointer(demangled) : memory_strdup(name);
}
