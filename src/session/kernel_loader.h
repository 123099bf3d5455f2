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

/* Starts loading, once; the data that REQUEST points to is copied. */
void kernel_loader_start(struct kernel_loader *loader, const struct dso_request *request);
/*
 * Waits for the result, which then belongs to the caller. Call it once, after
 * kernel_loader_start().
 */
struct error *kernel_loader_finish(struct kernel_loader *loader,
				   struct dso_symbols *ret) MUST_CHECK;
/* Waits for a result that nobody took, and frees it. */
void kernel_loader_deinit(struct kernel_loader *loader);

#endif
