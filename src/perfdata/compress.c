/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The content of PERF_RECORD_COMPRESSED and COMPRESSED2: a zstd stream in pieces.
 *
 * Source: tools/perf/util/zstd.c and perf_session__process_compressed_event(). All compressed
 * records of one file are one stream (each file of a directory has its own), and a record
 * of the content may begin in one piece and end in the next.
 *
 * A few KB can inflate to gigabytes, so the content is inflated step by step into one
 * buffer that is read before it is filled again; no piece may become more than the limit, nor all
 * of them together more than so many times of what they are.
 * zstd itself refuses a window above 128 MB.
 */
#include <string.h>

#include "perfdata/reader_state.h"

#if HAVE_ZSTD
#include <zstd.h>

/* Above the largest record, 65,535 bytes: a step always completes one. */
#define STEP_BYTES ((size_t)512 * 1024)

/* Samples that are all alike shrink to a hundredth; what is read of them is kept in memory. */
#define MAX_FACTOR 1000
#define ANY_FACTOR_BYTES ((uint64_t)64 << 20) /* may be any number of times of what they are */

struct perfdata_inflate {
	ZSTD_DStream *stream;
	ZSTD_inBuffer input;
	uint64_t inflated; /* bytes that the current piece has become */
	uint64_t limit;
	uint64_t all_bytes, all_inflated; /* of all pieces */
	uint8_t *content; /* STEP_BYTES */
};

struct error *perfdata_inflate_create(struct perfdata_inflate **ret)
{
	struct perfdata_inflate *inflate;
	ZSTD_DStream *stream = ZSTD_createDStream();

	if (!stream)
		return error_create(ERROR_SYSTEM, "no memory to inflate compressed data");
	inflate = memory_calloc(1, sizeof(*inflate));
	inflate->stream = stream;
	inflate->content = memory_alloc(STEP_BYTES);
	*ret = inflate;
	return NULL;
}

void perfdata_inflate_destroy(struct perfdata_inflate *inflate)
{
	if (!inflate)
		return;
	ZSTD_freeDStream(inflate->stream);
	free(inflate->content);
	free(inflate);
}

void perfdata_inflate_reset(struct perfdata_inflate *inflate)
{
	ZSTD_initDStream(inflate->stream);
	inflate->input = (ZSTD_inBuffer){ 0 };
}

void perfdata_inflate_begin(struct perfdata_inflate *inflate, const void *data, size_t size,
			    uint64_t limit)
{
	inflate->input = (ZSTD_inBuffer){ .src = data, .size = size };
	inflate->inflated = 0;
	inflate->limit = limit;
	inflate->all_bytes += size;
}

struct error *perfdata_inflate_more(struct perfdata_inflate *inflate,
				    const struct reader_window *rest, struct reader_window *ret,
				    bool *ret_more)
{
	size_t kept = rest->end - rest->at;
	ZSTD_outBuffer output = { .dst = inflate->content, .size = STEP_BYTES, .pos = kept };
	size_t status;

	if (kept)
		memmove(inflate->content, rest->at, kept);
	/* Also with all input consumed: zstd may hold content back that did not fit before. */
	do {
		status = ZSTD_decompressStream(inflate->stream, &output, &inflate->input);
		if (ZSTD_isError(status))
			return error_create(ERROR_BAD_DATA, "compressed data are damaged: %s",
					    ZSTD_getErrorName(status));
	} while (output.pos == kept && inflate->input.pos < inflate->input.size);
	inflate->inflated += output.pos - kept;
	inflate->all_inflated += output.pos - kept;
	if (inflate->all_inflated > ANY_FACTOR_BYTES + MAX_FACTOR * inflate->all_bytes)
		return error_create(ERROR_BAD_DATA,
				    "the compressed records become more than %d times larger",
				    MAX_FACTOR);
	if (inflate->inflated > inflate->limit)
		return error_create(ERROR_BAD_DATA,
				    "a compressed record has more content than %llu bytes",
				    (unsigned long long)inflate->limit);
	*ret = (struct reader_window){ inflate->content, inflate->content + output.pos };
	*ret_more = output.pos > kept;
	return NULL;
}

#else

struct error *perfdata_inflate_create(struct perfdata_inflate **ret)
{
	(void)ret;
	return error_hint(error_create(ERROR_UNSUPPORTED,
				       "this perfvisor cannot read compressed recordings"),
			  "build it with libzstd");
}

void perfdata_inflate_destroy(struct perfdata_inflate *inflate)
{
	(void)inflate; /* always NULL here, as below */
}

void perfdata_inflate_reset(struct perfdata_inflate *inflate)
{
	(void)inflate;
}

void perfdata_inflate_begin(struct perfdata_inflate *inflate, const void *data, size_t size,
			    uint64_t limit)
{
	(void)inflate, (void)data, (void)size, (void)limit;
}

struct error *perfdata_inflate_more(struct perfdata_inflate *inflate,
				    const struct reader_window *rest, struct reader_window *ret,
				    bool *ret_more)
{
	(void)inflate, (void)rest, (void)ret;
	*ret_more = false;
	return NULL;
}

#endif
