/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source: zstd.h, "ZSTD_CCtx_refPrefix()": as `zstd --patch-from` does, with a window that reaches
 * over the whole base, and long distance matching, which finds what is far away there.
 */
#include "perfdata/section.h"

#if HAVE_ZSTD
#include <zstd.h>

#define LEVEL 2 /* a fifth of the time of level 5, for a tenth more bytes */
#define MIN_WINDOW_LOG 20
#define MAX_WINDOW_LOG 27 /* what zstd takes without being asked to */

static int window_log(size_t bytes)
{
	int log = MIN_WINDOW_LOG;

	while (log < MAX_WINDOW_LOG && (size_t)1 << log < bytes)
		log++;
	return log;
}

static size_t compress_with(ZSTD_CCtx *context, const void *data, size_t size, const void *base,
			    size_t base_size, void *out, size_t room)
{
	ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
	if (base) {
		ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log(size + base_size));
		ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
		ZSTD_CCtx_refPrefix(context, base, base_size);
	}
	return ZSTD_compress2(context, out, room, data, size);
}

bool table_compress(const void *data, size_t size, const void *base, size_t base_size,
		    struct buffer *out)
{
	size_t before = out->size, room = ZSTD_compressBound(size), got;
	ZSTD_CCtx *context = ZSTD_createCCtx();
	void *frame = context ? buffer_extend(out, room) : NULL;

	if (!frame) {
		ZSTD_freeCCtx(context);
		return false;
	}
	got = compress_with(context, data, size, base, base_size, frame, room);
	ZSTD_freeCCtx(context);
	out->size = ZSTD_isError(got) ? before : before + got;
	return !ZSTD_isError(got);
}

struct error *table_decompress(const void *frame, size_t frame_size, const void *base,
			       size_t base_size, void *ret, size_t size)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	size_t got;

	if (!context)
		return error_create(ERROR_SYSTEM, "no memory for a recorded symbol table");
	ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
	if (base)
		ZSTD_DCtx_refPrefix(context, base, base_size);
	got = ZSTD_decompressDCtx(context, ret, size, frame, frame_size);
	ZSTD_freeDCtx(context);
	if (ZSTD_isError(got))
		return error_create(ERROR_BAD_DATA, "a recorded symbol table is damaged: %s",
				    ZSTD_getErrorName(got));
	if (got != size)
		return error_create(ERROR_BAD_DATA, "a recorded symbol table is too short");
	return NULL;
}

#else

bool table_compress(const void *data, size_t size, const void *base, size_t base_size,
		    struct buffer *out)
{
	(void)data, (void)size, (void)base, (void)base_size, (void)out;
	return false;
}

struct error *table_decompress(const void *frame, size_t frame_size, const void *base,
			       size_t base_size, void *ret, size_t size)
{
	(void)frame, (void)frame_size, (void)base, (void)base_size, (void)ret, (void)size;
	return error_hint(error_create(ERROR_UNSUPPORTED,
				       "this perfvisor cannot read compressed symbol tables"),
			  "build it with libzstd");
}

#endif
