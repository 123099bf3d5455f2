/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings that were cut off: a file that ends anywhere, is full of zeros from there on, as after
 * a power cut, and a recorder that is killed at random moments. What is left names the VMs of all
 * samples in it, and their kernels.
 */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "perfdata/reader.h"
#include "perfdata/writer/writer.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME)
#define SAMPLES_PER_VM 40
#define FIRST_PID 1000
#define KILLS 50
#define LATEST_KILL_US 30000

struct fixture {
	char folder[32];
	char path[64];
	struct perfdata_event event;
	struct perfdata_writer *writer;
	struct perfdata_inventory inventory;
};

static int set_up(void **state)
{
	struct fixture *fixture = memory_calloc(1, sizeof(*fixture));

	snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/test_cut_off_XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	snprintf(fixture->path, sizeof(fixture->path), "%s/data", fixture->folder);
	fixture->event = (struct perfdata_event){ .attr = { .type = PERF_TYPE_SOFTWARE,
							    .sample_type = SAMPLE_TYPE,
							    .sample_id_all = 1 },
						  .name = (char *)"clock" };
	perfdata_inventory_init(&fixture->inventory);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char command[64];

	perfdata_writer_destroy(fixture->writer);
	perfdata_inventory_deinit(&fixture->inventory);
	snprintf(command, sizeof(command), "rm -rf %s", fixture->folder);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

static void begin(struct fixture *fixture)
{
	char *argv[] = { "perfvisor", "record" };
	struct perfdata_writer_features features = { .argc = 2,
						     .argv = argv,
						     .inventory = &fixture->inventory };

	assert_no_error(perfdata_writer_create(fixture->path, &fixture->event, 1, 10000,
					       &fixture->writer));
	assert_no_error(perfdata_writer_begin(fixture->writer, &features));
	assert_no_error(perfdata_writer_flush(fixture->writer));
}

/* VM number NUMBER comes, and is sampled: as the recorder does it, its names first. */
static void write_vm(struct fixture *fixture, uint32_t number)
{
	struct perfdata_id spec = { .machine_pid = FIRST_PID + number, .cpu = UINT32_MAX };
	struct perfdata_sample sample = { .misc = PERF_RECORD_MISC_GUEST_KERNEL };
	struct perfdata_writer_symbols symbols = { .machine_pid = FIRST_PID + number };
	_cleanup_buffer_ struct buffer record;
	char name[32], table[3000];
	uint32_t ignored;

	snprintf(name, sizeof(name), "vm%u", number);
	memset(table, 'a' + number % 26, sizeof(table));
	symbols.data = table;
	symbols.size = sizeof(table);
	perfdata_inventory_add(&fixture->inventory, FIRST_PID + number, name, "qemu");
	assert_no_error(perfdata_writer_add_id(fixture->writer, 0, &spec, &sample.id));
	assert_no_error(perfdata_writer_symbols(fixture->writer, &symbols, &ignored));
	assert_no_error(perfdata_writer_inventory(fixture->writer, &fixture->inventory));
	buffer_init(&record, 4096);
	for (uint32_t i = 0; i < SAMPLES_PER_VM; i++) {
		sample.ip = number;
		sample.time_ns = (uint64_t)number * SAMPLES_PER_VM + i;
		buffer_clear(&record);
		assert_true(perfdata_sample_encode(&fixture->event.attr, &sample, &record));
		assert_no_error(
			perfdata_writer_append(fixture->writer, record.data, record.size));
	}
}

/* Table INDEX is the one that write_vm() wrote for its VM; SAMPLED: that has samples. */
static void check_table(struct perfdata_reader *reader, size_t index, bool sampled)
{
	uint32_t number = perfdata_reader_symbols(reader, index).machine_pid - FIRST_PID;
	struct error *error;
	const void *data;
	size_t size;

	error = perfdata_reader_load_symbols(reader, index, &data, &size);
	if (error && !sampled) { /* zeros begin within it */
		error_destroy(error);
		return;
	}
	assert_no_error(error);
	assert_int_equal(size, 3000);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(((const uint8_t *)data)[i], 'a' + number % 26);
}

/* Every sample that can be read is of a VM that has a name and a table. Gives how many. */
static uint64_t check_names(struct perfdata_reader *reader)
{
	const struct perfdata_inventory *inventory;
	struct perfdata_record record;
	struct perfdata_decoded decoded;
	uint64_t count = 0;

	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD)
		;
	assert_null(perfdata_reader_error(reader));
	inventory = perfdata_reader_inventory(reader);
	perfdata_reader_rewind(reader);
	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD) {
		const struct perfdata_vm *vm;
		char name[32];

		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		assert_true(perfdata_reader_decode(reader, &record, &decoded));
		if (decoded.sample.time_ns != count || !decoded.id) {
			/* Zeros begin within the last record. */
			assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_END);
			break;
		}
		count++;
		assert_int_equal(decoded.id->machine_pid, FIRST_PID + decoded.sample.ip);
		assert_non_null(inventory);
		vm = perfdata_inventory_find(inventory, decoded.id->machine_pid);
		assert_non_null(vm);
		snprintf(name, sizeof(name), "vm%u", (unsigned)decoded.sample.ip);
		assert_string_equal(vm->name, name);
		assert_true(decoded.sample.ip < perfdata_reader_symbols_count(reader));
	}
	for (size_t i = 0; i < perfdata_reader_symbols_count(reader); i++)
		check_table(reader, i, i * SAMPLES_PER_VM < count);
	return count;
}

/* The file that a recorder leaves which is killed after its last flush, as it is on the disk. */
static void write_file(struct fixture *fixture, uint32_t vm_count, struct mapped_file *ret)
{
	begin(fixture);
	for (uint32_t i = 0; i < vm_count; i++) {
		write_vm(fixture, i);
		assert_no_error(perfdata_writer_flush(fixture->writer));
	}
	assert_no_error(file_map(fixture->path, ret));
}

/* Each length of the file, from the one that holds the header and the ids on. */
static void a_file_may_end_anywhere(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_mapped_file_ struct mapped_file file = { 0 };
	uint64_t count = 0, begin_ns, end_ns, data_offset, longest = 0;

	write_file(fixture, 3, &file);
	memcpy(&data_offset, file.data + 40, sizeof(data_offset));
	for (size_t size = 0; size <= file.size; size++) {
		_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
		_cleanup_free_ void *cut = memory_dup(file.data, size);
		struct error *error = perfdata_reader_open_memory(cut, size, "cut", &reader);

		if (error) {
			error_destroy(error);
			assert_true(size < data_offset);
			continue;
		}
		count = check_names(reader);
		assert_true(perfdata_reader_truncated(reader));
		assert_true(count >= longest);
		longest = count;
		if (size == file.size)
			assert_true(perfdata_reader_cut_off(reader, &begin_ns, &end_ns));
	}
	assert_int_equal(count, 3 * SAMPLES_PER_VM);
}

/* The header has reached the disk, and not all of what it speaks of. */
static void a_power_cut_leaves_zeros(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_mapped_file_ struct mapped_file file = { 0 };
	_cleanup_free_ uint8_t *copy = NULL;
	uint64_t data_offset, count, last = UINT64_MAX;

	write_file(fixture, 3, &file);
	memcpy(&data_offset, file.data + 40, sizeof(data_offset));
	copy = memory_dup(file.data, file.size);
	for (size_t from = file.size & ~(size_t)511; from > data_offset; from -= 512) {
		_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;

		memset(copy + from, 0, file.size - from);
		assert_no_error(
			perfdata_reader_open_memory(copy, file.size, "zeros", &reader));
		count = check_names(reader);
		assert_true(perfdata_reader_truncated(reader));
		assert_true(count <= last);
		last = count;
	}
	assert_true(last < SAMPLES_PER_VM);
}

static void sleep_us(long microseconds)
{
	struct timespec time = { .tv_nsec = microseconds * 1000 };

	nanosleep(&time, NULL);
}

/* Writes VMs until it is killed; tells through FD how many were flushed. */
static void record_until_killed(struct fixture *fixture, int fd)
{
	begin(fixture);
	for (uint32_t number = 0; number < 9000; number++) {
		write_vm(fixture, number);
		if (number % 4 != 3)
			continue;
		if (perfdata_writer_flush(fixture->writer))
			_exit(1);
		number++;
		if (write(fd, &number, sizeof(number)) != sizeof(number))
			_exit(1);
		number--;
	}
	pause();
}

/* What a recorder leaves that is killed after so long; gives the VMs that are in it. */
static uint32_t kill_after(struct fixture *fixture, long microseconds)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	uint32_t flushed = 0, told;
	uint64_t samples;
	int ends[2];
	pid_t child;

	unlink(fixture->path);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		record_until_killed(fixture, ends[1]);
	close(ends[1]);
	sleep_us(microseconds);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	while (read(ends[0], &told, sizeof(told)) == sizeof(told))
		flushed = told;
	close(ends[0]);
	if (access(fixture->path, F_OK)) {
		assert_int_equal(flushed, 0);
		return 0;
	}
	/* Whenever that was, what is there can be opened. */
	assert_no_error(perfdata_reader_open(fixture->path, &reader));
	samples = check_names(reader);
	assert_true(samples >= (uint64_t)flushed * SAMPLES_PER_VM);
	assert_true(perfdata_reader_truncated(reader));
	return samples / SAMPLES_PER_VM;
}

static void a_recorder_may_be_killed_at_any_moment(void **state)
{
	struct fixture *fixture = *state;
	unsigned seed = time(NULL), with_samples = 0;
	long wait = LATEST_KILL_US;

	print_message("seed %u\n", seed);
	srandom(seed);
	for (int i = 0; i < KILLS; i++)
		with_samples += kill_after(fixture, random() % wait) > 0;
	/* On a slow machine it takes longer until there is something: some are to have samples. */
	for (; !with_samples && wait < 600 * LATEST_KILL_US; wait *= 2)
		with_samples += kill_after(fixture, wait % 999999) > 0;
	assert_true(with_samples > 0);
}

#define CUT_OFF_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CUT_OFF_TEST(a_file_may_end_anywhere),
		CUT_OFF_TEST(a_power_cut_leaves_zeros),
		CUT_OFF_TEST(a_recorder_may_be_killed_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
