/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records as `perf record -z` writes them: the kernel's are collected, and go as pieces of one zstd
 * stream into PERF_RECORD_COMPRESSED.
 *
 * Source: tools/perf/util/zstd.c (zstd_compress_stream_to_records()) and session.c
 * (perf_session__process_compressed_event()). perf takes it for an error if a piece gives nothing,
 * and allocates what HEADER_COMPRESSED names for what one gives: so a piece is whole records, of
 * which all comes out when it is read. Of the records of perf's user space, only FINISHED_ROUND is
 * compressed: it is frequent, and the others carry what must be known of the recording.
 */
#include "perfdata/writer/writer_state.h"

#if HAVE_ZSTD
#include <string.h>
#include <zstd.h>

#include "base/memory.h"

/* What is in a piece: even incompressible it fits into a record, whose size has 16 bits. */
#define PIECE_BYTES ((size_t)60 << 10)
#define LEVEL 1 /* perf's default */
#define TYPE_ZSTD 1
#define FORMAT_VERSION 1
#define WINDOW_LOG 20 /* what a reader must keep */

struct writer_compress {
	ZSTD_CCtx *stream;
	struct buffer plain; /* records of the next piece */
	uint64_t plain_bytes, compressed_bytes;
	uint8_t *record;
};

struct error *perfdata_writer_compress(struct perfdata_writer *writer)
{
	ZSTD_CCtx *stream = ZSTD_createCCtx();

	if (!stream)
		return error_create(ERROR_SYSTEM, "no memory to compress with");
	ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(stream, ZSTD_c_windowLog, WINDOW_LOG);
	writer->compress = memory_calloc(1, sizeof(*writer->compress));
	writer->compress->stream = stream;
	writer->compress->record = memory_alloc(UINT16_MAX);
	buffer_init(&writer->compress->plain, UINT16_MAX);
	return NULL;
}

void writer_compress_destroy(struct writer_compress *compress)
{
	if (!compress)
		return;
	ZSTD_freeCCtx(compress->stream);
	buffer_deinit(&compress->plain);
	free(compress->record);
	free(compress);
}

struct error *writer_compress_flush(struct perfdata_writer *writer)
{
	struct writer_compress *compress = writer->compress;
	struct perf_event_header header = { .type = RECORD_COMPRESSED };
	ZSTD_inBuffer input = { compress->plain.data, compress->plain.size, 0 };
	ZSTD_outBuffer output = { compress->record, UINT16_MAX, sizeof(header) };
	size_t left;

	if (!compress->plain.size)
		return NULL;
	left = ZSTD_compressStream2(compress->stream, &output, &input, ZSTD_e_flush);
	if (ZSTD_isError(left) || left || input.pos < input.size)
		return error_create(ERROR_SYSTEM, "could not compress records for '%s': %s",
				    writer->path,
				    ZSTD_isError(left) ? ZSTD_getErrorName(left) : "no room");
	header.size = output.pos;
	memcpy(compress->record, &header, sizeof(header));
	compress->plain_bytes += compress->plain.size;
	compress->compressed_bytes += output.pos;
	buffer_clear(&compress->plain);
	return writer_append_payload(writer, compress->record, output.pos);
}

/* One record that is to be compressed. */
static struct error *add(struct perfdata_writer *writer, const uint8_t *record, size_t size)
{
	struct buffer *plain = &writer->compress->plain;
	struct error *error = NULL;

	if (plain->size && plain->size + size > PIECE_BYTES)
		error = writer_compress_flush(writer);
	if (error)
		return error;
	/* One that is larger than a piece alone: it might not fit when it is compressed. */
	if (size > PIECE_BYTES)
		return writer_append_payload(writer, record, size);
	buffer_append(plain, record, size);
	return NULL;
}

struct error *writer_compress_append(struct perfdata_writer *writer, const uint8_t *records,
				     size_t size)
{
	struct error *error = NULL;

	while (size && !error) {
		struct perf_event_header header;

		memcpy(&header, records, sizeof(header));
		if (header.type < RECORD_USER_FIRST || header.type == RECORD_FINISHED_ROUND) {
			error = add(writer, records, header.size);
		} else {
			error = writer_compress_flush(writer);
			if (!error)
				error = writer_append_payload(writer, records, header.size);
		}
		records += header.size;
		size -= header.size;
	}
	return error;
}

void writer_put_compression(const struct writer_compress *compress, struct buffer *out)
{
	uint64_t ratio = compress->compressed_bytes
				 ? compress->plain_bytes / compress->compressed_bytes
				 : 1;

	buffer_append_u32(out, FORMAT_VERSION);
	buffer_append_u32(out, TYPE_ZSTD);
	buffer_append_u32(out, LEVEL);
	buffer_append_u32(out, ratio);
	buffer_append_u32(out, PIECE_BYTES);
}

#else

struct error *perfdata_writer_compress(struct perfdata_writer *writer)
{
	(void)writer;
	return error_hint(error_create(ERROR_UNSUPPORTED, "this perfvisor cannot compress records"),
			  "build it with libzstd");
}

void writer_compress_destroy(struct writer_compress *compress)
{
	(void)compress; /* always NULL here: none of what follows is called */
}

struct error *writer_compress_flush(struct perfdata_writer *writer)
{
	(void)writer;
	return NULL;
}

struct error *writer_compress_append(struct perfdata_writer *writer, const uint8_t *records,
				     size_t size)
{
	(void)writer, (void)records, (void)size;
	return NULL;
}

void writer_put_compression(const struct writer_compress *compress, struct buffer *out)
{
	(void)compress, (void)out;
}

#endif
