/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/function_name.h"

#include <string.h>

/* Each may be followed by a point and a number, as ".isra.0.cold" shows in the middle. */
static const char *const suffixes[] = { ".cold",	".isra", ".constprop", ".part", ".lto_priv",
					".localalias", ".llvm", ".clone" };

/* Where the number "." DIGITS at the end of NAME's first LENGTH bytes begins; LENGTH: nowhere. */
static size_t skip_number(const char *name, size_t length)
{
	size_t at = length;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	return at && at < length && name[at - 1] == '.' ? at - 1 : length;
}

/* The length without one suffix; LENGTH if there is none. */
static size_t skip_suffix(const char *name, size_t length)
{
	size_t end = skip_number(name, length);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t bytes = strlen(suffixes[i]);

		if (end > bytes && !memcmp(name + end - bytes, suffixes[i], bytes))
			return end - bytes;
	}
	return length;
}

size_t function_name_length(const char *name)
{
	size_t length = strlen(name), shorter;

	while ((shorter = skip_suffix(name, length)) < length)
		length = shorter;
	return length;
}

const char *module_name(const char *name)
{
	static const char *const kernels[] = { "[kernel", "[guest.kernel", "vmlinux" };

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		if (!strncmp(name, kernels[i], strlen(kernels[i])))
			return "[kernel]";
	return name;
}
