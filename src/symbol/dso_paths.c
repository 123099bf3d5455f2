/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where caches and debug packages keep the files of a build-id. */
#include <string.h>

#include "base/memory.h"
#include "symbol/dso_private.h"

#define DEBUG_ROOT "/usr/lib/debug"

char *dso_build_id_name(const struct dso_request *request)
{
	size_t bytes = request->build_id ? request->build_id_bytes : 0;
	char text[2 * BUILD_ID_MAX_BYTES + 2];

	if (bytes < 2 || bytes > BUILD_ID_MAX_BYTES)
		return NULL;
	for (size_t i = 0; i < bytes; i++)
		snprintf(text + 2 * i + (i > 0), 4, i ? "%02x" : "%02x/", request->build_id[i]);
	return memory_strdup(text);
}

char *dso_cache_path(const struct dso_request *request, const char *leaf)
{
	_cleanup_free_ char *name = dso_build_id_name(request);
	const char *cache = secure_getenv("PERF_BUILDID_DIR");
	const char *home = secure_getenv("HOME");

	if (!name || (!cache && !home))
		return NULL;
	return memory_printf("%s%s/.build-id/%s%s%s", cache ? cache : home, cache ? "" : "/.debug",
			     name, leaf ? "/" : "", leaf ? leaf : "");
}

char *dso_debug_path(const struct dso_request *request)
{
	_cleanup_free_ char *name = dso_build_id_name(request);

	return name ? memory_printf("%s/.build-id/%s.debug", DEBUG_ROOT, name) : NULL;
}

char *dso_debuginfod_path(const struct dso_request *request, const char *leaf)
{
	_cleanup_free_ char *name = dso_build_id_name(request);
	const char *cache = secure_getenv("DEBUGINFOD_CACHE_PATH");
	const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");

	if (!name)
		return NULL;
	memmove(name + 2, name + 3, strlen(name + 3) + 1); /* without the slash */
	if (cache)
		return memory_printf("%s/%s/%s", cache, name, leaf);
	if (base)
		return memory_printf("%s/debuginfod_client/%s/%s", base, name, leaf);
	return home ? memory_printf("%s/.cache/debuginfod_client/%s/%s", home, name, leaf) : NULL;
}
