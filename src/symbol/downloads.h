/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debugging information from the servers that the user names in DEBUGINFOD_URLS, with elfutils'
 * client: it keeps what it downloads in its cache, where perfvisor looks, too. What a server sends
 * is not trusted; who uses it checks the build-id.
 */
#ifndef SYMBOL_DOWNLOADS_H
#define SYMBOL_DOWNLOADS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum download_kind {
	DOWNLOAD_DEBUGINFO,
	DOWNLOAD_EXECUTABLE,
};

struct downloads; /* not for several threads at once */

/*
 * Starts a process that downloads for this one, which will have no network behind its walls
 * (walls/walls.h). Does nothing if DEBUGINFOD_URLS is not set. It ends with this process.
 */
struct error *downloads_start(void) MUST_CHECK;

/* NULL: DEBUGINFOD_URLS is not set, or the client is not built in. */
struct downloads *downloads_create(void);
void downloads_destroy(struct downloads *downloads); /* takes NULL */

/*
 * The path of the file with that build-id, malloc()ed; NULL: there is none. Takes NULL. Shows its
 * progress. A server gets 30 seconds to begin and to continue, a file 10 minutes; after two
 * failures nothing more is asked.
 */
char *downloads_get(struct downloads *downloads, const uint8_t *build_id, size_t bytes,
		    enum download_kind kind);

#endif
