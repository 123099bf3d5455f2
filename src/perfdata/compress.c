/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contents of PERF_RECORD_COMPRESSED and COMPRESSED2: a zstd stream in pieces.
 *
 * Source: tools/perf/util/zstd.c and perf_session__process_compressed_event(). All compressed
 * records of one file form one stream (each file of a directory recording has its own), and a
 * record inside it may begin in one piece and end in the next.
 *
 * A few KB can expand to gigabytes, so the contents are decompressed step by step into one buffer,
 * which is read before it is filled again. Each piece is limited in size, and all of them together
 * in the ratio to their compressed size. Records other than samples have a lower ratio, because
 * their readers keep some of each (a name, a process, a mapping). zstd itself rejects windows above
 * 128 MB.
 */
#include <string.h>

#include "perfdata/reader_state.h"

#if HAVE_ZSTD
#include <zstd.h>

/* Above the largest record, 65,535 bytes, so that each step completes one. */
#define STEP_BYTES ((size_t)512 * 1024)

/* Samples that are all alike shrink to a hundredth; the data read from them is kept in memory. */
#define MAX_FACTOR 1000
#define ANY_FACTOR_BYTES ((uint64_t)64 << 20) /* up to this total, any ratio is allowed */

/* The same for records that are no samples; each has a time or a process of its own. */
#define MAX_SIDE_FACTOR 50
#define ANY_SIDE_FACTOR_BYTES ((uint64_t)32 << 20)

struct perfdata_inflate {
	ZSTD_DStream *stream;
	ZSTD_inBuffer input;
	uint64_t inflated; /* decompressed bytes of the current piece */
	uint64_t limit;
	uint64_t all_bytes, all_inflated; /* for all pieces since the last rewind */
	uint64_t side_inflated; /* of these, in records that are no samples */
	uint8_t *content; /* STEP_BYTES */
};

struct error *perfdata_inflate_create(struct perfdata_inflate **ret)
{
	struct perfdata_inflate *inflate;
	ZSTD_DStream *stream = ZSTD_createDStream();

	if (!stream)
		return error_create(ERROR_SYSTEM, "not enough memory to decompress data");
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

void perfdata_inflate_rewind(struct perfdata_inflate *inflate)
{
	inflate->all_bytes = inflate->all_inflated = inflate->side_inflated = 0;
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
	/* Also if all input is consumed: zstd may hold back output that did not fit before. */
	do {
		status = ZSTD_decompressStream(inflate->stream, &output, &inflate->input);
		if (ZSTD_isError(status))
			return error_create(ERROR_BAD_DATA, "compressed data is damaged: %s",
					    ZSTD_getErrorName(status));
	} while (output.pos == kept && inflate->input.pos < inflate->input.size);
	inflate->inflated += output.pos - kept;
	inflate->all_inflated += output.pos - kept;
	if (inflate->all_inflated > ANY_FACTOR_BYTES + MAX_FACTOR * inflate->all_bytes)
		return error_create(
			ERROR_BAD_DATA,
			"the compressed records expand to more than %d times their size",
			MAX_FACTOR);
	if (inflate->inflated > inflate->limit)
		return error_create(ERROR_BAD_DATA,
				    "a compressed record expands to more than %llu bytes",
				    (unsigned long long)inflate->limit);
	*ret = (struct reader_window){ inflate->content, inflate->content + output.pos };
	*ret_more = output.pos > kept;
	return NULL;
}

struct error *perfdata_inflate_count_side(struct perfdata_inflate *inflate, size_t bytes)
{
	inflate->side_inflated += bytes;
	if (inflate->side_inflated <= ANY_SIDE_FACTOR_BYTES + MAX_SIDE_FACTOR * inflate->all_bytes)
		return NULL;
	return error_create(ERROR_BAD_DATA, "the compressed records expand to more than %d times "
			    "their size without any samples", MAX_SIDE_FACTOR);
}

#else

struct error *perfdata_inflate_create(struct perfdata_inflate **ret)
{
	(void)ret;
	return error_hint(error_create(ERROR_UNSUPPORTED,
				       "this build of perfvisor cannot read compressed recordings"),
			  "rebuild it with libzstd");
}

void perfdata_inflate_destroy(struct perfdata_inflate *inflate)
{
	(void)inflate; /* always NULL here, as below */
}

void perfdata_inflate_reset(struct perfdata_inflate *inflate)
{
	(void)inflate;
}

void perfdata_inflate_rewind(struct perfdata_inflate *inflate)
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

struct error *perfdata_inflate_count_side(struct perfdata_inflate *inflate, size_t bytes)
{
	(void)inflate, (void)bytes;
	return NULL;
}

#endif
