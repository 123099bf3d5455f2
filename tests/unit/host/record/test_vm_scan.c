/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder never waits for a scan, however long it takes, not even at the end. */
#include "test.h"

#include <unistd.h>

#include "base/memory.h"
#include "host/record/vm_scan.h"

static int go[2], begun[2]; /* pipes: a scan waits for a byte, and says that it has begun */

struct error *__wrap_host_vm_finder_scan(struct host_vm_finder *finder, struct host_vms *ret);

struct error *__wrap_host_vm_finder_scan(struct host_vm_finder *finder, struct host_vms *ret)
{
	struct host_vm vm = { .pid = 17, .name = memory_strdup("seventeen"),
			      .vmm = memory_strdup("test") };
	char byte = 'x';

	(void)finder;
	assert_int_equal(write(begun[1], &byte, 1), 1);
	assert_int_equal(read(go[0], &byte, 1), 1);
	*ret = (struct host_vms){ 0 };
	vector_append(&ret->items, vm);
	if (byte != 'e')
		return NULL;
	host_vms_deinit(ret);
	return error_create(ERROR_SYSTEM, "it failed");
}

static void let(char byte)
{
	assert_int_equal(write(go[1], &byte, 1), 1);
}

static struct vm_scan_result wait_for(struct vm_scan *scan)
{
	struct vm_scan_result result;

	while (!vm_scan_take(scan, &result))
		usleep(1000);
	return result;
}

static void begin(struct vm_scan *scan)
{
	char byte;

	assert_true(vm_scan_begin(scan));
	assert_int_equal(read(begun[0], &byte, 1), 1);
}

static void test_nobody_waits(void **state)
{
	struct vm_scan *scan = vm_scan_create();
	struct vm_scan_result result;

	(void)state;
	assert_false(vm_scan_take(scan, &result));
	begin(scan);
	for (int i = 0; i < 100; i++) {
		assert_false(vm_scan_begin(scan));
		assert_false(vm_scan_take(scan, &result));
	}
	let('x');
	result = wait_for(scan);
	assert_null(result.error);
	assert_int_equal(result.vms.items.count, 1);
	assert_int_equal(result.vms.items.items[0].pid, 17);
	host_vms_deinit(&result.vms);
	assert_false(vm_scan_take(scan, &result));
	begin(scan);
	let('e');
	result = wait_for(scan);
	assert_error(result.error, ERROR_SYSTEM);
	vm_scan_destroy(scan);
}

static void test_result_that_nobody_takes(void **state)
{
	struct vm_scan *scan = vm_scan_create();

	(void)state;
	begin(scan);
	let('x');
	vm_scan_destroy(scan);
}

/* A scan that hangs, for example on the memory of a process, does not keep the recorder alive. */
static void test_scan_that_hangs(void **state)
{
	static struct vm_scan *scan;

	(void)state;
	scan = vm_scan_create();
	begin(scan);
	vm_scan_destroy(scan); /* leaves it to its thread */
	let('x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_waits),
		cmocka_unit_test(test_result_that_nobody_takes),
		cmocka_unit_test(test_scan_that_hangs),
	};

	assert_int_equal(pipe(go) | pipe(begun), 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
