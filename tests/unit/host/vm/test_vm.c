/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choosing a VM by what the user typed. Finding them needs VMs: tests/lab/test_list.sh. */
#include "test.h"

#include <string.h>

#include "base/memory.h"
#include "host/vm/vm.h"

static struct host_vms make_vms(void)
{
	static const struct {
		uint32_t pid;
		const char *name;
	} truth[] = { { 10, "web" }, { 20, "db" }, { 30, "web" }, { 40, "20" }, { 50, "two:5" },
		      { 50, "two:7" } };
	struct host_vms vms = { 0 };

	for (size_t i = 0; i < sizeof(truth) / sizeof(*truth); i++) {
		struct host_vm vm = { .pid = truth[i].pid, .name = memory_strdup(truth[i].name),
				      .vmm = memory_strdup("qemu") };

		vector_append(&vms.items, vm);
	}
	vector_append(&vms.items.items[1].vcpus, ((struct host_vcpu){ .number = 3, .tid = 21 }));
	return vms;
}

static void selects_by_name_or_pid(void **state)
{
	_cleanup_host_vms_ struct host_vms vms = make_vms();
	const struct host_vm *vm = NULL;

	(void)state;
	assert_no_error(host_vms_select(&vms, "db", &vm));
	assert_int_equal(vm->pid, 20);
	assert_no_error(host_vms_select(&vms, "10", &vm));
	assert_string_equal(vm->name, "web");
	/* A pid takes precedence over a name that is the same number. */
	assert_no_error(host_vms_select(&vms, "20", &vm));
	assert_string_equal(vm->name, "db");
	assert_no_error(host_vms_select(&vms, "two:7", &vm));
	assert_ptr_equal(vm, &vms.items.items[5]);
}

static void refuses_what_is_not_one_vm(void **state)
{
	_cleanup_host_vms_ struct host_vms vms = make_vms();
	const struct host_vm *vm = NULL;
	struct error *error;

	(void)state;
	error = host_vms_select(&vms, "web", &vm);
	assert_string_equal(error_message(error),
			    "'web' is more than one VM: web (pid 10), web (pid 30)");
	assert_error(error, ERROR_USAGE);
	error = host_vms_select(&vms, "50", &vm);
	assert_string_equal(error_message(error),
			    "'50' is more than one VM: two:5 (pid 50), two:7 (pid 50)");
	assert_error(error, ERROR_USAGE);
	error = host_vms_select(&vms, "we", &vm);
	assert_string_equal(error_hint_text(error),
			    "the VMs are web (pid 10), db (pid 20), web (pid 30), 20 (pid 40), "
			    "two:5 (pid 50), two:7 (pid 50)");
	assert_error(error, ERROR_NOT_FOUND);
	error = host_vms_select(&vms, "21", &vm);
	assert_string_equal(error_message(error), "21 is the thread of vCPU 3 of VM 'db'");
	assert_error(error, ERROR_USAGE);
	assert_error(host_vms_select(&vms, "", &vm), ERROR_NOT_FOUND);
	assert_error(host_vms_select(&vms, "010", &vm), ERROR_NOT_FOUND);
	assert_null(vm);
}

static void says_that_there_is_none(void **state)
{
	struct host_vms vms = { 0 };
	const struct host_vm *vm = NULL;

	(void)state;
	assert_error(host_vms_select(&vms, "x", &vm), ERROR_NOT_FOUND);
}

/* Hints stay one line of bounded length, however many VMs there are. */
static void bounds_its_hint(void **state)
{
	_cleanup_host_vms_ struct host_vms vms = { 0 };
	const struct host_vm *vm = NULL;
	struct error *error;

	(void)state;
	for (uint32_t i = 1; i <= 10000; i++) {
		struct host_vm many = { .pid = i, .name = memory_printf("vm-%u", i),
					.vmm = memory_strdup("qemu") };

		vector_append(&vms.items, many);
	}
	error = host_vms_select(&vms, "x", &vm);
	assert_in_range(strlen(error_hint_text(error)), 500, 1100);
	assert_error(error, ERROR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selects_by_name_or_pid),
		cmocka_unit_test(refuses_what_is_not_one_vm),
		cmocka_unit_test(says_that_there_is_none),
		cmocka_unit_test(bounds_its_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
