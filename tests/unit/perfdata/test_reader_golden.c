/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings made by stock perf (tests/golden/make-fixtures.sh), read here and compared with perf's
 * own output: every record's position, size, type and time, every sample with its call chain,
 * events by name, features and build-ids.
 */
#include "test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "base/vector.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"

#define FOLDER "tests/golden/perfdata/"

struct lines {
	VECTOR(char *) all;
};

static void lines_deinit(struct lines *lines)
{
	for (size_t i = 0; i < lines->all.count; i++)
		free(lines->all.items[i]);
	vector_deinit(&lines->all);
}

static int compare_lines(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

#define add_line(lines, ...) vector_append(&(lines)->all, memory_printf(__VA_ARGS__))

static const char *const type_names[] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[RECORD_HEADER_ATTR] = "ATTR",
	[RECORD_HEADER_TRACING_DATA] = "TRACING_DATA",
	[RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
	[RECORD_ID_INDEX] = "ID_INDEX",
	[RECORD_THREAD_MAP] = "THREAD_MAP",
	[RECORD_CPU_MAP] = "CPU_MAP",
	[RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
	[RECORD_TIME_CONV] = "TIME_CONV",
	[RECORD_HEADER_FEATURE] = "FEATURE",
	[RECORD_FINISHED_INIT] = "FINISHED_INIT",
};

static void add_sample(struct lines *lines, const struct perfdata_record *record,
		       const struct perfdata_sample *sample)
{
	char *line = memory_printf("sample %#" PRIx64 " %#x %" PRIu64 " %#x %u/%u %#" PRIx64
				   " %" PRIu64 " %#" PRIx64,
				   record->file_offset, record->size, sample->time_ns,
				   record->misc, sample->pid, sample->tid, sample->ip,
				   sample->period, sample->addr);

	for (uint64_t i = 0; i < sample->callchain_count; i++) {
		char *longer = memory_printf("%s %016" PRIx64, line, sample->callchain[i]);

		free(line);
		line = longer;
	}
	vector_append(&lines->all, line);
}

static void add_records(struct lines *lines, struct perfdata_reader *reader)
{
	uint64_t event_samples[16] = { 0 };
	struct perfdata_record record;
	struct perfdata_decoded decoded;
	enum perfdata_status status;

	while ((status = perfdata_reader_next(reader, &record)) == PERFDATA_RECORD) {
		uint64_t time_ns = 0;

		if (record.type == PERF_RECORD_SAMPLE) {
			assert_true(perfdata_reader_decode(reader, &record, &decoded));
			add_sample(lines, &record, &decoded.sample);
			event_samples[decoded.event_index]++;
			continue;
		}
		if (perfdata_reader_decode_id(reader, &record, &decoded))
			time_ns = decoded.sample.time_ns;
		assert_true(record.type < sizeof(type_names) / sizeof(*type_names));
		assert_non_null(type_names[record.type]);
		add_line(lines, "record %#" PRIx64 " %#x %s %" PRIu64, record.file_offset,
			 record.size, type_names[record.type], time_ns);
	}
	assert_int_equal(status, PERFDATA_END);
	assert_false(perfdata_reader_truncated(reader));
	for (size_t i = 0; i < perfdata_reader_event_count(reader); i++)
		if (event_samples[i])
			add_line(lines, "event %" PRIu64 " %s", event_samples[i],
				 perfdata_reader_event(reader, i)->name);
}

static void add_features(struct lines *lines, const struct perfdata_features *features)
{
	uint64_t first_us = features->first_sample_ns / 1000;
	uint64_t last_us = features->last_sample_ns / 1000;

	add_line(lines, "feature hostname: %s", features->hostname);
	add_line(lines, "feature os release: %s", features->osrelease);
	add_line(lines, "feature perf version: %s", features->version);
	add_line(lines, "feature arch: %s", features->arch);
	add_line(lines, "feature nrcpus online: %u", features->cpus_online);
	add_line(lines, "feature nrcpus avail: %u", features->cpus_available);
	add_line(lines, "feature cpudesc: %s", features->cpudesc);
	add_line(lines, "feature cpuid: %s", features->cpuid);
	add_line(lines, "feature total memory: %" PRIu64 " kB", features->total_memory_kb);
	add_line(lines, "feature cmdline: %s", features->cmdline);
	add_line(lines, "feature time of first sample: %" PRIu64 ".%06" PRIu64,
		 first_us / 1000000, first_us % 1000000);
	add_line(lines, "feature time of last sample: %" PRIu64 ".%06" PRIu64,
		 last_us / 1000000, last_us % 1000000);
	for (size_t i = 0; i < features->build_id_count; i++) {
		const struct perfdata_build_id *build_id = &features->build_ids[i];
		char hex[41] = "";

		for (size_t byte = 0; byte < build_id->size; byte++)
			snprintf(hex + 2 * byte, 3, "%02x", build_id->bytes[byte]);
		add_line(lines, "build-id %s %s", hex, build_id->path);
	}
}

/* Lines for which only perf or only the reader provides data. */
static bool not_compared(const char *line)
{
	return strstr(line, "feature pmu mappings") || strstr(line, "feature compressed");
}

static void read_expected(const char *name, struct lines *ret)
{
	_cleanup_free_ char *path = memory_printf(FOLDER "%s.expected", name);
	_cleanup_buffer_ struct buffer text;
	char *rest, *line;

	buffer_init(&text, 1 << 20);
	assert_no_error(file_read(path, &text));
	rest = (char *)text.data;
	while ((line = strsep(&rest, "\n")))
		if (*line && !not_compared(line))
			add_line(ret, "%s", line);
	qsort(ret->all.items, ret->all.count, sizeof(char *), compare_lines);
}

/* We must have every line of perf's, and no additional records, samples or events. */
static void compare(const char *name, const struct lines *expected, const struct lines *actual)
{
	size_t e = 0, a = 0;

	while (e < expected->all.count || a < actual->all.count) {
		const char *want = e < expected->all.count ? expected->all.items[e] : "\377";
		const char *have = a < actual->all.count ? actual->all.items[a] : "\377";
		int order = strcmp(want, have);

		if (order < 0)
			fail_msg("%s: perf has this, the reader has not: %s", name, want);
		/* perf leaves out features that are not in the file; here they are empty. */
		if (order > 0 && strncmp(have, "feature", 7) && strncmp(have, "build-id", 8))
			fail_msg("%s: the reader has this, perf has not: %s", name, have);
		e += order <= 0;
		a += order >= 0;
	}
}

static void check(const char *name)
{
	_cleanup_free_ char *path = memory_printf(FOLDER "%s.data", name);
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	struct lines expected = { 0 };

	read_expected(name, &expected);
	assert_true(expected.all.count > 20);
	assert_no_error(perfdata_reader_open(path, &reader));
	/*
	 * Twice: after rewinding, everything must be the same, and nothing must be taken in twice.
	 */
	for (int pass = 0; pass < 2; pass++) {
		struct lines actual = { 0 };

		add_records(&actual, reader);
		assert_int_equal(perfdata_reader_offset(reader), perfdata_reader_bytes(reader));
		add_features(&actual, perfdata_reader_features(reader));
		qsort(actual.all.items, actual.all.count, sizeof(char *), compare_lines);
		compare(name, &expected, &actual);
		lines_deinit(&actual);
		perfdata_reader_rewind(reader);
	}
	lines_deinit(&expected);
}

#define GOLDEN(test, name)                                                                         \
	static void test(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		check(name);                                                                       \
	}

GOLDEN(reads_a_file, "file")
GOLDEN(reads_two_events_with_chains, "chains")
GOLDEN(reads_samples_with_more_fields, "fields")
GOLDEN(reads_the_pipe_form, "pipe")
#if HAVE_ZSTD
GOLDEN(reads_compressed_records, "zstd")
GOLDEN(reads_a_compressed_pipe, "zstd-pipe")
#endif
GOLDEN(reads_a_directory, "directory")
GOLDEN(reads_tracepoints, "tracepoint")
GOLDEN(reads_perf_kvm_record, "kvm")
GOLDEN(reads_the_other_byte_order, "big-endian")
GOLDEN(reads_chains_of_the_other_byte_order, "big-endian-chains")
GOLDEN(reads_attrs_of_2009, "old-attr")
GOLDEN(reads_attrs_newer_than_this_build, "new-attr")

/* All fields of the attr must match those of the file from which this one was swapped. */
static void swaps_attrs(void **state)
{
	static const char *const pairs[][2] = { { "file", "big-endian" },
						{ "chains", "big-endian-chains" } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		_cleanup_perfdata_reader_ struct perfdata_reader *native = NULL, *swapped = NULL;
		_cleanup_free_ char *path = memory_printf(FOLDER "%s.data", pairs[i][0]);
		_cleanup_free_ char *other = memory_printf(FOLDER "%s.data", pairs[i][1]);

		assert_no_error(perfdata_reader_open(path, &native));
		assert_no_error(perfdata_reader_open(other, &swapped));
		assert_true(perfdata_reader_swap(native) != perfdata_reader_swap(swapped));
		assert_int_equal(perfdata_reader_event_count(native),
				 perfdata_reader_event_count(swapped));
		for (size_t e = 0; e < perfdata_reader_event_count(native); e++) {
			const struct perfdata_event *left = perfdata_reader_event(native, e);
			const struct perfdata_event *right = perfdata_reader_event(swapped, e);

			assert_memory_equal(&left->attr, &right->attr, sizeof(left->attr));
			assert_int_equal(left->id_count, right->id_count);
			assert_memory_equal(left->ids, right->ids,
					    left->id_count * sizeof(*left->ids));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_file),
		cmocka_unit_test(reads_two_events_with_chains),
		cmocka_unit_test(reads_samples_with_more_fields),
		cmocka_unit_test(reads_the_pipe_form),
#if HAVE_ZSTD
		cmocka_unit_test(reads_compressed_records),
		cmocka_unit_test(reads_a_compressed_pipe),
#endif
		cmocka_unit_test(reads_a_directory),
		cmocka_unit_test(reads_tracepoints),
		cmocka_unit_test(reads_perf_kvm_record),
		cmocka_unit_test(reads_the_other_byte_order),
		cmocka_unit_test(reads_chains_of_the_other_byte_order),
		cmocka_unit_test(reads_attrs_of_2009),
		cmocka_unit_test(reads_attrs_newer_than_this_build),
		cmocka_unit_test(swaps_attrs),
	};

	if (!HAVE_ZSTD)
		part_skipped("compressed recordings", "this build has no zstd");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
