/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/downloads.h"

#include <stdlib.h>

#if HAVE_DEBUGINFOD

#include <elfutils/debuginfod.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"

#define SILENCE_NS 30000000000ULL
#define LONGEST_NS 600000000000ULL
#define MAX_FAILURES 2

struct downloads {
	debuginfod_client *client;
	struct progress progress;
	uint64_t begun_ns, moved_ns; /* of the current file: when the last bytes came */
	long bytes;
	unsigned int failures;
};

/*
 * Called by the client a few times a second: DONE bytes of ALL, or something else while ALL is not
 * known. Anything but 0 ends the download.
 */
static int watch(debuginfod_client *client, long done, long all)
{
	struct downloads *downloads = debuginfod_get_user_data(client);
	uint64_t now = clock_monotonic_ns();

	if (all > 0 && done != downloads->bytes) {
		downloads->bytes = done;
		downloads->moved_ns = now;
	}
	if (all > 0 && progress_due(&downloads->progress))
		progress_show(&downloads->progress,
			      "downloading debugging information: %ld of %ld kB", done / 1000,
			      all / 1000);
	return now - downloads->moved_ns > SILENCE_NS || now - downloads->begun_ns > LONGEST_NS;
}

struct downloads *downloads_create(void)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	struct downloads *downloads;

	if (!urls || !*urls)
		return NULL;
	downloads = memory_calloc(1, sizeof(*downloads));
	downloads->client = debuginfod_begin();
	if (!downloads->client) {
		free(downloads);
		return NULL;
	}
	debuginfod_set_user_data(downloads->client, downloads);
	debuginfod_set_progressfn(downloads->client, watch);
	return downloads;
}

void downloads_destroy(struct downloads *downloads)
{
	if (!downloads)
		return;
	debuginfod_end(downloads->client);
	free(downloads);
}

static void note_failure(struct downloads *downloads, int reason)
{
	if (++downloads->failures == MAX_FAILURES)
		log_warning("nothing more is downloaded from DEBUGINFOD_URLS, because two downloads "
			    "failed: %s", reason == EINTR ? "the server is too slow"
							  : strerror(reason));
}

char *downloads_get(struct downloads *downloads, const uint8_t *build_id, size_t bytes,
		    enum download_kind kind)
{
	char *path = NULL;
	int fd;

	if (!downloads || downloads->failures == MAX_FAILURES || !bytes)
		return NULL;
	downloads->begun_ns = downloads->moved_ns = clock_monotonic_ns();
	downloads->bytes = 0;
	fd = kind == DOWNLOAD_DEBUGINFO
		     ? debuginfod_find_debuginfo(downloads->client, build_id, bytes, &path)
		     : debuginfod_find_executable(downloads->client, build_id, bytes, &path);
	progress_end(&downloads->progress);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	if (fd != -ENOENT)
		note_failure(downloads, -fd);
	return NULL;
}

#else

struct downloads *downloads_create(void)
{
	return NULL;
}

void downloads_destroy(struct downloads *downloads)
{
	(void)downloads;
}

char *downloads_get(struct downloads *downloads, const uint8_t *build_id, size_t bytes,
		    enum download_kind kind)
{
	(void)downloads, (void)build_id, (void)bytes, (void)kind;
	return NULL;
}

#endif
