/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large a recording is: a second of 20 VMs with one kernel, whose parts are loaded elsewhere in
 * each, one busy vCPU each. A distribution's kernel has some 120,000 symbols, of which 20,000 are
 * in 100 modules.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "perfdata/reader.h"
#include "perfdata/writer/writer.h"
#include "symbol/table.h"

#define VMS 20
#define KERNEL_SYMBOLS 100000
#define MODULES 100
#define MODULE_SYMBOLS 200
#define SAMPLES 999
#define MOST_BYTES 3000000
/* What record takes of guests: so many bytes a sample. */
#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Names are made of words, as those of kernels are. */
static void make_name(uint32_t *seed, char *ret, size_t bytes)
{
	static const char *const words[] = {
		"get",  "put",   "alloc", "free", "init", "exit", "read", "write", "page", "inode",
		"net",  "dev",   "sock",  "skb",  "tcp",  "irq",  "lock", "task",  "mm",   "vma",
		"bpf",  "trace", "pci",   "usb",  "acpi", "ext4", "xfs",  "kvm",   "x86",  "cpu",
		"time", "sched", "queue", "work", "node", "map",
	};
	const size_t count = sizeof(words) / sizeof(*words);

	snprintf(ret, bytes, "%s_%s_%s_%s%u", words[next_random(seed) % count],
		 words[next_random(seed) % count], words[next_random(seed) % count],
		 words[next_random(seed) % count], next_random(seed) % 8);
}

/* The kernel of VM number VM: SEED makes its names and sizes, the same in all. */
static struct symbol_table *make_kernel(uint32_t vm)
{
	struct symbol_builder *builder = symbol_builder_create();
	uint32_t seed = 7, place = 100 + vm;
	uint64_t at = 0xffffffff81000000 + (uint64_t)(next_random(&place) % 500) * 0x200000;
	char name[64], module[16];

	for (unsigned i = 0; i < KERNEL_SYMBOLS; i++) {
		make_name(&seed, name, sizeof(name));
		symbol_builder_add(builder, at, 0, 'T', name, NULL);
		at += 16 + next_random(&seed) % 64 * 16;
	}
	at = 0xffffffffc0000000 + next_random(&place) % 1000 * 4096;
	for (unsigned m = 0; m < MODULES; m++) {
		uint64_t start = at;

		snprintf(module, sizeof(module), "module%u", m);
		for (unsigned i = 0; i < MODULE_SYMBOLS; i++) {
			make_name(&seed, name, sizeof(name));
			symbol_builder_add(builder, at, 0, 't', name, module);
			at += 16 + next_random(&seed) % 32 * 16;
		}
		symbol_builder_add_module(builder, module, start, at);
		at += 4096 + next_random(&place) % 8 * 4096;
		at &= ~(uint64_t)4095;
	}
	return symbol_builder_finish(builder);
}

static void write_samples(struct perfdata_writer *writer, const struct perfdata_event *event,
			  uint64_t id, uint32_t vm)
{
	_cleanup_buffer_ struct buffer record;
	struct perfdata_sample sample = { .id = id, .misc = PERF_RECORD_MISC_GUEST_KERNEL };

	buffer_init(&record, 4096);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		sample.ip = 0xffffffff81000000 + i * 4096;
		sample.pid = sample.tid = 1000 + vm;
		sample.time_ns = i * 1000000 + vm;
		buffer_clear(&record);
		assert_true(perfdata_sample_encode(&event->attr, &sample, &record));
		assert_no_error(perfdata_writer_append(writer, record.data, record.size));
	}
}

static void write_vm(struct perfdata_writer *writer, const struct perfdata_event *event,
		     struct perfdata_inventory *inventory, uint32_t vm)
{
	struct perfdata_id spec = { .machine_pid = 1000 + vm, .cpu = UINT32_MAX };
	_cleanup_symbol_table_ struct symbol_table *kernel = make_kernel(vm);
	struct perfdata_writer_symbols symbols = { .machine_pid = 1000 + vm };
	_cleanup_buffer_ struct buffer packed;
	uint32_t number;
	uint64_t id;
	char name[16];

	snprintf(name, sizeof(name), "vm%u", vm);
	perfdata_inventory_add(inventory, 1000 + vm, name, "qemu");
	buffer_init(&packed, 1 << 28);
	symbol_table_pack(kernel, &packed);
	symbols.data = packed.data;
	symbols.size = packed.size;
	assert_no_error(perfdata_writer_symbols(writer, &symbols, &number));
	assert_no_error(perfdata_writer_inventory(writer, inventory));
	assert_no_error(perfdata_writer_add_id(writer, 0, &spec, &id));
	write_samples(writer, event, id, vm);
}

static void assert_same(const struct symbol_table *left, const struct symbol_table *right)
{
	assert_int_equal(symbol_table_count(left), symbol_table_count(right));
	for (size_t i = 0; i < symbol_table_count(left); i += 37) {
		const struct symbol *symbol = symbol_table_at(left, i);
		const struct symbol *other = symbol_table_at(right, i);

		assert_true(symbol->start == other->start && symbol->end == other->end);
		assert_string_equal(symbol_name(left, symbol), symbol_name(right, other));
		if (symbol->module)
			assert_string_equal(symbol_module(left, symbol),
					    symbol_module(right, other));
	}
}

static void check_tables(const char *path)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	struct perfdata_record record;

	assert_no_error(perfdata_reader_open(path, &reader));
	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD)
		;
	assert_int_equal(perfdata_reader_symbols_count(reader), VMS);
	for (uint32_t vm = 0; vm < VMS; vm += 7) {
		_cleanup_symbol_table_ struct symbol_table *kernel = make_kernel(vm);
		struct symbol_table *read;
		const void *data;
		size_t size;

		assert_no_error(perfdata_reader_load_symbols(reader, vm, &data, &size));
		assert_no_error(symbol_table_decode(data, size, &read));
		assert_same(kernel, read);
		symbol_table_destroy(read);
	}
}

static void twenty_vms_with_one_kernel(void **state)
{
	struct perfdata_event event = { .attr = { .type = PERF_TYPE_SOFTWARE,
						  .sample_type = SAMPLE_TYPE,
						  .sample_id_all = 1 },
					.name = (char *)"cpu-clock" };
	char path[] = "/tmp/test_recorded_size_XXXXXX";
	struct perfdata_writer_features features = { 0 };
	struct perfdata_inventory inventory;
	struct perfdata_writer *writer;
	uint64_t bytes;

	(void)state;
	close(mkstemp(path));
	perfdata_inventory_init(&inventory);
	assert_no_error(perfdata_writer_create(path, &event, 1, 4096, &writer));
	for (uint32_t vm = 0; vm < VMS; vm++)
		write_vm(writer, &event, &inventory, vm);
	features.inventory = &inventory;
	assert_no_error(perfdata_writer_finish(writer, &features));
	bytes = perfdata_writer_bytes(writer);
	perfdata_writer_destroy(writer);
	print_message("%llu bytes\n", (unsigned long long)bytes);
	assert_in_range(bytes, 1, MOST_BYTES);
	check_tables(path);
	perfdata_inventory_deinit(&inventory);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twenty_vms_with_one_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
