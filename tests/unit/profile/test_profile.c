/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of two VMs with known samples, written by the writer, as a profile: names, shares,
 * and totals that add up to what was written and counted.
 */
#include "test.h"

#include "profile/fixture.h"

#define WEB 5000
#define DB 6000
#define HOST_PROGRAM 900
#define KERNEL_START 0xffffffff81000000ULL
/* the other guest's kernel: at another address because of KASLR */
#define OTHER_START 0xffffffffa2000000ULL

static void encode_symbols(uint64_t start, struct buffer *ret)
{
	struct symbol_builder *builder = symbol_builder_create();
	struct symbol_table *table;

	symbol_builder_add(builder, start + 0x100, start + 0x200, 'T', "do_work", NULL);
	symbol_builder_add(builder, start + 0x200, start + 0x300, 'T', "do_rest", NULL);
	symbol_builder_add(builder, start + 0x900, start + 0xa00, 't', "in_module", "virtio_net");
	table = symbol_builder_finish(builder);
	buffer_init(ret, 1 << 20);
	symbol_table_encode(table, ret);
	symbol_table_destroy(table);
}

static void fill_inventory(struct perfdata_inventory *inventory)
{
	struct perfdata_vm *vm;

	perfdata_inventory_init(inventory);
	inventory->guest = inventory->guest_sampled = inventory->host_sampled = true;
	vm = perfdata_inventory_add(inventory, WEB, "web", "qemu");
	vm->counts.host_dropped = 40;
	vm->counts.lost = 3;
	vm = perfdata_inventory_add(inventory, DB, "db", "qemu");
	vm->counts.host_dropped = 2;
}

static int record(void **state)
{
	struct perfdata_event described = event();
	struct perfdata_writer *writer;
	struct perfdata_inventory inventory;
	struct buffer kernels[2];
	uint64_t web0, web1, db0, host;

	(void)state;
	close(mkstemp(path));
	assert_no_error(perfdata_writer_create(path, &described, 1, 16, &writer));
	web0 = add_id(writer, WEB, 0);
	web1 = add_id(writer, WEB, 1);
	db0 = add_id(writer, DB, 0);
	host = add_id(writer, 0, PERFDATA_NO_VCPU);
	assert_no_error(perfdata_writer_comm(writer, WEB, WEB + 1, "CPU 0/KVM", 1));
	assert_no_error(perfdata_writer_comm(writer, HOST_PROGRAM, HOST_PROGRAM, "evil\033[2J", 1));
	add_samples(writer, web0, WEB, WEB + 1, PERF_RECORD_MISC_GUEST_KERNEL,
		    KERNEL_START + 0x110, 300);
	add_samples(writer, web1, WEB, WEB + 2, PERF_RECORD_MISC_GUEST_KERNEL,
		    KERNEL_START + 0x2ff, 100);
	add_samples(writer, web1, WEB, WEB + 2, PERF_RECORD_MISC_GUEST_USER, 0x401000, 50);
	add_samples(writer, db0, DB, DB + 1, PERF_RECORD_MISC_GUEST_KERNEL, OTHER_START + 0x120,
		    200);
	add_samples(writer, db0, DB, DB + 1, PERF_RECORD_MISC_GUEST_KERNEL, OTHER_START + 0x950,
		    20);
	add_samples(writer, web0, WEB, WEB + 1, PERF_RECORD_MISC_USER, 0x7000, 10);
	add_samples(writer, host, HOST_PROGRAM, HOST_PROGRAM, PERF_RECORD_MISC_USER, 0x8000, 5);
	add_samples(writer, host, HOST_PROGRAM, HOST_PROGRAM, 0, 0x9000, 2);
	assert_no_error(perfdata_writer_lost(writer, web0, 3, clock_ns));
	fill_inventory(&inventory);
	encode_symbols(KERNEL_START, &kernels[0]);
	encode_symbols(OTHER_START, &kernels[1]);
	finish_two_vms(writer, &inventory, (const uint32_t[]){ WEB, DB }, kernels);
	return 0;
}

static int remove_recording(void **state)
{
	(void)state;
	return unlink(path);
}

static void rows_are_named(void **state)
{
	struct opened opened;

	(void)state;
	open_profile(&opened, "vm,dso,sym", 0);
	check_row(&opened, 0, "300 web|[guest.kernel.kallsyms]|[g] do_work");
	check_row(&opened, 1, "200 db|[guest.kernel.kallsyms]|[g] do_work");
	check_row(&opened, 2, "100 web|[guest.kernel.kallsyms]|[g] do_rest");
	check_row(&opened, 3, "50 web|[unknown]|[u] 0x0000000000401000");
	check_row(&opened, 4, "20 db|[virtio_net]|[g] in_module");
	check_row(&opened, 5, "10 web|[unknown]|[.] 0x0000000000007000");
	check_row(&opened, 6, "5 [host]|[unknown]|[.] 0x0000000000008000");
	check_row(&opened, 7, "2 [host]|[unknown]|[H] 0x0000000000009000");
	assert_int_equal(opened.profile->events[0].rows.count, 8);
	assert_int_equal(opened.profile->events[0].samples, 687);
	assert_int_equal(opened.profile->events[0].period, 687000);
	close_profile(&opened);
}

static void guests_kernels_meet_by_name(void **state)
{
	struct opened opened;

	(void)state;
	open_profile(&opened, "sym", 0);
	check_row(&opened, 0, "500 [g] do_work");
	check_row(&opened, 1, "100 [g] do_rest");
	close_profile(&opened);
}

static void other_keys_count_right(void **state)
{
	struct opened opened;

	(void)state;
	open_profile(&opened, "vm,vcpu", 0);
	check_row(&opened, 0, "310 web|0");
	check_row(&opened, 1, "220 db|0");
	check_row(&opened, 2, "150 web|1");
	check_row(&opened, 3, "7 [host]|-");
	close_profile(&opened);
	open_profile(&opened, "mode", 0);
	check_row(&opened, 0, "620 guest kernel");
	check_row(&opened, 1, "50 guest user");
	check_row(&opened, 2, "15 host user");
	check_row(&opened, 3, "2 unattributed");
	close_profile(&opened);
	open_profile(&opened, "comm", 0);
	check_row(&opened, 0, "310 CPU 0/KVM");
	check_row(&opened, 1, "220 :6001");
	check_row(&opened, 2, "150 :5002");
	check_row(&opened, 3, "7 evil\\x1b[2J"); /* escaped */
	close_profile(&opened);
}

static void totals_add_up(void **state)
{
	struct opened opened;
	const struct profile_totals *totals;
	struct buffer text;

	(void)state;
	open_profile(&opened, "sym", 0);
	totals = &opened.profile->totals;
	assert_int_equal(totals->host, 15);
	assert_int_equal(totals->guest_kernel, 620);
	assert_int_equal(totals->guest_user, 50);
	assert_int_equal(totals->unattributed, 2);
	assert_int_equal(totals->host_counted, 42);
	/* in the stream and in the inventory, but counted once */
	assert_int_equal(totals->lost, 3);
	assert_int_equal(profile_totals_sum(totals), 687 + 42 + 3);
	buffer_init(&text, 4096);
	view_append_totals(&text, totals);
	buffer_append_u8(&text, 0);
	assert_string_equal((const char *)text.data,
			    "732 samples: 57 host (42 of them counted, not written), "
			    "620 guest kernel, 50 guest user, 3 lost, 2 unattributed");
	buffer_deinit(&text);
	close_profile(&opened);
}

static void one_vm_can_be_chosen(void **state)
{
	struct opened opened;
	const struct profile_totals *totals;

	(void)state;
	open_profile(&opened, "vm,sym", DB);
	check_row(&opened, 0, "200 db|[g] do_work");
	assert_int_equal(opened.profile->events[0].samples, 220);
	totals = &opened.profile->totals;
	assert_int_equal(totals->guest_kernel, 220);
	assert_int_equal(profile_totals_sum(totals) - totals->filtered, 222);
	assert_int_equal(profile_totals_sum(totals), 687 + 42 + 3);
	close_profile(&opened);
}

static void not_sampled_is_not_zero(void **state)
{
	struct profile_totals totals = { .guest_kernel = 7, .guest_sampled = true };
	struct buffer text;

	(void)state;
	buffer_init(&text, 4096);
	view_append_totals(&text, &totals);
	buffer_append_u8(&text, 0);
	assert_string_equal((const char *)text.data,
			    "7 samples: host not sampled, 7 guest kernel, 0 guest user, 0 lost, "
			    "0 unattributed");
	buffer_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_named),
		cmocka_unit_test(guests_kernels_meet_by_name),
		cmocka_unit_test(other_keys_count_right),
		cmocka_unit_test(totals_add_up),
		cmocka_unit_test(one_vm_can_be_chosen),
		cmocka_unit_test(not_sampled_is_not_zero),
	};

	return cmocka_run_group_tests(tests, record, remove_recording);
}
