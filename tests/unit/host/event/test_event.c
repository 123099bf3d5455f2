/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -e syntax. The numbers come from include/uapi/linux/perf_event.h and from the attr dumps of `perf
 * record -vv -e EVENT` (6.1).
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/event/event.h"
#include "host/event/event_names.h"
#include "host/event/event_pmu.h"

struct expectation {
	const char *text;
	uint32_t type;
	uint64_t config;
};

static const struct expectation symbolic[] = {
	{ "cycles", 0, 0 },
	{ "cpu-cycles", 0, 0 },
	{ "instructions", 0, 1 },
	{ "branch-misses", 0, 5 },
	{ "cpu-clock", 1, 0 },
	{ "task-clock", 1, 1 },
	{ "cs", 1, 3 },
	{ "major-faults", 1, 6 },
	{ "L1-dcache-load-misses", 3, 0x10000 },
	{ "L1-dcache-prefetches", 3, 0x200 },
	{ "l1i-prefetch", 3, 0x201 },
	{ "LLC-store-misses", 3, 0x10102 },
	{ "dTLB-loads", 3, 0x3 },
	{ "iTLB-miss", 3, 0x10004 },
	{ "branch-load-misses", 3, 0x10005 },
	{ "node-prefetch-misses", 3, 0x10206 },
	{ "r1a8", 4, 0x1a8 },
	{ "rdeadBEEF", 4, 0xdeadbeef },
};

static struct host_event *parse_one(const char *text, struct host_events *events)
{
	*events = (struct host_events){ 0 };
	assert_no_error(host_events_parse(text, events));
	assert_int_equal(events->items.count, 1);
	return &events->items.items[0];
}

static void test_symbolic(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(symbolic) / sizeof(*symbolic); i++) {
		struct host_events events;
		struct host_event *event = parse_one(symbolic[i].text, &events);

		assert_int_equal(event->attr.type, symbolic[i].type);
		assert_int_equal(event->attr.config, symbolic[i].config);
		assert_string_equal(event->name, symbolic[i].text);
		assert_int_equal(event->software, symbolic[i].type == PERF_TYPE_SOFTWARE);
		host_events_deinit(&events);
	}
}

static void test_modifiers(void **state)
{
	struct host_events events;
	struct host_event *event = parse_one("instructions:ukpp", &events);
	host_modes modes;

	(void)state;
	assert_string_equal(event->name, "instructions:ukpp");
	host_event_set_modes(event, true, true, &modes);
	assert_int_equal(event->attr.precise_ip, 2);
	assert_int_equal(event->attr.exclude_hv, 1);
	assert_int_equal(event->attr.exclude_user | event->attr.exclude_kernel, 0);
	assert_int_equal(event->attr.exclude_guest | event->attr.exclude_host, 0);
	host_events_deinit(&events);

	event = parse_one("cycles:G", &events);
	/* the event's own modifier takes precedence */
	host_event_set_modes(event, false, true, &modes);
	assert_int_equal(event->attr.exclude_host, 1);
	assert_int_equal(event->attr.exclude_guest, 0);
	assert_int_equal(modes, HOST_MODES_GUEST);
	assert_false(host_event_sees_host(event));
	host_events_deinit(&events);

	event = parse_one("cycles", &events);
	host_event_set_modes(event, false, true, &modes);
	assert_int_equal(event->attr.exclude_guest, 1);
	assert_int_equal(modes, HOST_MODES_HOST);
	host_events_deinit(&events);
}

/* Software events never get exclude_*: unwanted samples are recognized by their mode. */
static void test_software_modes(void **state)
{
	struct host_events events;
	struct host_event *event = parse_one("cpu-clock:u", &events);
	host_modes modes;

	(void)state;
	host_event_set_modes(event, true, false, &modes);
	assert_int_equal(event->attr.exclude_user | event->attr.exclude_kernel |
			 event->attr.exclude_hv | event->attr.exclude_host |
			 event->attr.exclude_guest, 0);
	assert_int_equal(modes, 1 << PERF_RECORD_MISC_GUEST_USER);
	assert_true(host_event_sees_host(event));
	host_events_deinit(&events);
}

static void test_lists(void **state)
{
	struct host_events events = { 0 };

	(void)state;
	assert_no_error(host_events_parse("cycles:u,cpu-clock,r10", &events));
	assert_int_equal(events.items.count, 3);
	assert_error(host_events_parse("cs,nonsense", &events), ERROR_NOT_FOUND);
	assert_int_equal(events.items.count, 3); /* a list that fails leaves nothing behind */
	assert_error(host_events_parse("", &events), ERROR_USAGE);
	assert_error(host_events_parse("cs,", &events), ERROR_USAGE);
	assert_error(host_events_parse("cycles:q", &events), ERROR_USAGE);
	assert_error(host_events_parse("cycles:pppp", &events), ERROR_USAGE);
	assert_error(host_events_parse("no_such_pmu/event=1/", &events), ERROR_NOT_FOUND);
	assert_error(host_events_parse("../event=1/", &events), ERROR_NOT_FOUND);
	assert_error(host_events_parse("cpu/event=1", &events), ERROR_USAGE);
	assert_error(host_events_parse("r12345678123456789", &events), ERROR_NOT_FOUND);
	assert_error(host_events_parse("L1-dcache-loads-stores", &events), ERROR_NOT_FOUND);
	host_events_deinit(&events);
}

static void test_suggestions(void **state)
{
	struct event_candidates candidates = { 0 };
	char *text = event_name_suggest("cpu-clok", &candidates);

	(void)state;
	assert_non_null(strstr(text, "cpu-clock"));
	free(text);
	vector_append(&candidates.names, (char *)"kvm:kvm_exit");
	text = event_name_suggest("kvm:kvm_exti", &candidates);
	assert_string_equal(text, "kvm:kvm_exit");
	free(text);
	assert_null(event_name_suggest("qqqqqqqqqqqqqqqq", &candidates));
	vector_deinit(&candidates.names);
}

struct fake_sysfs {
	char root[64];
};

static void put(const struct fake_sysfs *fake, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fake->root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void folder(const struct fake_sysfs *fake, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", fake->root, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_sysfs(struct fake_sysfs *fake)
{
	*fake = (struct fake_sysfs){ .root = "/tmp/test_event_XXXXXX" };
	assert_non_null(mkdtemp(fake->root));
	folder(fake, "cpu");
	folder(fake, "cpu/format");
	folder(fake, "cpu/events");
	put(fake, "cpu/type", "4\n");
	put(fake, "cpu/format/event", "config:0-7,32-35\n"); /* AMD's */
	put(fake, "cpu/format/umask", "config:8-15\n");
	put(fake, "cpu/format/edge", "config:18\n");
	put(fake, "cpu/format/ldlat", "config1:0-15\n");
	put(fake, "cpu/format/strange", "nonsense\n");
	put(fake, "cpu/events/cache-fill", "event=0x143,umask=0x1f\n");
	put(fake, "cpu/events/cache-fill.scale", "64\n");
}

static void remove_sysfs(const struct fake_sysfs *fake)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", fake->root);
	assert_int_equal(system(command), 0);
}

static void test_pmu_terms(void **state)
{
	struct fake_sysfs fake;
	struct host_event event = { 0 };
	char *found;

	(void)state;
	make_sysfs(&fake);
	assert_no_error(event_pmu_parse(fake.root, "cpu", "event=0x1c2,umask=3,edge,ldlat=0x20,"
					"period=5000,name=mine", &event));
	assert_int_equal(event.attr.type, 4);
	/* 0x1c2: its low byte in bits 0-7, the 1 in bit 32 */
	assert_int_equal(event.attr.config, 0x1000403c2);
	assert_int_equal(event.attr.config1, 0x20);
	assert_int_equal(event.attr.sample_period, 5000);
	assert_true(event.rate_set);
	assert_string_equal(event.name, "mine");
	free(event.name);

	event = (struct host_event){ 0 };
	assert_no_error(event_pmu_parse(fake.root, "cpu", "cache-fill,edge=1", &event));
	assert_int_equal(event.attr.config, 0x100041f43);
	found = event_pmu_find_event(fake.root, "cache-fill");
	assert_string_equal(found, "cpu");
	free(found);
	assert_null(event_pmu_find_event(fake.root, "umask"));

	assert_error(event_pmu_parse(fake.root, "cpu", "umask=0x100", &event), ERROR_USAGE);
	assert_error(event_pmu_parse(fake.root, "cpu", "umask=-1", &event), ERROR_USAGE);
	assert_error(event_pmu_parse(fake.root, "cpu", "umask=", &event), ERROR_USAGE);
	assert_error(event_pmu_parse(fake.root, "cpu", "period=0", &event), ERROR_USAGE);
	assert_error(event_pmu_parse(fake.root, "cpu", "nothing", &event), ERROR_NOT_FOUND);
	assert_error(event_pmu_parse(fake.root, "cpu", "../type", &event), ERROR_NOT_FOUND);
	assert_error(event_pmu_parse(fake.root, "cpu", "strange", &event), ERROR_UNSUPPORTED);
	assert_error(event_pmu_parse(fake.root, "gpu", "event=1", &event), ERROR_NOT_FOUND);
	remove_sysfs(&fake);
}

static void test_core_pmus(void **state)
{
	struct fake_sysfs fake;
	struct event_core_pmus cores;

	(void)state;
	make_sysfs(&fake);
	event_pmu_find_cores(fake.root, &cores);
	assert_int_equal(cores.items.count, 0);
	folder(&fake, "cpu_core");
	put(&fake, "cpu_core/type", "4\n");
	put(&fake, "cpu_core/cpus", "0-3\n");
	event_pmu_find_cores(fake.root, &cores);
	assert_int_equal(cores.items.count, 0); /* a single kind needs no distinction */
	folder(&fake, "cpu_atom");
	put(&fake, "cpu_atom/type", "8\n");
	put(&fake, "cpu_atom/cpus", "4-7\n");
	event_pmu_find_cores(fake.root, &cores);
	assert_int_equal(cores.items.count, 2);
	assert_int_equal(cores.items.items[0].type + cores.items.items[1].type, 12);
	event_core_pmus_deinit(&cores);
	remove_sysfs(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbolic),       cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_software_modes), cmocka_unit_test(test_lists),
		cmocka_unit_test(test_suggestions),    cmocka_unit_test(test_pmu_terms),
		cmocka_unit_test(test_core_pmus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
