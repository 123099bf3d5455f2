/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compressed records: contents cut into pieces anywhere, both kinds of record, and streams that are
 * damaged, nested, or far too large.
 */
#include "test.h"

#include <zstd.h>

#include "base/memory.h"
#include "perfdata/reader_state.h"
#include "perfdata/recording.h"

static const struct test_event event = {
	.attr.sample_type = SIMPLE_TYPE, .ids = { 5 }, .id_count = 1,
};

/* Appends one compressed record with DATA compressed by STREAM. */
static void put_compressed(struct buffer *out, ZSTD_CStream *stream, uint32_t type,
			   const void *data, size_t size)
{
	size_t room = ZSTD_compressBound(size) + 64;
	_cleanup_free_ uint8_t *body = memory_calloc(1, room + 16);
	size_t head = type == RECORD_COMPRESSED2 ? 8 : 0;
	ZSTD_inBuffer input = { data, size, 0 };
	ZSTD_outBuffer output = { body + head, room, 0 };
	size_t body_bytes;

	while (input.pos < input.size)
		assert_false(ZSTD_isError(ZSTD_compressStream(stream, &output, &input)));
	assert_int_equal(ZSTD_flushStream(stream, &output), 0);
	body_bytes = head + output.pos;
	if (head) {
		memcpy(body, &(uint64_t){ output.pos }, 8);
		body_bytes = (body_bytes + 7) / 8 * 8;
	}
	put_record(out, type, 0, body, body_bytes);
}

static void put_samples(struct buffer *out, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_words(out, PERF_RECORD_SAMPLE, 1, 5, 0x1000 + i);
}

/* COUNT samples in pieces of PIECE_BYTES, with a plain record between two pieces. */
static void put_pieces(struct buffer *out, unsigned count, size_t piece_bytes, uint32_t type)
{
	_cleanup_buffer_ struct buffer samples;
	ZSTD_CStream *stream = ZSTD_createCStream();

	buffer_init(&samples, RECORDING_MAX_BYTES);
	put_samples(&samples, count);
	ZSTD_initCStream(stream, 9);
	for (size_t at = 0; at < samples.size; at += piece_bytes) {
		size_t left = samples.size - at;

		put_compressed(out, stream, type, samples.data + at,
			       left < piece_bytes ? left : piece_bytes);
		put_words(out, RECORD_FINISHED_ROUND, 0, 0);
	}
	ZSTD_freeCStream(stream);
}

/* Counts samples, which must come in order. */
static enum perfdata_status read_samples(struct perfdata_reader *reader, unsigned *ret_samples)
{
	struct perfdata_record record;
	struct perfdata_decoded decoded;
	enum perfdata_status status;
	unsigned samples = 0;

	while ((status = perfdata_reader_next(reader, &record)) == PERFDATA_RECORD) {
		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		assert_true(perfdata_reader_decode(reader, &record, &decoded));
		assert_int_equal(decoded.sample.ip, 0x1000 + samples);
		samples++;
	}
	*ret_samples = samples;
	return status;
}

static void assert_pieces(const struct buffer *records, enum perfdata_status want_status,
			  unsigned want_samples, bool want_truncated)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer bytes;
	unsigned samples;

	buffer_init(&bytes, RECORDING_MAX_BYTES);
	put_recording(&bytes, &event, 1, records);
	assert_no_error(perfdata_reader_open_memory(bytes.data, bytes.size, "test", &reader));
	for (int pass = 0; pass < 3; pass++) {
		assert_int_equal(read_samples(reader, &samples), want_status);
		assert_int_equal(samples, want_samples);
		assert_int_equal(perfdata_reader_truncated(reader), want_truncated);
		perfdata_reader_rewind(reader);
	}
}

static void reads_records_over_pieces(void **state)
{
	static const size_t piece_bytes[] = { 1, 7, 8, 23, 24, 25, 1000, 30000 };
	static const uint32_t types[] = { RECORD_COMPRESSED, RECORD_COMPRESSED2 };

	(void)state;
	for (size_t i = 0; i < sizeof(piece_bytes) / sizeof(*piece_bytes); i++) {
		for (int t = 0; t < 2; t++) {
			_cleanup_buffer_ struct buffer records;

			buffer_init(&records, RECORDING_MAX_BYTES);
			put_pieces(&records, 1000, piece_bytes[i], types[t]);
			assert_pieces(&records, PERFDATA_END, 1000, false);
		}
	}
}

/* One record of 64 KB that expands to more than the reader's buffer holds. */
static void reads_one_record_in_steps(void **state)
{
	_cleanup_buffer_ struct buffer records;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	put_pieces(&records, 30000, SIZE_MAX / 4, RECORD_COMPRESSED2);
	assert_true(records.size <= UINT16_MAX + 16);
	assert_pieces(&records, PERFDATA_END, 30000, false);
}

/* Each piece is within its limit, but not all of them together. */
static void refuses_what_becomes_too_large(void **state)
{
	static const struct perf_event_header round = { .type = RECORD_FINISHED_ROUND,
							.size = sizeof(round) };
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer records, content, bytes;
	ZSTD_CStream *stream = ZSTD_createCStream();
	unsigned int samples;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	buffer_init(&content, (size_t)8 << 20);
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	while (content.size < content.max_bytes)
		buffer_append(&content, &round, sizeof(round));
	ZSTD_initCStream(stream, 9);
	for (int i = 0; i < 12; i++)
		put_compressed(&records, stream, RECORD_COMPRESSED2, content.data, content.size);
	ZSTD_freeCStream(stream);
	assert_true(records.size < 32768);
	put_recording(&bytes, &event, 1, &records);
	assert_no_error(perfdata_reader_open_memory(bytes.data, bytes.size, "test", &reader));
	assert_int_equal(read_samples(reader, &samples), PERFDATA_BAD);
	assert_non_null(strstr(error_message(perfdata_reader_error(reader)), "times their size"));
}

/*
 * Samples may be 100 times their compressed size, but what is remembered of each record may not.
 * 120 MB of both, in pieces that are within their limits.
 */
static enum perfdata_status read_alike(uint32_t type, bool twice)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer records, content, bytes;
	ZSTD_CStream *stream = ZSTD_createCStream();
	static const char skipped[40000] = "\x50\x2a\x4d\x18\x38\x9c"; /* RFC 8878, 3.1.2 */
	struct perfdata_record record;
	enum perfdata_status status = PERFDATA_END;

	buffer_init(&records, RECORDING_MAX_BYTES);
	buffer_init(&content, (size_t)8 << 20);
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	while (content.size + 24 <= content.max_bytes)
		put_words(&content, type, 0, 5, 0x1000);
	for (int i = 0; i < 25; i++) /* a million bytes: 50 times that is less than 120 MB */
		put_record(&records, RECORD_COMPRESSED, 0, skipped, sizeof(skipped));
	ZSTD_initCStream(stream, 9);
	for (int i = 0; i < 15; i++)
		put_compressed(&records, stream, RECORD_COMPRESSED, content.data, content.size);
	ZSTD_freeCStream(stream);
	put_recording(&bytes, &event, 1, &records);
	assert_no_error(perfdata_reader_open_memory(bytes.data, bytes.size, "test", &reader));
	for (int pass = 0; pass <= twice && status == PERFDATA_END; pass++) {
		perfdata_reader_rewind(reader);
		while ((status = perfdata_reader_next(reader, &record)) == PERFDATA_RECORD)
			;
	}
	if (status == PERFDATA_BAD)
		assert_non_null(strstr(error_message(perfdata_reader_error(reader)),
				       "without any samples"));
	return status;
}

static void refuses_what_has_too_few_samples(void **state)
{
	(void)state;
	assert_int_equal(read_alike(PERF_RECORD_SAMPLE, true), PERFDATA_END);
	assert_int_equal(read_alike(PERF_RECORD_FORK, false), PERFDATA_BAD);
	assert_int_equal(read_alike(PERF_RECORD_COMM, false), PERFDATA_BAD);
}

static void says_that_content_is_cut_off(void **state)
{
	_cleanup_buffer_ struct buffer records, samples;
	ZSTD_CStream *stream = ZSTD_createCStream();

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	buffer_init(&samples, RECORDING_MAX_BYTES);
	put_samples(&samples, 10);
	ZSTD_initCStream(stream, 9);
	put_compressed(&records, stream, RECORD_COMPRESSED, samples.data, samples.size - 1);
	assert_pieces(&records, PERFDATA_END, 9, true);
	ZSTD_freeCStream(stream);
}

static void stops_at_damaged_content(void **state)
{
	static const char garbage[100] = "this is not what zstd makes of anything";
	_cleanup_buffer_ struct buffer records;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	put_samples(&records, 3);
	put_record(&records, RECORD_COMPRESSED, 0, garbage, sizeof(garbage));
	assert_pieces(&records, PERFDATA_BAD, 3, false);

	/* COMPRESSED2: contents larger than the record, and a record without room for a size. */
	buffer_clear(&records);
	put_words(&records, RECORD_COMPRESSED2, 0, UINT64_MAX, 0);
	assert_pieces(&records, PERFDATA_BAD, 0, false);
	buffer_clear(&records);
	put_record(&records, RECORD_COMPRESSED2, 0, garbage, 7);
	assert_pieces(&records, PERFDATA_BAD, 0, false);
}

static void stops_at_compressed_in_compressed(void **state)
{
	_cleanup_buffer_ struct buffer inner, outer;
	ZSTD_CStream *stream = ZSTD_createCStream();

	(void)state;
	buffer_init(&inner, RECORDING_MAX_BYTES);
	buffer_init(&outer, RECORDING_MAX_BYTES);
	put_pieces(&inner, 10, 1000, RECORD_COMPRESSED);
	ZSTD_initCStream(stream, 9);
	put_compressed(&outer, stream, RECORD_COMPRESSED, inner.data, inner.size);
	assert_pieces(&outer, PERFDATA_BAD, 0, false);
	ZSTD_freeCStream(stream);
}

/* 48 MB of valid records in one record of a few KB: three times the limit. */
static void stops_at_content_beyond_bounds(void **state)
{
	_cleanup_buffer_ struct buffer rounds, records, bytes;
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	ZSTD_CStream *stream = ZSTD_createCStream();
	struct perfdata_record record;
	enum perfdata_status status;
	uint64_t inflated = 0;

	(void)state;
	buffer_init(&rounds, RECORDING_MAX_BYTES);
	buffer_init(&records, RECORDING_MAX_BYTES);
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	for (int i = 0; i < 48 * 1024; i++) {
		static const uint8_t body[1016];

		put_record(&rounds, PERF_RECORD_LOST, 0, body, sizeof(body));
	}
	ZSTD_initCStream(stream, 19);
	put_compressed(&records, stream, RECORD_COMPRESSED, rounds.data, rounds.size);
	ZSTD_freeCStream(stream);
	put_recording(&bytes, &event, 1, &records);
	assert_true(bytes.size < 64 * 1024);
	assert_no_error(perfdata_reader_open_memory(bytes.data, bytes.size, "test", &reader));
	while ((status = perfdata_reader_next(reader, &record)) == PERFDATA_RECORD)
		inflated += record.size;
	assert_int_equal(status, PERFDATA_BAD);
	assert_true(inflated > 8 << 20 && inflated <= 16 << 20);
	assert_non_null(strstr(error_message(perfdata_reader_error(reader)), "expands to more"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_records_over_pieces),
		cmocka_unit_test(reads_one_record_in_steps),
		cmocka_unit_test(refuses_what_becomes_too_large),
		cmocka_unit_test(refuses_what_has_too_few_samples),
		cmocka_unit_test(says_that_content_is_cut_off),
		cmocka_unit_test(stops_at_damaged_content),
		cmocka_unit_test(stops_at_compressed_in_compressed),
		cmocka_unit_test(stops_at_content_beyond_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
