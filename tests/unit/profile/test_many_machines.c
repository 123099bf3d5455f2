/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording of many VMs and many tables for all of them does not cost VMs times tables. */
#include "test.h"

#include "../allocated.h"
#include "fixture.h"

#define MACHINES 2000
#define TABLES 2000
#define FIRST_PID 1000
#define KERNEL 0xffffffff81000000

static void encode_table(unsigned int number, struct buffer *ret)
{
	struct symbol_builder *builder = symbol_builder_create();
	struct symbol_table *table;
	char name[32];

	snprintf(name, sizeof(name), "of_table_%u", number);
	assert_true(symbol_builder_add(builder, KERNEL, KERNEL + 0x1000, 'T', name, NULL));
	table = symbol_builder_finish(builder);
	buffer_init(ret, 1 << 20);
	symbol_table_encode(table, ret);
	symbol_table_destroy(table);
}

static int record(void **unused)
{
	static struct perfdata_writer_symbols symbols[TABLES];
	static struct buffer tables[TABLES];
	struct perfdata_event described = event();
	struct perfdata_inventory inventory;
	struct perfdata_writer *writer;

	(void)unused;
	close(mkstemp(path));
	assert_no_error(perfdata_writer_create(path, &described, 1, MACHINES, &writer));
	perfdata_inventory_init(&inventory);
	inventory.guest = inventory.guest_sampled = true;
	for (unsigned int i = 0; i < MACHINES; i++) {
		uint64_t id = add_id(writer, FIRST_PID + i, 0);

		perfdata_inventory_add(&inventory, FIRST_PID + i, "guest", "qemu");
		add_samples(writer, id, 0, 0, PERF_RECORD_MISC_GUEST_KERNEL, KERNEL + 16, 1);
	}
	for (unsigned int i = 0; i < TABLES; i++) {
		encode_table(i, &tables[i]);
		symbols[i] = (struct perfdata_writer_symbols){ 0, tables[i].data, tables[i].size };
	}
	assert_no_error(perfdata_writer_finish(
		writer, &(struct perfdata_writer_features){ .inventory = &inventory,
							    .symbols = symbols,
							    .symbols_count = TABLES }));
	perfdata_writer_destroy(writer);
	perfdata_inventory_deinit(&inventory);
	for (unsigned int i = 0; i < TABLES; i++)
		buffer_deinit(&tables[i]);
	return 0;
}

static int remove_recording(void **unused)
{
	(void)unused;
	return unlink(path);
}

static void memory_is_no_product(void **state)
{
	size_t before = allocated_bytes();
	struct opened opened;

	(void)state;
	open_profile(&opened, "sym", 0);
	assert_int_equal(opened.session->machines.count, MACHINES + 1);
	assert_in_range(allocated_bytes() - before, 0, 64 << 20);
	assert_int_equal(opened.profile->events[0].rows.count, 1);
	check_row(&opened, 0, "2000 [g] of_table_1999");
	close_profile(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_no_product),
	};

	return cmocka_run_group_tests(tests, record, remove_recording);
}
