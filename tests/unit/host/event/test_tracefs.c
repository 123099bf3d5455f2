/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracepoints in a handmade tracefs, and HEADER_TRACING_DATA compared byte by byte with the format
 * in tools/perf/util/trace-event-read.c.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "host/event/tracefs.h"

static char root[] = "/tmp/test_tracefs_XXXXXX";

static void put(const char *name, const char *text)
{
	_cleanup_free_ char *path = memory_printf("%s/%s", root, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void folder(const char *name)
{
	_cleanup_free_ char *path = memory_printf("%s/%s", root, name);

	assert_int_equal(mkdir(path, 0700), 0);
}

static void tracepoint(const char *name, const char *id, const char *format)
{
	_cleanup_free_ char *its_folder = memory_printf("events/%s", name);
	_cleanup_free_ char *its_id = memory_printf("events/%s/id", name);
	_cleanup_free_ char *its_format = memory_printf("events/%s/format", name);

	folder(its_folder);
	put(its_id, id);
	put(its_format, format);
}

static int make_tracefs(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	folder("events");
	put("events/header_page", "page");
	put("events/header_event", "event");
	put("events/enable", "0\n");
	put("printk_formats", "formats");
	folder("events/kvm");
	folder("events/sched");
	tracepoint("kvm/kvm_exit", "17\n", "name: kvm_exit\n");
	tracepoint("kvm/kvm_entry", "18\n", "name: kvm_entry\n");
	tracepoint("sched/sched_switch", "5\n", "name: sched_switch\n");
	return 0;
}

static int remove_tracefs(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void test_find(void **state)
{
	struct tracefs_events events = { 0 };

	(void)state;
	assert_no_error(tracefs_find_events(root, "kvm", "kvm_exit", &events));
	assert_int_equal(events.items.count, 1);
	assert_int_equal(events.items.items[0].id, 17);
	assert_no_error(tracefs_find_events(root, "kvm", "*", &events));
	assert_int_equal(events.items.count, 3);
	assert_string_equal(events.items.items[1].name, "kvm_entry"); /* sorted */
	assert_error(tracefs_find_events(root, "kvm", "no", &events), ERROR_NOT_FOUND);
	assert_error(tracefs_find_events(root, "..", "*", &events), ERROR_NOT_FOUND);
	assert_error(tracefs_find_events("/nowhere", "kvm", "*", &events), ERROR_NOT_FOUND);
	tracefs_events_deinit(&events);
}

static void expect_bytes(struct cursor *cursor, const char *text, size_t size)
{
	const void *bytes = cursor_bytes(cursor, size);

	assert_non_null(bytes);
	assert_memory_equal(bytes, text, size);
}

/* A size of 8 bytes and the text. */
static void expect_file(struct cursor *cursor, const char *text)
{
	assert_int_equal(cursor_u64(cursor), strlen(text));
	expect_bytes(cursor, text, strlen(text));
}

static void test_tracing_data(void **state)
{
	const uint64_t ids[] = { 5, 17 };
	struct buffer out;
	struct cursor cursor;

	(void)state;
	buffer_init(&out, 1 << 20);
	assert_no_error(tracefs_build_tracing_data(root, ids, 2, &out));
	cursor = cursor_make(out.data, out.size, false);
	expect_bytes(&cursor, "\x17\x08\x44tracing", 10);
	expect_bytes(&cursor, "0.6", 4);
	assert_int_equal(cursor_u8(&cursor), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	assert_int_equal(cursor_u8(&cursor), sizeof(long));
	assert_int_equal(cursor_u32(&cursor), sysconf(_SC_PAGESIZE));
	expect_bytes(&cursor, "header_page", 12);
	expect_file(&cursor, "page");
	expect_bytes(&cursor, "header_event", 13);
	expect_file(&cursor, "event");
	assert_int_equal(cursor_u32(&cursor), 0); /* events of ftrace itself */
	assert_int_equal(cursor_u32(&cursor), 2); /* systems */
	expect_bytes(&cursor, "kvm", 4);
	assert_int_equal(cursor_u32(&cursor), 1);
	expect_file(&cursor, "name: kvm_exit\n");
	expect_bytes(&cursor, "sched", 6);
	assert_int_equal(cursor_u32(&cursor), 1);
	expect_file(&cursor, "name: sched_switch\n");
	assert_int_equal(cursor_u32(&cursor), 0); /* kallsyms */
	assert_int_equal(cursor_u32(&cursor), 7);
	expect_bytes(&cursor, "formats", 7);
	assert_int_equal(cursor_u64(&cursor), 0); /* command lines */
	assert_int_equal(cursor_left(&cursor), 0);
	buffer_deinit(&out);

	buffer_init(&out, 64);
	assert_error(tracefs_build_tracing_data(root, ids, 2, &out), ERROR_SYSTEM);
	buffer_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_tracing_data),
	};

	return cmocka_run_group_tests(tests, make_tracefs, remove_tracefs);
}
