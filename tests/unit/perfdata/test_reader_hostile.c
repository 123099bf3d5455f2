/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real recordings truncated at every byte and with bits flipped, in memory of exactly their size,
 * with ASan and UBSan. A truncated recording must have the same records as the whole one, up to the
 * cut.
 */
#include "test.h"

#include <string.h>

#include "base/files/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/vector.h"
#include "perfdata/reader.h"

static const char *const recordings[] = {
	"file", "chains", "fields", "kvm", "pipe", "tracepoint", "big-endian",
	"big-endian-chains", "old-attr", "new-attr", "directory.data/data",
#if HAVE_ZSTD
	"zstd", "zstd-pipe",
#endif
};
#define RECORDINGS (sizeof(recordings) / sizeof(*recordings))

struct summary {
	VECTOR(uint64_t) records; /* a hash of each */
	enum perfdata_status status;
	bool opened;
	bool truncated;
};

static void read_golden(const char *name, struct buffer *ret)
{
	_cleanup_free_ char *path = memory_printf("tests/golden/perfdata/%s%s", name,
						  strchr(name, '/') ? "" : ".data");

	buffer_init(ret, 1 << 20);
	assert_no_error(file_read(path, ret));
}

static uint64_t hash_record(struct perfdata_reader *reader, const struct perfdata_record *record)
{
	struct perfdata_decoded decoded;
	uint64_t hash = record->type + 31 * hash_bytes(record->body, record->body_bytes);

	if (perfdata_reader_decode(reader, record, &decoded)) {
		hash = 31 * hash + decoded.sample.ip;
		for (uint64_t i = 0; i < decoded.sample.callchain_count; i++)
			hash = 31 * hash + decoded.sample.callchain[i];
	}
	if (perfdata_reader_decode_id(reader, record, &decoded))
		hash = 31 * hash + decoded.sample.time_ns;
	return hash;
}

/* Reads SIZE bytes of DATA, from a copy that ends there. */
static struct summary summarise(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint8_t *exact = memory_dup(data, size);
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_error_ struct error *error = NULL;
	struct summary summary = { 0 };
	struct perfdata_record record;

	error = perfdata_reader_open_memory(exact, size, "test", &reader);
	if (error)
		return summary;
	summary.opened = true;
	while ((summary.status = perfdata_reader_next(reader, &record)) == PERFDATA_RECORD)
		vector_append(&summary.records, hash_record(reader, &record));
	summary.truncated = perfdata_reader_truncated(reader);
	return summary;
}

static void cut_off_at_every_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < RECORDINGS; i++) {
		_cleanup_buffer_ struct buffer file;
		struct summary whole;
		size_t most = 0;

		read_golden(recordings[i], &file);
		whole = summarise(file.data, file.size);
		assert_int_equal(whole.status, PERFDATA_END);
		assert_true(whole.records.count > 5);
		for (size_t size = 0; size < file.size; size++) {
			struct summary part = summarise(file.data, size);

			assert_true(part.records.count <= whole.records.count);
			if (part.records.count)
				assert_memory_equal(part.records.items, whole.records.items,
						    part.records.count * sizeof(uint64_t));
			most = part.records.count > most ? part.records.count : most;
			/* If data is missing without a warning, the numbers are wrong. */
			if (part.opened && part.status == PERFDATA_END && !part.truncated &&
			    part.records.count < whole.records.count)
				assert_non_null(strstr(recordings[i], "pipe"));
			vector_deinit(&part.records);
		}
		assert_true(most > whole.records.count / 2); /* otherwise nothing was compared */
		vector_deinit(&whole.records);
	}
}

static void one_bit_turned_over(void **state)
{
	(void)state;
	for (size_t i = 0; i < RECORDINGS; i++) {
		_cleanup_buffer_ struct buffer file;

		read_golden(recordings[i], &file);
		for (size_t at = 0; at < file.size; at++) {
			struct summary summary;
			uint8_t bit = 1 << (at * 5 + i) % 8;

			file.data[at] ^= bit;
			summary = summarise(file.data, file.size);
			vector_deinit(&summary.records);
			file.data[at] ^= bit;
		}
	}
}

/* Values that affect sizes: all ones, the sign bit, and 0, at every aligned position. */
static void words_overwritten(void **state)
{
	static const uint64_t words[] = { UINT64_MAX, 1ULL << 63, 0, 0xffffffff00000008 };

	(void)state;
	for (size_t i = 0; i < RECORDINGS; i++) {
		_cleanup_buffer_ struct buffer file;

		read_golden(recordings[i], &file);
		for (size_t at = 0; at + 8 <= file.size; at += 8) {
			uint64_t saved;

			memcpy(&saved, file.data + at, 8);
			for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++) {
				struct summary summary;

				memcpy(file.data + at, &words[w], 8);
				summary = summarise(file.data, file.size);
				vector_deinit(&summary.records);
			}
			memcpy(file.data + at, &saved, 8);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_off_at_every_byte),
		cmocka_unit_test(one_bit_turned_over),
		cmocka_unit_test(words_overwritten),
	};

	if (!HAVE_ZSTD)
		part_skipped("compressed recordings", "this build has no zstd");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
