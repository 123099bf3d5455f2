/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes: what comes back of them, how small tables that are alike become, and what foreign notes
 * can do.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "perfdata/writer/writer.h"
#include "recording.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME)
#define TABLE_BYTES 300000

struct fixture {
	char path[32];
	struct perfdata_writer *writer;
	struct perfdata_reader *reader;
};

static int set_up(void **state)
{
	struct fixture *fixture = memory_calloc(1, sizeof(*fixture));
	struct perfdata_event event = { .attr = { .type = PERF_TYPE_SOFTWARE,
						  .sample_type = SAMPLE_TYPE,
						  .sample_id_all = 1 },
					.name = (char *)"clock" };

	snprintf(fixture->path, sizeof(fixture->path), "/tmp/test_notes_XXXXXX");
	close(mkstemp(fixture->path));
	assert_no_error(perfdata_writer_create(fixture->path, &event, 1, 8, &fixture->writer));
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	perfdata_writer_destroy(fixture->writer);
	perfdata_reader_close(fixture->reader);
	unlink(fixture->path);
	free(fixture);
	return 0;
}

/* Reads all of what was flushed. */
static void read_file(struct fixture *fixture)
{
	struct perfdata_record record;

	perfdata_reader_close(take_pointer(fixture->reader));
	assert_no_error(perfdata_writer_flush(fixture->writer));
	assert_no_error(perfdata_reader_open(fixture->path, &fixture->reader));
	while (perfdata_reader_next(fixture->reader, &record) == PERFDATA_RECORD)
		;
	assert_null(perfdata_reader_error(fixture->reader));
}

static uint32_t store(struct fixture *fixture, uint32_t pid, const void *data, size_t size)
{
	struct perfdata_writer_symbols symbols = { .machine_pid = pid, .data = data, .size = size };
	uint32_t number;

	assert_no_error(perfdata_writer_symbols(fixture->writer, &symbols, &number));
	return number;
}

static void assert_table(struct fixture *fixture, size_t index, const void *wanted, size_t size)
{
	const void *data;
	size_t got;

	assert_no_error(perfdata_reader_load_symbols(fixture->reader, index, &data, &got));
	assert_int_equal(got, size);
	assert_memory_equal(data, wanted, size);
}

/* What does not compress. */
static uint8_t *random_bytes(uint32_t seed, size_t size)
{
	uint8_t *bytes = memory_alloc(size);

	for (size_t i = 0; i < size; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = seed >> 24;
	}
	return bytes;
}

/* Several records long, once more as it is, changed here and there, and another one. */
static void tables_that_are_alike_are_stored_once(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ uint8_t *first = random_bytes(1, TABLE_BYTES);
	_cleanup_free_ uint8_t *other = random_bytes(2, TABLE_BYTES);
	_cleanup_free_ uint8_t *like = memory_dup(first, TABLE_BYTES);
	uint64_t bytes[5];

	for (size_t i = 5000; i < TABLE_BYTES; i += 50000)
		like[i] ^= 1;
	bytes[0] = perfdata_writer_bytes(fixture->writer);
	store(fixture, 1, first, TABLE_BYTES);
	bytes[1] = perfdata_writer_bytes(fixture->writer);
	store(fixture, 2, first, TABLE_BYTES);
	bytes[2] = perfdata_writer_bytes(fixture->writer);
	store(fixture, 3, like, TABLE_BYTES);
	bytes[3] = perfdata_writer_bytes(fixture->writer);
	store(fixture, 4, other, TABLE_BYTES);
	bytes[4] = perfdata_writer_bytes(fixture->writer);
	assert_in_range(bytes[1] - bytes[0], TABLE_BYTES, TABLE_BYTES + 2000);
	assert_in_range(bytes[2] - bytes[1], 1, 300);
#if HAVE_ZSTD
	assert_in_range(bytes[3] - bytes[2], 1, 2000);
#endif
	assert_in_range(bytes[4] - bytes[3], TABLE_BYTES, TABLE_BYTES + 2000);

	read_file(fixture);
	assert_int_equal(perfdata_reader_symbols_count(fixture->reader), 4);
	for (int round = 0; round < 2; round++) {
		assert_table(fixture, 2, like, TABLE_BYTES);
		assert_table(fixture, 0, first, TABLE_BYTES);
		assert_table(fixture, 1, first, TABLE_BYTES);
		assert_table(fixture, 3, other, TABLE_BYTES);
		for (size_t i = 0; i < 4; i++)
			perfdata_reader_drop_symbols(fixture->reader, i);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(perfdata_reader_symbols(fixture->reader, i).machine_pid, i + 1);
}

static void only_what_is_new_is_written(void **state)
{
	static const uint8_t id[24] = { 1, 2, 3 };
	struct fixture *fixture = *state;
	struct perfdata_writer_build_id build_ids[] = { { "/bin/a", id, 20, 0, UINT32_MAX },
							{ "/bin/b", id, 20, 0, UINT32_MAX } };
	struct perfdata_writer_symbols symbols = { .data = "x", .size = 1, .path = "/bin/a",
						   .build_id = id, .build_id_bytes = 24 };
	uint64_t before;
	uint32_t number;

	assert_no_error(perfdata_writer_build_ids(fixture->writer, build_ids, 1));
	before = perfdata_writer_bytes(fixture->writer);
	assert_no_error(perfdata_writer_build_ids(fixture->writer, build_ids, 1));
	assert_error(perfdata_writer_symbols(fixture->writer, &symbols, &number), ERROR_BAD_DATA);
	assert_int_equal(perfdata_writer_bytes(fixture->writer), before);
	assert_no_error(perfdata_writer_build_ids(fixture->writer, build_ids, 2));
	read_file(fixture);
	assert_int_equal(perfdata_reader_features(fixture->reader)->build_id_count, 2);
	assert_string_equal(perfdata_reader_features(fixture->reader)->build_ids[1].path,
			    "/bin/b");
}

static void tables_hold_until_they_are_ended(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = store(fixture, 1, "one", 3), second = store(fixture, 1, "two", 3);

	read_file(fixture);
	assert_true(perfdata_reader_symbols(fixture->reader, 0).until_ns == UINT64_MAX);
	assert_no_error(perfdata_writer_symbols_until(fixture->writer, first, 77));
	assert_no_error(perfdata_writer_symbols_until(fixture->writer, second + 1, 78));
	read_file(fixture);
	assert_int_equal(perfdata_reader_symbols(fixture->reader, 0).until_ns, 77);
	assert_true(perfdata_reader_symbols(fixture->reader, 1).until_ns == UINT64_MAX);
}

static void the_inventory_comes_in_parts(void **state)
{
	struct fixture *fixture = *state;
	const struct perfdata_inventory *read;
	struct perfdata_inventory inventory;
	uint64_t before, begin_ns, end_ns;

	perfdata_inventory_init(&inventory);
	inventory.guest = inventory.guest_processes = true;
	perfdata_inventory_add(&inventory, 10, "web", "qemu")->counts.guest_user = 5;
	perfdata_inventory_add_special(&inventory, 3, PERFDATA_AT_EXIT);
	assert_no_error(perfdata_writer_inventory(fixture->writer, &inventory));
	perfdata_inventory_add(&inventory, 20, "db", "tinyvm");
	perfdata_inventory_add_special(&inventory, 9, PERFDATA_NESTED);
	inventory.vms.items[0].counts.guest_user = 6;
	free(inventory.vms.items[0].host_name);
	inventory.vms.items[0].host_name = memory_strdup("web.example");
	assert_no_error(perfdata_writer_inventory(fixture->writer, &inventory));
	before = perfdata_writer_bytes(fixture->writer);
	assert_no_error(perfdata_writer_inventory(fixture->writer, &inventory));
	assert_in_range(perfdata_writer_bytes(fixture->writer) - before, 1, 160);

	read_file(fixture);
	read = perfdata_reader_inventory(fixture->reader);
	assert_true(read->guest && read->guest_processes && !read->host);
	assert_int_equal(read->vms.count, 2);
	assert_string_equal(read->vms.items[0].host_name, "web.example");
	assert_int_equal(read->vms.items[0].counts.guest_user, 6);
	assert_string_equal(read->vms.items[1].name, "db");
	assert_int_equal(perfdata_inventory_special(read, 3), PERFDATA_AT_EXIT);
	assert_int_equal(perfdata_inventory_special(read, 9), PERFDATA_NESTED);
	assert_true(perfdata_reader_cut_off(fixture->reader, &begin_ns, &end_ns));
	assert_true(begin_ns > 1500000000000000000 && begin_ns <= end_ns);
	perfdata_inventory_deinit(&inventory);
}

/* A recording of one event with these records. */
static void open_records(struct fixture *fixture, const struct buffer *records, struct buffer *out)
{
	static const struct test_event event = {
		.attr = { .type = PERF_TYPE_SOFTWARE, .sample_type = SAMPLE_TYPE }
	};
	struct perfdata_record record;

	buffer_clear(out);
	put_recording(out, &event, 1, records);
	perfdata_reader_close(take_pointer(fixture->reader));
	assert_no_error(
		perfdata_reader_open_memory(out->data, out->size, "made", &fixture->reader));
	while (perfdata_reader_next(fixture->reader, &record) == PERFDATA_RECORD)
		;
}

static void put_piece(struct buffer *out, uint32_t kind, uint32_t number, uint32_t pieces,
		      const void *data, size_t size)
{
	struct format_note_piece piece = { kind, number, pieces, size };
	_cleanup_buffer_ struct buffer body;

	buffer_init(&body, 65536);
	buffer_append_u64(&body, FORMAT_EVENT_UPDATE_NOTE);
	buffer_append_u64(&body, 0);
	buffer_append(&body, &piece, sizeof(piece));
	buffer_append(&body, data, size);
	buffer_pad(&body, 8);
	put_record(out, RECORD_EVENT_UPDATE, 0, body.data, body.size);
}

/* "vmhost", as the feature has it */
static const char hostname[] = "\x08\0\0\0vmhost\0";

static void pieces_that_do_not_fit_together_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_buffer_ struct buffer records, bytes;
	uint64_t begin_ns, end_ns;

	buffer_init(&records, 1 << 20);
	buffer_init(&bytes, 1 << 20);
	put_piece(&records, FEATURE_HOSTNAME, 1, 2, hostname + 6, 6); /* the first is missing */
	put_piece(&records, FEATURE_HOSTNAME, 0, 3, hostname, 6);
	put_piece(&records, FEATURE_HOSTNAME, 2, 3, hostname + 6, 6); /* the second is */
	put_piece(&records, FEATURE_HOSTNAME, 0, 2, hostname, 6);
	put_piece(&records, FEATURE_ARCH, 1, 2, hostname + 6, 6); /* another note's */
	put_piece(&records, FEATURE_HOSTNAME, 0, 0, hostname, 12);
	put_piece(&records, FEATURE_HOSTNAME, 0, UINT32_MAX, hostname, 6);
	open_records(fixture, &records, &bytes);
	assert_string_equal(perfdata_reader_features(fixture->reader)->hostname, "");
	put_piece(&records, FEATURE_HOSTNAME, 0, 2, hostname, 6);
	put_piece(&records, FEATURE_HOSTNAME, 0, 2, hostname, 6); /* begun once more */
	put_piece(&records, FEATURE_HOSTNAME, 1, 2, hostname + 6, 6);
	open_records(fixture, &records, &bytes);
	assert_string_equal(perfdata_reader_features(fixture->reader)->hostname, "vmhost");
	assert_true(perfdata_reader_cut_off(fixture->reader, &begin_ns, &end_ns));
	put_piece(&records, NOTE_END, 0, 1, NULL, 0);
	open_records(fixture, &records, &bytes);
	assert_false(perfdata_reader_cut_off(fixture->reader, &begin_ns, &end_ns));
	assert_false(perfdata_reader_truncated(fixture->reader));
}

static void put_table(struct buffer *out, uint32_t number, uint64_t size, uint32_t base,
		      uint32_t coding, const char *stored)
{
	_cleanup_buffer_ struct buffer note;

	buffer_init(&note, 4096);
	buffer_append_u32(&note, number);
	buffer_append_u32(&note, 32); /* the head */
	buffer_append_u32(&note, 1);
	buffer_append_u32(&note, PERFDATA_SYMBOLS_KERNEL);
	buffer_append_u64(&note, 0);
	buffer_append_u64(&note, 0);
	buffer_append_u32(&note, 0);
	buffer_append_u32(&note, 0);
	buffer_append_u64(&note, size);
	buffer_append_u32(&note, base);
	buffer_append_u32(&note, coding);
	buffer_append_string(&note, stored);
	put_piece(out, NOTE_SYMBOLS, 0, 1, note.data, note.size);
}

static void impossible_tables_are_refused(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_buffer_ struct buffer records, bytes;
	const void *data;
	size_t size;

	buffer_init(&records, 1 << 20);
	buffer_init(&bytes, 1 << 20);
	put_table(&records, 1, 5, 0, TABLE_PLAIN, "plain");
	put_table(&records, 2, 5, 1, TABLE_SAME, "");
	put_table(&records, 3, 5, 2, TABLE_SAME, ""); /* a chain */
	put_table(&records, 4, 5, 4, TABLE_SAME, ""); /* itself */
	put_table(&records, 5, 5, 9, TABLE_ZSTD_LIKE, ""); /* nothing */
	put_table(&records, 6, 5, 0, 9, "");
	put_table(&records, 1, 5, 0, TABLE_PLAIN, "twice");
	put_table(&records, 7, (uint64_t)1 << 40, 0, TABLE_ZSTD, "");
	put_table(&records, 8, 6, 0, TABLE_PLAIN, "short");
	put_table(&records, 9, (uint64_t)1 << 30, 0, TABLE_ZSTD, "large");
	put_table(&records, 10, 100, 0, TABLE_ZSTD, "not zstd");
	open_records(fixture, &records, &bytes);
	assert_int_equal(perfdata_reader_symbols_count(fixture->reader), 5);
	assert_table(fixture, 0, "plain", 5);
	assert_table(fixture, 1, "plain", 5);
	for (size_t i = 2; i < 5; i++) {
		struct error *error =
			perfdata_reader_load_symbols(fixture->reader, i, &data, &size);

		assert_non_null(error);
		error_destroy(error);
	}
}

#define NOTES_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NOTES_TEST(tables_that_are_alike_are_stored_once),
		NOTES_TEST(only_what_is_new_is_written),
		NOTES_TEST(tables_hold_until_they_are_ended),
		NOTES_TEST(the_inventory_comes_in_parts),
		NOTES_TEST(pieces_that_do_not_fit_together_are_left_out),
		NOTES_TEST(impossible_tables_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
