/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer: its header byte by byte, reading its files back with the reader, and what is left on
 * disk after a failure. tests/cli/test_writer_perf.sh tests that stock perf reads the files.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/writer/writer.h"

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define MAX_IDS 4

struct fixture {
	char folder[32];
	char path[96];
	struct perfdata_event events[2];
	struct perfdata_id first_id;
	struct perfdata_writer *writer;
};

static int set_up(void **state)
{
	struct fixture *fixture = memory_calloc(1, sizeof(*fixture));

	snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/test_writer_XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	snprintf(fixture->path, sizeof(fixture->path), "%s/perf.data", fixture->folder);
	fixture->first_id = (struct perfdata_id){ .id = 40, .cpu = 3, .vcpu = PERFDATA_NO_VCPU };
	for (size_t i = 0; i < 2; i++)
		fixture->events[i] = (struct perfdata_event){
			.attr = { .type = PERF_TYPE_SOFTWARE,
				  .size = sizeof(struct perf_event_attr),
				  .config = i,
				  .sample_period = 77,
				  .sample_type = SAMPLE_TYPE,
				  .sample_id_all = 1 },
			.name = (char *)(i ? "second-event" : "first-event"),
		};
	fixture->events[0].ids = &fixture->first_id;
	fixture->events[0].id_count = 1;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char command[64];

	perfdata_writer_destroy(fixture->writer);
	snprintf(command, sizeof(command), "rm -rf %s", fixture->folder);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

static void create(struct fixture *fixture)
{
	assert_no_error(perfdata_writer_create(fixture->path, fixture->events, 2, MAX_IDS,
					       &fixture->writer));
	assert_no_error(perfdata_writer_flush(fixture->writer));
}

static struct error *append_sample(struct fixture *fixture, uint64_t id, uint64_t number)
{
	_cleanup_buffer_ struct buffer record;
	struct perfdata_sample sample = { .id = id,
					  .ip = 0xffffffff81000000 + number,
					  .time_ns = 1000 + number,
					  .pid = 10,
					  .tid = 11,
					  .cpu = 1,
					  .period = 77,
					  .misc = PERF_RECORD_MISC_GUEST_KERNEL };

	buffer_init(&record, 65536);
	assert_true(perfdata_sample_encode(&fixture->events[0].attr, &sample, &record));
	return perfdata_writer_append(fixture->writer, record.data, record.size);
}

static uint64_t add_id(struct fixture *fixture, size_t event_index, uint32_t machine_pid,
		       uint32_t vcpu)
{
	struct perfdata_id spec = {
		.machine_pid = machine_pid, .vcpu = vcpu, .tid = 1000 + vcpu, .cpu = UINT32_MAX
	};
	uint64_t id;

	assert_no_error(perfdata_writer_add_id(fixture->writer, event_index, &spec, &id));
	return id;
}

/* Counts the samples in the file; each must be the next of append_sample()'s. */
static uint64_t count_samples(struct fixture *fixture)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	struct perfdata_record record;
	enum perfdata_status status;
	uint64_t count = 0;

	assert_no_error(perfdata_reader_open(fixture->path, &reader));
	while ((status = perfdata_reader_next(reader, &record)) == PERFDATA_RECORD) {
		struct perfdata_decoded decoded;

		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		assert_true(perfdata_reader_decode(reader, &record, &decoded));
		assert_true(decoded.sample.ip == 0xffffffff81000000 + count);
		count++;
	}
	assert_int_equal(status, PERFDATA_END);
	return count;
}

static void test_header_is_as_perf_has_it(void **state)
{
	_cleanup_(file_unmap) struct mapped_file file = { 0 };
	struct fixture *fixture = *state;
	const size_t attr_bytes = 128 + 16;
	struct format_header header;
	struct format_section ids;
	struct perf_event_attr attr;
	uint64_t id;

	create(fixture);
	add_id(fixture, 1, 5, 0);
	assert_no_error(perfdata_writer_flush(fixture->writer));
	assert_no_error(file_map(fixture->path, &file));
	memcpy(&header, file.data, sizeof(header));
	assert_memory_equal(file.data, "PERFILE2", 8);
	assert_int_equal(header.size, 104);
	assert_int_equal(header.attr_size, attr_bytes);
	assert_int_equal(header.attrs.offset, 104);
	assert_int_equal(header.attrs.size, 2 * attr_bytes);
	assert_int_equal(header.data.offset, 104 + 2 * attr_bytes + 2 * MAX_IDS * 8);
	assert_int_equal(header.data.offset + header.data.size, file.size);
	assert_int_equal(header.features[0] | header.features[3], 0);
	memcpy(&attr, file.data + 104 + attr_bytes, 128);
	memcpy(&ids, file.data + 104 + attr_bytes + 128, sizeof(ids));
	assert_int_equal(attr.size, 128);
	assert_int_equal(attr.config, 1);
	assert_int_equal(ids.size, 8);
	memcpy(&id, file.data + ids.offset, sizeof(id));
	assert_int_equal(id, 41);
}

static void test_ids_come_back(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	struct fixture *fixture = *state;
	const struct perfdata_event *event;
	struct perfdata_record record;
	uint64_t ids[3];

	create(fixture);
	ids[0] = add_id(fixture, 0, 5000, 0);
	assert_no_error(perfdata_writer_flush(fixture->writer));
	ids[1] = add_id(fixture, 0, 6000, PERFDATA_NO_VCPU);
	ids[2] = add_id(fixture, 1, 5000, 1);
	assert_true(ids[0] > 40 && ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
	assert_no_error(perfdata_writer_flush(fixture->writer));
	assert_no_error(perfdata_reader_open(fixture->path, &reader));
	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD)
		;
	assert_int_equal(perfdata_reader_event_count(reader), 2);
	event = perfdata_reader_event(reader, 0);
	assert_int_equal(event->id_count, 3);
	assert_int_equal(event->ids[0].id, 40);
	assert_int_equal(event->ids[0].machine_pid, 0);
	assert_int_equal(event->ids[0].cpu, 3);
	assert_int_equal(event->ids[1].id, ids[0]);
	assert_int_equal(event->ids[1].machine_pid, 5000);
	assert_int_equal(event->ids[1].vcpu, 0);
	assert_int_equal(event->ids[1].tid, 1000);
	assert_true(event->ids[1].cpu == UINT32_MAX);
	assert_int_equal(event->ids[2].machine_pid, 6000);
	assert_true(event->ids[2].vcpu == PERFDATA_NO_VCPU);
	assert_string_equal(event->name, "first-event");
	event = perfdata_reader_event(reader, 1);
	assert_string_equal(event->name, "second-event");
	assert_int_equal(event->id_count, 1);
	assert_int_equal(event->ids[0].id, ids[2]);
	assert_int_equal(event->ids[0].vcpu, 1);
}

static void test_room_for_ids_is_bounded(void **state)
{
	struct fixture *fixture = *state;
	struct perfdata_id spec = { .machine_pid = 5 };
	uint64_t id;

	create(fixture);
	for (uint32_t vcpu = 0; vcpu < MAX_IDS - 1; vcpu++)
		add_id(fixture, 0, 5, vcpu);
	assert_error(perfdata_writer_add_id(fixture->writer, 0, &spec, &id), ERROR_UNSUPPORTED);
	add_id(fixture, 1, 5, 9);
}

/* More ids at once than fit into one ID_INDEX record. */
static void test_many_ids_at_the_start(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	struct fixture *fixture = *state;
	_cleanup_free_ struct perfdata_id *ids = memory_calloc(3000, sizeof(*ids));
	const struct perfdata_event *event;
	struct perfdata_record record;

	for (size_t i = 0; i < 3000; i++)
		ids[i] = (struct perfdata_id){ .id = 1 + i, .machine_pid = 7, .vcpu = i };
	fixture->events[0].ids = ids;
	fixture->events[0].id_count = 3000;
	create(fixture);
	assert_no_error(perfdata_reader_open(fixture->path, &reader));
	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD)
		;
	event = perfdata_reader_event(reader, 0);
	assert_int_equal(event->id_count, 3000);
	for (size_t i = 0; i < 3000; i++)
		assert_int_equal(event->ids[i].vcpu, i);
}

static void test_flush_makes_it_readable(void **state)
{
	struct fixture *fixture = *state;
	uint64_t id;

	create(fixture);
	assert_int_equal(count_samples(fixture), 0);
	id = add_id(fixture, 0, 5000, 0);
	for (uint64_t i = 0; i < 100; i++)
		assert_no_error(append_sample(fixture, id, i));
	assert_int_equal(count_samples(fixture), 0);
	assert_no_error(perfdata_writer_flush(fixture->writer));
	assert_int_equal(count_samples(fixture), 100);
	for (uint64_t i = 100; i < 100000; i++)
		assert_no_error(append_sample(fixture, id, i));
	assert_int_equal(count_samples(fixture), 100);
	assert_no_error(perfdata_writer_flush(fixture->writer));
	assert_int_equal(count_samples(fixture), 100000);
}

static void test_append_larger_than_the_buffer(void **state)
{
	_cleanup_buffer_ struct buffer records;
	struct fixture *fixture = *state;
	struct perfdata_sample sample = { .id = 40, .time_ns = 5 };

	create(fixture);
	buffer_init(&records, 64 << 20);
	for (uint64_t i = 0; i < 100000; i++) {
		sample.ip = 0xffffffff81000000 + i;
		assert_true(perfdata_sample_encode(&fixture->events[0].attr, &sample, &records));
	}
	assert_no_error(perfdata_writer_append(fixture->writer, records.data, records.size));
	assert_no_error(perfdata_writer_flush(fixture->writer));
	assert_int_equal(count_samples(fixture), 100000);
}

static void test_impossible_records_are_refused(void **state)
{
	static const uint16_t sizes[] = { 0, 7, 24, 65535 };
	struct fixture *fixture = *state;
	uint64_t bytes;

	create(fixture);
	bytes = perfdata_writer_bytes(fixture->writer);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct {
			struct perf_event_header header;
			uint64_t body;
		} record = { .header = { .type = PERF_RECORD_SAMPLE, .size = sizes[i] } };

		assert_error(perfdata_writer_append(fixture->writer, &record, sizeof(record)),
			     ERROR_BAD_DATA);
	}
	assert_int_equal(perfdata_writer_bytes(fixture->writer), bytes);
}

static void finish(struct fixture *fixture)
{
	static const uint8_t build_id[20] = { 1, 2, 3 };
	struct perfdata_writer_build_id build_ids[] = {
		{ "[guest.kernel.kallsyms.5000]", build_id, 20, PERF_RECORD_MISC_GUEST_KERNEL,
		  5000 },
		{ "/bin/x", build_id, 16, PERF_RECORD_MISC_USER, UINT32_MAX },
	};
	struct perfdata_writer_symbols symbols[] = {
		{ 5000, "abcde", 5, .from_ns = 10, .until_ns = 20 },
		{ 0, "12345678", 8 },
		{ 5000, "xyz", 3, .kind = PERFDATA_SYMBOLS_FILE, .path = "/usr/bin/x",
		  .build_id = build_id, .build_id_bytes = 20 },
	};
	char *argv[] = { "perfvisor", "record", "a b" };
	struct perfdata_inventory inventory;

	perfdata_inventory_init(&inventory);
	inventory.guest = true;
	perfdata_inventory_add(&inventory, 5000, "web", "qemu")->counts.lost = 12;
	assert_no_error(perfdata_writer_finish(
		fixture->writer, &(struct perfdata_writer_features){ .argc = 3,
								     .argv = argv,
								     .build_ids = build_ids,
								     .build_id_count = 2,
								     .tracing_data = "tracing",
								     .tracing_data_bytes = 7,
								     .inventory = &inventory,
								     .symbols = symbols,
								     .symbols_count = 3 }));
	perfdata_inventory_deinit(&inventory);
}

/* Table INDEX has these bytes, and where a table of words can lie. */
static void assert_symbols(struct perfdata_reader *reader, size_t index, const char *wanted)
{
	const void *data;
	size_t size;

	assert_no_error(perfdata_reader_load_symbols(reader, index, &data, &size));
	assert_int_equal(size, strlen(wanted));
	assert_memory_equal(data, wanted, size);
	assert_int_equal((uintptr_t)data % 8, 0);
}

static void test_features_come_back(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	const struct perfdata_features *features;
	const struct perfdata_inventory *inventory;
	struct fixture *fixture = *state;
	struct perfdata_record record;
	char hostname[256];

	create(fixture);
	for (uint64_t i = 0; i < 10; i++)
		assert_no_error(append_sample(fixture, 40, i));
	finish(fixture);
	assert_int_equal(count_samples(fixture), 10);
	assert_no_error(perfdata_reader_open(fixture->path, &reader));
	features = perfdata_reader_features(reader);
	assert_int_equal(gethostname(hostname, sizeof(hostname)), 0);
	assert_string_equal(features->hostname, hostname);
	assert_string_equal(features->cmdline, "perfvisor record a b");
	assert_int_equal(features->cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(features->first_sample_ns, 1000);
	assert_int_equal(features->last_sample_ns, 1009);
	assert_int_equal(features->build_id_count, 2);
	assert_string_equal(features->build_ids[0].path, "[guest.kernel.kallsyms.5000]");
	assert_int_equal(features->build_ids[0].pid, 5000);
	assert_int_equal(features->build_ids[0].misc & PERF_RECORD_MISC_CPUMODE_MASK,
			 PERF_RECORD_MISC_GUEST_KERNEL);
	assert_int_equal(features->build_ids[1].size, 16);
	assert_true(features->build_ids[1].pid == UINT32_MAX);
	assert_int_equal(features->tracing_data_bytes, 7);
	assert_memory_equal(features->tracing_data, "tracing", 7);
	assert_string_equal(perfdata_reader_event(reader, 1)->name, "second-event");
	inventory = perfdata_reader_inventory(reader);
	assert_non_null(inventory);
	assert_string_equal(inventory->vms.items[0].name, "web");
	assert_int_equal(inventory->vms.items[0].counts.lost, 12);
	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD)
		;
	assert_false(perfdata_reader_truncated(reader));
	assert_int_equal(perfdata_reader_symbols_count(reader), 3);
	assert_int_equal(perfdata_reader_symbols(reader, 0).machine_pid, 5000);
	assert_int_equal(perfdata_reader_symbols(reader, 0).from_ns, 10);
	assert_int_equal(perfdata_reader_symbols(reader, 0).until_ns, 20);
	assert_symbols(reader, 0, "abcde");
	assert_symbols(reader, 1, "12345678");
	assert_true(perfdata_reader_symbols(reader, 1).until_ns == UINT64_MAX);
	assert_int_equal(perfdata_reader_symbols(reader, 1).kind, PERFDATA_SYMBOLS_KERNEL);
	assert_string_equal(perfdata_reader_symbols(reader, 1).path, "");
	assert_int_equal(perfdata_reader_symbols(reader, 2).kind, PERFDATA_SYMBOLS_FILE);
	assert_string_equal(perfdata_reader_symbols(reader, 2).path, "/usr/bin/x");
	assert_int_equal(perfdata_reader_symbols(reader, 2).build_id_bytes, 20);
	assert_memory_equal(perfdata_reader_symbols(reader, 2).build_id, "\x01\x02\x03\0", 4);
	assert_symbols(reader, 2, "xyz");
}

/* Reads to the next record of TYPE, and decodes its trailer. */
static struct perfdata_record next_of_type(struct perfdata_reader *reader, uint32_t type,
					   struct perfdata_decoded *ret_trailer)
{
	struct perfdata_record record;

	do {
		assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	} while (record.type != type);
	assert_int_equal(record.size % 8, 0);
	assert_true(perfdata_reader_decode_id(reader, &record, ret_trailer));
	assert_int_equal(ret_trailer->sample.time_ns, 99);
	return record;
}

static uint64_t body_u64(const struct perfdata_record *record, size_t offset)
{
	uint64_t value;

	assert_true(offset + sizeof(value) <= record->body_bytes);
	memcpy(&value, record->body + offset, sizeof(value));
	return value;
}

static void test_records_of_its_own(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	struct fixture *fixture = *state;
	static const uint8_t build_id[20] = { 9, 8, 7 };
	struct perfdata_mapping mapping = { .pid = 10,
					    .tid = 11,
					    .start = 0x1000,
					    .length = 0x2000,
					    .file_offset = 0x3000,
					    .device_major = 8,
					    .device_minor = 1,
					    .inode = 55,
					    .prot = 5,
					    .flags = 2,
					    .misc = PERF_RECORD_MISC_USER,
					    .path = "/bin/12345" };
	struct perfdata_decoded trailer;
	struct perfdata_record record;
	uint64_t id;

	create(fixture);
	id = add_id(fixture, 1, 5000, 0);
	assert_no_error(
		perfdata_writer_comm(fixture->writer, 10, 11, "a name too long for it", 99));
	assert_no_error(perfdata_writer_guest_comm(fixture->writer, 5000, 17, 18, "CPU 0/KVM", 99));
	assert_no_error(perfdata_writer_mmap2(fixture->writer, &mapping, 99));
	mapping.build_id = build_id;
	mapping.build_id_bytes = 20;
	assert_no_error(perfdata_writer_mmap2(fixture->writer, &mapping, 99));
	mapping.build_id_bytes = 21;
	assert_error(perfdata_writer_mmap2(fixture->writer, &mapping, 99), ERROR_BAD_DATA);
	mapping.build_id = NULL;
	mapping.misc = PERF_RECORD_MISC_GUEST_USER;
	assert_no_error(perfdata_writer_guest_process(fixture->writer, 5000, 10, 1, 99));
	assert_no_error(perfdata_writer_guest_mmap2(fixture->writer, 5000, &mapping, 99));
	assert_error(perfdata_writer_guest_mmap2(fixture->writer, 5001, &mapping, 99),
		     ERROR_BAD_DATA);
	assert_no_error(perfdata_writer_lost(fixture->writer, id, 17, 99));
	assert_error(perfdata_writer_lost(fixture->writer, 12345, 17, 99), ERROR_BAD_DATA);
	assert_no_error(perfdata_writer_flush(fixture->writer));
	assert_no_error(perfdata_reader_open(fixture->path, &reader));

	record = next_of_type(reader, PERF_RECORD_COMM, &trailer);
	assert_string_equal((const char *)record.body + 8, "a name too long");
	assert_int_equal(trailer.sample.tid, 11);
	record = next_of_type(reader, PERF_RECORD_COMM, &trailer);
	assert_string_equal((const char *)record.body + 8, "CPU 0/KVM");
	assert_int_equal(record.misc, PERF_RECORD_MISC_GUEST_KERNEL);
	assert_int_equal(trailer.sample.pid, 17);
	assert_true(trailer.id && trailer.id->machine_pid == 5000);
	assert_int_equal(trailer.event_index, 1);
	record = next_of_type(reader, PERF_RECORD_MMAP2, &trailer);
	assert_int_equal(record.misc, PERF_RECORD_MISC_USER);
	assert_int_equal(body_u64(&record, 8), 0x1000);
	assert_int_equal(body_u64(&record, 16), 0x2000);
	assert_int_equal(body_u64(&record, 24), 0x3000);
	assert_int_equal(body_u64(&record, 32), 8 | 1ULL << 32);
	assert_int_equal(body_u64(&record, 40), 55);
	assert_int_equal(body_u64(&record, 56), 5 | 2ULL << 32);
	assert_string_equal((const char *)record.body + 64, "/bin/12345");
	record = next_of_type(reader, PERF_RECORD_MMAP2, &trailer);
	assert_int_equal(record.misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	assert_int_equal(record.body[32], 20);
	assert_memory_equal(record.body + 36, build_id, 20);
	record = next_of_type(reader, PERF_RECORD_FORK, &trailer);
	assert_int_equal(record.misc, PERF_RECORD_MISC_GUEST_KERNEL | PERF_RECORD_MISC_FORK_EXEC);
	assert_int_equal(body_u64(&record, 0), 10 | 1ULL << 32);
	assert_int_equal(body_u64(&record, 8), 10 | 1ULL << 32);
	assert_int_equal(body_u64(&record, 16), 99);
	assert_true(trailer.id && trailer.id->machine_pid == 5000);
	record = next_of_type(reader, PERF_RECORD_MMAP2, &trailer);
	assert_int_equal(record.misc, PERF_RECORD_MISC_GUEST_USER);
	assert_string_equal((const char *)record.body + 64, "/bin/12345");
	assert_true(trailer.id && trailer.id->machine_pid == 5000);
	record = next_of_type(reader, PERF_RECORD_LOST, &trailer);
	assert_int_equal(body_u64(&record, 0), id);
	assert_int_equal(body_u64(&record, 8), 17);
	assert_int_equal(trailer.event_index, 1);
}

/* Until the new one can be read. */
static void test_older_file_is_kept(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *old = memory_printf("%s.old", fixture->path);
	struct stat status;

	create(fixture);
	assert_int_equal(stat(old, &status), -1);
	assert_no_error(append_sample(fixture, 40, 0));
	finish(fixture);
	perfdata_writer_destroy(take_pointer(fixture->writer));
	assert_no_error(perfdata_writer_create(fixture->path, fixture->events, 2, MAX_IDS,
					       &fixture->writer));
	assert_int_equal(count_samples(fixture), 1);
	assert_int_equal(stat(old, &status), -1);
	assert_no_error(perfdata_writer_flush(fixture->writer));
	assert_int_equal(count_samples(fixture), 0);
	snprintf(fixture->path, sizeof(fixture->path), "%s", old);
	assert_int_equal(count_samples(fixture), 1);
}

static struct error *create_at(struct fixture *fixture, const char *name)
{
	char path[80];

	struct error *error;

	snprintf(path, sizeof(path), "%s/%s", fixture->folder, name);
	error = perfdata_writer_create(path, fixture->events, 2, MAX_IDS, &fixture->writer);
	if (error)
		return error;
	error = perfdata_writer_flush(fixture->writer);
	if (error)
		perfdata_writer_destroy(take_pointer(fixture->writer));
	return error;
}

static void make_path(const struct fixture *fixture, const char *name, char ret[80])
{
	snprintf(ret, 80, "%s/%s", fixture->folder, name);
}

static void test_other_than_regular_files_are_left_alone(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;
	char path[80], target[80];

	make_path(fixture, "folder", path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_error(create_at(fixture, "folder"), ERROR_UNSUPPORTED);
	make_path(fixture, "fifo", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_error(create_at(fixture, "fifo"), ERROR_UNSUPPORTED);
	make_path(fixture, "null", path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_error(create_at(fixture, "null"), ERROR_UNSUPPORTED);
	assert_int_equal(lstat(path, &status), 0);

	/* A dangling symlink: its target is not created. */
	make_path(fixture, "dangling", path);
	make_path(fixture, "target", target);
	assert_int_equal(symlink(target, path), 0);
	assert_error(create_at(fixture, "dangling"), ERROR_SYSTEM);
	assert_int_equal(stat(target, &status), -1);
	assert_null(fixture->writer);
}

static void test_places_that_cannot_be_written(void **state)
{
	struct fixture *fixture = *state;

	assert_error(create_at(fixture, "missing/perf.data"), ERROR_NOT_FOUND);
	if (geteuid() == 0 && seteuid(65534) == 0) {
		assert_error(create_at(fixture, "perf.data"), ERROR_PERMISSION);
		assert_int_equal(seteuid(0), 0);
	} else {
		part_skipped("a folder without the right to write",
			     "only root can be another user");
	}
	assert_null(fixture->writer);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A full disk, simulated with a file size limit: flushed data is not damaged. */
static void test_full_disk(void **state)
{
	struct fixture *fixture = *state;
	struct error *error = NULL;
	uint64_t count = 1000;

	signal(SIGXFSZ, SIG_IGN);
	create(fixture);
	for (uint64_t i = 0; i < count; i++)
		assert_no_error(append_sample(fixture, 40, i));
	assert_no_error(perfdata_writer_flush(fixture->writer));
	limit_file_size(100000);
	while (!(error = append_sample(fixture, 40, count)))
		count++;
	assert_error(error, ERROR_SYSTEM);
	assert_error(perfdata_writer_flush(fixture->writer), ERROR_SYSTEM);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(count_samples(fixture), 1000);
	assert_no_error(append_sample(fixture, 40, count++));
	finish(fixture);
	assert_int_equal(count_samples(fixture), count);
}

static void test_full_disk_at_the_end(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	struct perfdata_writer_features features = { 0 };
	struct fixture *fixture = *state;

	signal(SIGXFSZ, SIG_IGN);
	create(fixture);
	assert_no_error(append_sample(fixture, 40, 0));
	assert_no_error(perfdata_writer_flush(fixture->writer));
	limit_file_size(perfdata_writer_bytes(fixture->writer) + 300);
	assert_error(perfdata_writer_finish(fixture->writer, &features), ERROR_SYSTEM);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(count_samples(fixture), 1);
	assert_no_error(perfdata_reader_open(fixture->path, &reader));
	assert_string_equal(perfdata_reader_features(reader)->hostname, "");
}

static void test_unfit_events_are_refused(void **state)
{
	struct fixture *fixture = *state;
	uint64_t *types[] = { (uint64_t *)&fixture->events[0].attr.sample_type,
			      (uint64_t *)&fixture->events[1].attr.sample_type };

	*types[1] &= ~PERF_SAMPLE_IDENTIFIER;
	assert_error(create_at(fixture, "perf.data"), ERROR_UNSUPPORTED);
	*types[1] = SAMPLE_TYPE & ~PERF_SAMPLE_TIME;
	assert_error(create_at(fixture, "perf.data"), ERROR_UNSUPPORTED);
	*types[1] = SAMPLE_TYPE | PERF_SAMPLE_CALLCHAIN;
	create(fixture);
	perfdata_writer_destroy(take_pointer(fixture->writer));
	fixture->events[1].attr.sample_id_all = 0;
	assert_error(create_at(fixture, "perf.data"), ERROR_UNSUPPORTED);
	assert_error(perfdata_writer_create(fixture->path, fixture->events, 0, 1, &fixture->writer),
		     ERROR_UNSUPPORTED);
}

#define WRITER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WRITER_TEST(test_header_is_as_perf_has_it),
		WRITER_TEST(test_ids_come_back),
		WRITER_TEST(test_room_for_ids_is_bounded),
		WRITER_TEST(test_many_ids_at_the_start),
		WRITER_TEST(test_flush_makes_it_readable),
		WRITER_TEST(test_append_larger_than_the_buffer),
		WRITER_TEST(test_impossible_records_are_refused),
		WRITER_TEST(test_features_come_back),
		WRITER_TEST(test_records_of_its_own),
		WRITER_TEST(test_older_file_is_kept),
		WRITER_TEST(test_other_than_regular_files_are_left_alone),
		WRITER_TEST(test_places_that_cannot_be_written),
		WRITER_TEST(test_full_disk),
		WRITER_TEST(test_full_disk_at_the_end),
		WRITER_TEST(test_unfit_events_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
