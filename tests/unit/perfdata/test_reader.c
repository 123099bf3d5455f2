/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cases that stock perf on one machine does not produce: recordings that are damaged, truncated,
 * killed, or made as perf would on another machine, one case after another.
 */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "perfdata/reader_state.h"
#include "perfdata/recording.h"

static const struct test_event one_event = {
	.attr = { .type = PERF_TYPE_SOFTWARE, .sample_type = SIMPLE_TYPE, .sample_id_all = 1 },
	.ids = { 5, 6 },
	.id_count = 2,
};

static struct perfdata_reader *open_bytes(const struct buffer *bytes)
{
	struct perfdata_reader *reader = NULL;

	assert_no_error(perfdata_reader_open_memory(bytes->data, bytes->size, "test", &reader));
	return reader;
}

/* Reads until something other than a record comes; counts samples that can be decoded. */
static enum perfdata_status read_all(struct perfdata_reader *reader, unsigned *ret_samples)
{
	struct perfdata_record record;
	struct perfdata_decoded decoded;
	enum perfdata_status status;

	*ret_samples = 0;
	while ((status = perfdata_reader_next(reader, &record)) == PERFDATA_RECORD)
		*ret_samples += perfdata_reader_decode(reader, &record, &decoded);
	return status;
}

static void assert_reads(const struct buffer *bytes, unsigned want_samples, bool want_truncated)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = open_bytes(bytes);
	unsigned samples;

	for (int pass = 0; pass < 2; pass++) {
		assert_int_equal(read_all(reader, &samples), PERFDATA_END);
		assert_int_equal(samples, want_samples);
		assert_int_equal(perfdata_reader_truncated(reader), want_truncated);
		assert_null(perfdata_reader_error(reader));
		perfdata_reader_rewind(reader);
	}
}

/* WANT must be in the message. */
static void assert_bad(const struct buffer *bytes, unsigned want_samples, const char *want)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = open_bytes(bytes);
	struct perfdata_record record;
	unsigned samples;

	for (int pass = 0; pass < 2; pass++) {
		assert_null(perfdata_reader_error(reader));
		assert_int_equal(read_all(reader, &samples), PERFDATA_BAD);
		assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_BAD);
		assert_int_equal(samples, want_samples);
		assert_non_null(perfdata_reader_error(reader));
		if (!strstr(error_message(perfdata_reader_error(reader)), want))
			fail_msg("not in the message: %s: %s", want,
				 error_message(perfdata_reader_error(reader)));
		perfdata_reader_rewind(reader);
	}
}

static void assert_refused(const void *data, size_t size, const char *want)
{
	struct perfdata_reader *reader = NULL;
	_cleanup_error_ struct error *error =
		perfdata_reader_open_memory(data, size, "x", &reader);

	assert_non_null(error);
	assert_null(reader);
	if (!strstr(error_message(error), want))
		fail_msg("not in the message: %s: %s", want, error_message(error));
}

static void refuses_foreign_files(void **state)
{
	static const char text[200] = "root:x:0:0:root:/root:/bin/bash\n";
	struct perfdata_reader *reader;
	_cleanup_error_ struct error *error = NULL;

	(void)state;
	assert_refused(NULL, 0, "'x' is empty");
	assert_refused(text, sizeof(text), "'x' is not a perf.data file");
	assert_refused("PERF", 4, "'x' is not a perf.data file");
	assert_refused("PERFILE2", 8, "'x' is not a perf.data file");
	assert_refused("PERFILE2\150\0\0\0\0\0\0\0", 16, "ends within its header");
	assert_refused("PERFILE2\77\0\0\0\0\0\0\0", 16, "its own size as 63 bytes");
	assert_refused("PERFFILE\150\0\0\0\0\0\0\0", 16, "older than Linux 3.5");
	error = perfdata_reader_open("/nonexistent", &reader);
	assert_int_equal(error_code(error), ERROR_NOT_FOUND);
	assert_non_null(error_hint_text(error));
	error_destroy(error);
	error = perfdata_reader_open("/proc/self", &reader); /* a folder */
	assert_int_equal(error_code(error), ERROR_NOT_FOUND);
	assert_non_null(error_hint_text(error));
}

static void refuses_headers_that_cannot_be(void **state)
{
	struct format_header header = {
		.magic = FORMAT_MAGIC, .size = sizeof(header), .attr_size = 144,
		.attrs = { 104, 144 }, .data = { 248, 0 },
	};
	uint8_t bytes[512] = { 0 };
	struct format_header *wrong = (struct format_header *)bytes;
	uint64_t *ids = (uint64_t *)(bytes + 104 + 128); /* offset and size */

	(void)state;
	memcpy(bytes, &header, sizeof(header));
	wrong->attr_size = 0;
	assert_refused(bytes, sizeof(bytes), "0 bytes each");
	wrong->attr_size = UINT64_MAX;
	assert_refused(bytes, sizeof(bytes), "18446744073709551615 bytes each");
	wrong->attr_size = 144;
	wrong->attrs.offset = UINT64_MAX - 10;
	assert_refused(bytes, sizeof(bytes), "outside");
	wrong->attrs = (struct format_section){ 104, 0 };
	assert_refused(bytes, sizeof(bytes), "no events");
	wrong->attrs = header.attrs;
	ids[0] = 500, ids[1] = 16;
	assert_refused(bytes, sizeof(bytes), "outside");
	ids[1] = UINT64_MAX;
	assert_refused(bytes, sizeof(bytes), "more ids than");
}

static void stops_at_records_that_cannot_be(void **state)
{
	_cleanup_buffer_ struct buffer records, bytes;

	(void)state;
	for (uint16_t size = 0; size < 8; size++) {
		struct perf_event_header wrong = { .type = PERF_RECORD_SAMPLE, .size = size };
		_cleanup_free_ char *want = NULL;

		buffer_init(&records, RECORDING_MAX_BYTES);
		buffer_init(&bytes, RECORDING_MAX_BYTES);
		put_words(&records, PERF_RECORD_SAMPLE, 1, 5, 0x1000);
		buffer_append(&records, &wrong, sizeof(wrong));
		put_words(&records, PERF_RECORD_SAMPLE, 1, 5, 0x2000);
		put_recording(&bytes, &one_event, 1, &records);
		want = memory_printf("'test' at byte %zu: bad record size: %u",
				     104 + 144 + 32 + (size_t)24, size);
		assert_bad(&bytes, 1, want);
		buffer_deinit(&records);
		buffer_deinit(&bytes);
	}
}

static void reads_what_a_killed_recorder_left(void **state)
{
	_cleanup_buffer_ struct buffer records, bytes;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	for (int i = 0; i < 10; i++)
		put_words(&records, PERF_RECORD_SAMPLE, 1, 5, 0x1000 + i);
	put_file_header(&bytes, &one_event, 1, 0); /* perf: the size is written at the end */
	buffer_append(&bytes, records.data, records.size);
	assert_reads(&bytes, 10, true);
	bytes.size -= 1; /* in the middle of a record */
	assert_reads(&bytes, 9, true);

	/* The header claims more than there is. */
	buffer_clear(&bytes);
	put_file_header(&bytes, &one_event, 1, records.size + 1000);
	buffer_append(&bytes, records.data, records.size);
	assert_reads(&bytes, 10, true);
	/* And less: it was flushed before the end. */
	((struct format_header *)bytes.data)->data.size = 5 * 24;
	assert_reads(&bytes, 5, false);
	/* An offset far past the end. */
	((struct format_header *)bytes.data)->data.offset = UINT64_MAX - 5;
	assert_reads(&bytes, 0, true);
}

static void put_string(struct buffer *out, const char *text)
{
	buffer_append_u32(out, 64);
	buffer_append_string(out, text);
	for (size_t i = strlen(text); i < 64; i++)
		buffer_append_u8(out, 0);
}

/* A finished recording without records: hostname, CPUs, and symbols of two machines. */
/* A table of five bytes; the reader does not know kind 4. */
static void put_symbols(struct buffer *out, uint32_t pid, uint32_t kind)
{
	buffer_append_u32(out, 3 * 8 + 4 + 4 + 4 + 3 + 2); /* the part, with 2 extra bytes */
	buffer_append_u32(out, pid);
	buffer_append_u32(out, kind);
	buffer_append_u64(out, 100);
	buffer_append_u64(out, kind ? 0 : 200);
	buffer_append_u32(out, 4);
	buffer_append_string(out, "/bin");
	buffer_append_u32(out, 3);
	buffer_append(out, "\x01\x02\x03??", 5);
	buffer_pad(out, 8);
	buffer_append_u64(out, 5);
	for (int i = 0; i < 5; i++)
		buffer_append_u8(out, 'A' + pid);
	buffer_pad(out, 8);
}

static void put_finished(struct buffer *out)
{
	_cleanup_buffer_ struct buffer hostname, symbols;
	uint64_t table = sizeof(struct format_header) + 144 + 32;
	const uint32_t cpus[2] = { 8, 6 }; /* available, online */
	struct format_section sections[3];
	struct format_header *header;

	buffer_init(&hostname, 4096);
	buffer_init(&symbols, 4096);
	put_string(&hostname, "vmhost");
	for (uint32_t pid = 0; pid < 3; pid++)
		put_symbols(&symbols, pid, pid == 1 ? 4 : pid / 2);
	put_file_header(out, &one_event, 1, 0);
	header = (struct format_header *)out->data;
	header->features[0] = 1ULL << FEATURE_HOSTNAME | 1ULL << FEATURE_NRCPUS;
	header->features[3] = 1ULL << (FEATURE_SYMBOLS - 192);
	sections[0] = (struct format_section){ table + sizeof(sections), hostname.size };
	sections[1] = (struct format_section){ sections[0].offset + hostname.size, sizeof(cpus) };
	sections[2] = (struct format_section){ sections[1].offset + sizeof(cpus), symbols.size };
	buffer_append(out, sections, sizeof(sections));
	buffer_append(out, hostname.data, hostname.size);
	buffer_append(out, cpus, sizeof(cpus));
	buffer_append(out, symbols.data, symbols.size);
}

static void tells_finished_from_killed(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct perfdata_symbols table;
	const void *data;
	unsigned samples;
	size_t size;

	(void)state;
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	put_finished(&bytes);
	reader = open_bytes(&bytes);
	assert_int_equal(read_all(reader, &samples), PERFDATA_END);
	assert_false(perfdata_reader_truncated(reader));
	assert_string_equal(perfdata_reader_features(reader)->hostname, "vmhost");
	assert_string_equal(perfdata_reader_features(reader)->cmdline, "");
	assert_int_equal(perfdata_reader_features(reader)->cpus_available, 8);
	assert_int_equal(perfdata_reader_features(reader)->cpus_online, 6);
	assert_int_equal(perfdata_reader_symbols_count(reader), 2);
	table = perfdata_reader_symbols(reader, 0);
	assert_int_equal(table.kind, PERFDATA_SYMBOLS_KERNEL);
	assert_int_equal(table.from_ns, 100);
	assert_int_equal(table.until_ns, 200);
	table = perfdata_reader_symbols(reader, 1);
	assert_int_equal(table.machine_pid, 2);
	assert_int_equal(table.kind, PERFDATA_SYMBOLS_FILE);
	assert_true(table.until_ns == UINT64_MAX);
	assert_string_equal(table.path, "/bin");
	assert_int_equal(table.build_id_bytes, 3);
	assert_memory_equal(table.build_id, "\x01\x02\x03", 3);
	assert_no_error(perfdata_reader_load_symbols(reader, 1, &data, &size));
	assert_int_equal(size, 5);
	assert_memory_equal(data, "CCCCC", 5);
	assert_null(perfdata_reader_inventory(reader));
}

/* A table or section outside the file is left out, and reported. */
static void passes_over_features_outside_of_the_file(void **state)
{
	_cleanup_buffer_ struct buffer bytes;
	struct format_section *sections;
	uint64_t table = sizeof(struct format_header) + 144 + 32;

	(void)state;
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	put_finished(&bytes);
	sections = (struct format_section *)(bytes.data + table);
	sections[2].size = UINT64_MAX - sections[2].offset;
	assert_reads(&bytes, 0, true);
	sections[2].offset = UINT64_MAX;
	assert_reads(&bytes, 0, true);
}

/* A big-endian 32-bit machine: its feature bits are an array of 32-bit words. */
static void reads_feature_bits_of_32_bit_machines(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct format_header *header;

	(void)state;
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	assert_no_error(file_read("tests/golden/perfdata/big-endian.data", &bytes));
	header = (struct format_header *)bytes.data;
	for (int i = 0; i < 4; i++)
		header->features[i] = header->features[i] << 32 | header->features[i] >> 32;
	reader = open_bytes(&bytes);
	assert_string_equal(perfdata_reader_features(reader)->arch, "x86_64");
	assert_int_equal(perfdata_reader_features(reader)->cpus_online, 2);
	assert_true(perfdata_reader_features(reader)->build_id_count > 0);
}

static void names_events_that_have_no_name(void **state)
{
	static const struct {
		struct perf_event_attr attr;
		const char *name;
	} cases[] = {
		{ { .type = PERF_TYPE_HARDWARE, .config = 0, .exclude_guest = 1 }, "cycles" },
		{ { .type = PERF_TYPE_HARDWARE, .config = 0 }, "cycles:HG" },
		{ { .type = PERF_TYPE_HARDWARE, .config = 9, .exclude_kernel = 1,
		    .exclude_hv = 1 }, "ref-cycles:u" },
		{ { .type = PERF_TYPE_HARDWARE, .exclude_kernel = 1, .exclude_guest = 1 },
		  "cycles:uhH" },
		{ { .type = PERF_TYPE_HARDWARE, .exclude_user = 1, .exclude_hv = 1,
		    .precise_ip = 2 }, "cycles:kpp" },
		{ { .type = PERF_TYPE_HARDWARE, .precise_ip = 1 }, "cycles:p" },
		{ { .type = PERF_TYPE_HARDWARE, .exclude_host = 1 }, "cycles:G" },
		{ { .type = PERF_TYPE_HARDWARE, .config = 99, .exclude_guest = 1 },
		  "pmu-0/0x63/" },
		{ { .type = PERF_TYPE_SOFTWARE, .config = 2, .exclude_guest = 1 },
		  "page-faults" },
		{ { .type = PERF_TYPE_RAW, .config = 0x1a8, .exclude_guest = 1 }, "r1a8" },
		{ { .type = PERF_TYPE_HW_CACHE, .config = 0x10000, .exclude_guest = 1 },
		  "L1-dcache-load-misses" },
		{ { .type = PERF_TYPE_HW_CACHE, .config = 0x0103, .exclude_guest = 1 },
		  "dTLB-stores" },
		{ { .type = PERF_TYPE_HW_CACHE, .config = 0x0200, .exclude_guest = 1 },
		  "L1-dcache-prefetches" },
		{ { .type = PERF_TYPE_HW_CACHE, .config = 0xffffff, .exclude_guest = 1 },
		  "pmu-3/0xffffff/" },
		{ { .type = PERF_TYPE_TRACEPOINT, .config = 174 }, "tracepoint-174" },
		{ { .type = PERF_TYPE_BREAKPOINT, .bp_addr = 0x1000, .bp_type = 3,
		    .exclude_guest = 1 }, "mem:0x1000:rw" },
		{ { .type = 23, .config = 0x11, .exclude_guest = 1 }, "pmu-23/0x11/" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_free_ char *name = perfdata_attr_name(&cases[i].attr);

		assert_string_equal(name, cases[i].name);
	}
}

/* The payload after a record is not read as records. */
static void passes_over_payloads(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct perf_event_attr attr = one_event.attr;
	unsigned samples;

	(void)state;
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	attr.size = sizeof(attr);
	put_pipe_header(&bytes);
	put_record(&bytes, RECORD_HEADER_ATTR, 0, &attr, sizeof(attr));
	put_words(&bytes, RECORD_AUXTRACE, 0, 16, 0, 0, 0, 0);
	buffer_append(&bytes, "not records here", 16);
	put_record(&bytes, RECORD_HEADER_TRACING_DATA, 0, &(uint32_t){ 24 }, 4);
	buffer_append(&bytes, "formats of tracepoints\0\0", 24);
	put_words(&bytes, PERF_RECORD_SAMPLE, 1, 5, 0x1000);
	assert_reads(&bytes, 1, false);
	reader = open_bytes(&bytes);
	assert_int_equal(perfdata_reader_event_count(reader), 1);
	assert_int_equal(perfdata_reader_features(reader)->tracing_data_bytes, 24);
	assert_string_equal(perfdata_reader_features(reader)->tracing_data,
			    "formats of tracepoints");

	put_words(&bytes, RECORD_AUXTRACE, 0, UINT64_MAX, 0, 0, 0, 0);
	buffer_append(&bytes, "cut", 3);
	assert_reads(&bytes, 1, true);
	assert_int_equal(read_all(reader, &samples), PERFDATA_END);
}

static void reads_from_standard_input(void **state)
{
	_cleanup_close_ int saved = dup(STDIN_FILENO);
	_cleanup_buffer_ struct buffer bytes, records;

	(void)state;
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	buffer_init(&records, RECORDING_MAX_BYTES);
	for (int i = 0; i < 100; i++)
		put_words(&records, PERF_RECORD_SAMPLE, 1, 6, 0x1000 + i);
	put_recording(&bytes, &one_event, 1, &records);
	for (int pass = 0; pass < 2; pass++) {
		_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
		unsigned samples;
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		assert_no_error(file_write_all(fds[1], bytes.data, bytes.size, "pipe"));
		close(fds[1]);
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		assert_no_error(perfdata_reader_open("-", &reader));
		for (int again = 0; again < 2; again++) {
			assert_int_equal(read_all(reader, &samples), PERFDATA_END);
			assert_int_equal(samples, 100);
			perfdata_reader_rewind(reader);
		}
	}
	dup2(saved, STDIN_FILENO);
}

static void takes_build_ids_of_any_size(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct {
		int32_t pid;
		uint8_t build_id[20], size, reserved[3];
		char path[24];
	} body = { .pid = -1, .build_id = { 1, 2, 3, 4 }, .size = 4, .path = "[kernel.kallsyms]" };
	const struct perfdata_features *features;
	struct perfdata_record record;

	(void)state;
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	put_pipe_header(&bytes);
	put_record(&bytes, RECORD_HEADER_BUILD_ID,
		   PERF_RECORD_MISC_GUEST_KERNEL | FORMAT_MISC_BUILD_ID_SIZE, &body, sizeof(body));
	put_record(&bytes, RECORD_HEADER_BUILD_ID, PERF_RECORD_MISC_USER, &body, sizeof(body));
	body.size = 21;
	put_record(&bytes, RECORD_HEADER_BUILD_ID, FORMAT_MISC_BUILD_ID_SIZE, &body, sizeof(body));
	reader = open_bytes(&bytes);
	features = perfdata_reader_features(reader);
	assert_int_equal(features->build_id_count, 2);
	assert_int_equal(features->build_ids[0].size, 4);
	assert_int_equal(features->build_ids[0].misc, PERF_RECORD_MISC_GUEST_KERNEL);
	assert_int_equal(features->build_ids[0].pid, UINT32_MAX);
	assert_string_equal(features->build_ids[0].path, "[kernel.kallsyms]");
	assert_int_equal(features->build_ids[1].size, 20);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_foreign_files),
		cmocka_unit_test(refuses_headers_that_cannot_be),
		cmocka_unit_test(stops_at_records_that_cannot_be),
		cmocka_unit_test(reads_what_a_killed_recorder_left),
		cmocka_unit_test(tells_finished_from_killed),
		cmocka_unit_test(passes_over_features_outside_of_the_file),
		cmocka_unit_test(reads_feature_bits_of_32_bit_machines),
		cmocka_unit_test(names_events_that_have_no_name),
		cmocka_unit_test(passes_over_payloads),
		cmocka_unit_test(reads_from_standard_input),
		cmocka_unit_test(takes_build_ids_of_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
