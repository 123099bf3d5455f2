/* SPDX-License-Identifier: GPL-2.0-or-later */
/* KVM's parameters in a folder that stands for /sys/module, and what events do to its VMs. */
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/event/event.h"
#include "host/system/kvm.h"

static char modules[] = "/tmp/test_kvm_XXXXXX";

static void set(const char *module, const char *name, const char *value)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", modules, module);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/parameters", modules, module);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/parameters/%s", modules, module, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(value, file);
	fclose(file);
}

static int make_modules(void **state)
{
	(void)state;
	return !mkdtemp(modules);
}

static int remove_modules(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", modules);
	return system(command);
}

static void test_parameters(void **state)
{
	(void)state;
	assert_int_equal(host_kvm_vpmu(modules), HOST_VPMU_NONE);
	set("kvm", "enable_pmu", "N\n");
	assert_int_equal(host_kvm_vpmu(modules), HOST_VPMU_NONE);
	set("kvm", "enable_pmu", "Y\n");
	assert_int_equal(host_kvm_vpmu(modules), HOST_VPMU_EVENTS);
	set("kvm_amd", "enable_mediated_pmu", "N\n");
	assert_int_equal(host_kvm_vpmu(modules), HOST_VPMU_EVENTS);
	set("kvm_intel", "enable_mediated_pmu", "Y\n");
	assert_int_equal(host_kvm_vpmu(modules), HOST_VPMU_MEDIATED);
}

static void expect(const char *text, bool guest, bool host, enum host_vpmu vpmu, const char *harm)
{
	struct host_events events = { 0 };
	host_modes modes;
	char *got;

	assert_no_error(host_events_parse(text, &events));
	host_event_set_modes(&events.items.items[0], guest, host, &modes);
	got = host_event_harm(&events.items.items[0], vpmu);
	assert_int_equal(got != NULL, harm != NULL);
	if (harm)
		assert_non_null(strstr(got, harm));
	free(got);
	host_events_deinit(&events);
}

static void test_harm(void **state)
{
	(void)state;
	expect("cpu-clock", true, true, HOST_VPMU_MEDIATED, NULL);
	expect("cpu-clock:D", true, true, HOST_VPMU_EVENTS, NULL);
	expect("r1a8", true, false, HOST_VPMU_NONE, NULL);
	expect("r1a8:D", true, false, HOST_VPMU_NONE, NULL);
	expect("r1a8", true, false, HOST_VPMU_EVENTS, NULL);
	expect("r1a8:D", true, false, HOST_VPMU_EVENTS, "'r1a8:D' is pinned");
	expect("r1a8:D", false, true, HOST_VPMU_EVENTS, "takes a counter");
	expect("r1a8", true, false, HOST_VPMU_MEDIATED, "cannot start");
	expect("r1a8", true, true, HOST_VPMU_MEDIATED, "while 'r1a8' is recorded");
	expect("r1a8", false, true, HOST_VPMU_MEDIATED, NULL); /* it does not see guests */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_parameters, make_modules, remove_modules),
		cmocka_unit_test(test_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
