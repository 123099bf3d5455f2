/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a recording: every record is in exactly one of them. */
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/recording.h"

#define SAMPLES 100000 /* of 32 to 88 bytes: six MB */

static const struct test_event event = {
	.attr = { .type = PERF_TYPE_SOFTWARE, .sample_type = SIMPLE_TYPE | PERF_SAMPLE_CALLCHAIN },
	.ids = { 7 },
	.id_count = 1
};

/* Samples with ascending addresses from FIRST, and chains of various lengths. */
static void put_samples(struct buffer *out, uint64_t first, uint64_t count)
{
	uint64_t words[3 + 7] = { 7 };

	for (uint64_t i = 0; i < count; i++) {
		uint64_t chain = (i * i + i / 3) % 8;

		words[1] = first + i;
		words[2] = chain;
		put_record(out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words,
			   (3 + chain) * sizeof(*words));
		if (i % 1000 == 0) /* with other records in between */
			put_words(out, PERF_RECORD_LOST, 0, 7, 1, 7);
	}
}

static void cut(struct perfdata_reader *reader)
{
	struct perfdata_record record;

	do
		perfdata_reader_cut(reader);
	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD);
	perfdata_reader_cut(reader);
	perfdata_reader_rewind(reader);
}

/* Reads the samples of part NUMBER, none of which may have been seen before. */
static uint64_t read_part(struct perfdata_reader *reader, size_t number, bool plain, bool *seen,
			  uint64_t samples)
{
	struct perfdata_reader *part = perfdata_reader_open_part(reader, number);
	struct perfdata_decoded decoded;
	struct perfdata_record record;
	uint64_t count = 0;

	for (;;) {
		if (!plain || !perfdata_reader_next_plain(part, &decoded)) {
			if (perfdata_reader_next(part, &record) != PERFDATA_RECORD)
				break;
			if (record.type != PERF_RECORD_SAMPLE)
				continue;
			assert_true(perfdata_reader_decode(part, &record, &decoded));
		}
		assert_true(decoded.sample.ip < samples);
		assert_false(seen[decoded.sample.ip]);
		assert_non_null(decoded.id);
		seen[decoded.sample.ip] = true;
		count++;
	}
	assert_null(perfdata_reader_error(part));
	perfdata_reader_close_part(reader, part, number);
	return count;
}

/* All parts, the last one first: they do not depend on each other. */
static void read_parts(struct perfdata_reader *reader, uint64_t samples)
{
	for (int plain = 0; plain < 2; plain++) {
		bool *seen = calloc(samples, sizeof(*seen));
		uint64_t count = 0;

		for (size_t i = perfdata_reader_part_count(reader); i-- > 0;)
			count += read_part(reader, i, plain, seen, samples);
		assert_int_equal(count, samples);
		free(seen);
	}
}

/* A recording of SAMPLES, without its last MISSING bytes. */
struct opened {
	struct buffer records, bytes;
	struct perfdata_reader *reader;
};

static void open_recording(struct opened *opened, size_t missing)
{
	buffer_init(&opened->records, RECORDING_MAX_BYTES);
	buffer_init(&opened->bytes, RECORDING_MAX_BYTES);
	put_samples(&opened->records, 0, SAMPLES);
	put_recording(&opened->bytes, &event, 1, &opened->records);
	assert_no_error(perfdata_reader_open_memory(
		opened->bytes.data, opened->bytes.size - missing, "test", &opened->reader));
	cut(opened->reader);
}

static void close_recording(struct opened *opened)
{
	perfdata_reader_close(opened->reader);
	buffer_deinit(&opened->records);
	buffer_deinit(&opened->bytes);
}

static void each_record_is_in_one_part(void **state)
{
	struct opened opened;

	(void)state;
	open_recording(&opened, 0);
	/* A part ends with the first record past its MB. */
	assert_int_equal(perfdata_reader_part_count(opened.reader),
			 1 + opened.records.size / (1 << 20));
	read_parts(opened.reader, SAMPLES);
	assert_false(perfdata_reader_truncated(opened.reader));
	close_recording(&opened);
}

static void the_last_part_ends_where_the_file_does(void **state)
{
	struct opened opened;

	(void)state;
	open_recording(&opened, 8);
	assert_true(perfdata_reader_part_count(opened.reader) > 3);
	read_parts(opened.reader, SAMPLES - 1);
	assert_true(perfdata_reader_truncated(opened.reader));
	close_recording(&opened);
}

static void write_bytes(const char *folder, const char *name, const struct buffer *bytes)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	if (bytes->size)
		assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
	fclose(file);
}

/* Also for a file without records, and for one with a single record. */
static void files_of_a_directory_have_parts_of_their_own(void **state)
{
	static const char *const names[] = { "data", "data.0", "data.1", "data.2" };
	const uint64_t counts[] = { SAMPLES / 2, 0, 1, SAMPLES / 2 - 1 };
	char folder[] = "/tmp/perfvisor-part-XXXXXX", path[128];
	struct perfdata_reader *reader;
	uint64_t first = 0;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < 4; i++) {
		struct buffer records, bytes;

		buffer_init(&records, RECORDING_MAX_BYTES);
		buffer_init(&bytes, RECORDING_MAX_BYTES);
		put_samples(&records, first, counts[i]);
		put_recording(&bytes, &event, 1, &records);
		write_bytes(folder, names[i], i ? &records : &bytes);
		first += counts[i];
		buffer_deinit(&records);
		buffer_deinit(&bytes);
	}
	assert_no_error(perfdata_reader_open(folder, &reader));
	cut(reader);
	assert_in_range(perfdata_reader_part_count(reader), 4, 12);
	read_parts(reader, SAMPLES);
	perfdata_reader_close(reader);
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_record_is_in_one_part),
		cmocka_unit_test(the_last_part_ends_where_the_file_does),
		cmocka_unit_test(files_of_a_directory_have_parts_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
