/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the symbols of the host's kernel in a separate thread: reading /proc/kallsyms takes as long
 * as counting half a million samples, which continues in the meantime.
 */
#ifndef SESSION_KERNEL_LOADER_H
#define SESSION_KERNEL_LOADER_H

#include <pthread.h>
#include <stdbool.h>

#include "symbol/dso.h"

struct kernel_loader {
	bool started, threaded;
	pthread_t thread;
	struct dso_request request;
	char *path;
	uint8_t build_id[20];
	struct dso_symbols symbols;
	struct error *error;
};

/*
 * Starts loading, once. The path and the build-id of REQUEST are copied, other data that it points
 * to is borrowed.
 */
void kernel_loader_start(struct kernel_loader *loader, const struct dso_request *request);
/* Whether REQUEST, apart from the files that it names, is what was started. */
bool kernel_loader_fits(const struct kernel_loader *loader, const struct dso_request *request);
/*
 * Waits for the result, which then belongs to the caller. Call it once, after
 * kernel_loader_start().
 */
struct error *kernel_loader_finish(struct kernel_loader *loader,
				   struct dso_symbols *ret) MUST_CHECK;
/* Waits for a result that nobody took, and frees it; as if nothing was ever started. */
void kernel_loader_deinit(struct kernel_loader *loader);

#endif
