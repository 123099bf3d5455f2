/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of an outline: rows, groups, zooms, filters, orders and call chains. What they must be
 * was worked out by hand from the few samples that the recording has.
 */
#include "test.h"

#include "profile/fixture.h"
#include "view/outline.h"

#define KERNEL 0xffffffff81000000ULL
#define ALPHA (KERNEL + 0x110)
#define BETA (KERNEL + 0x210)
#define GAMMA (KERNEL + 0x310)
#define IN_KERNEL (uint64_t)PERF_CONTEXT_GUEST_KERNEL

static const uint32_t pids[] = { 5000, 6000 };

static void add_chain(struct perfdata_writer *writer, uint64_t id, const uint64_t *words,
		      size_t count, size_t times)
{
	struct perfdata_event described = event();

	for (size_t i = 0; i < times; i++) {
		struct perfdata_sample sample = { .id = id, .ip = words[1],
						  .time_ns = clock_ns += 10, .pid = 1, .tid = 1,
						  .period = 1000, .callchain = words,
						  .misc = PERF_RECORD_MISC_GUEST_KERNEL,
						  .callchain_count = count };
		struct buffer record;

		buffer_init(&record, UINT16_MAX);
		assert_true(perfdata_sample_encode(&described.attr, &sample, &record));
		assert_no_error(perfdata_writer_append(writer, record.data, record.size));
		buffer_deinit(&record);
	}
}

#define CHAIN(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8

static void encode_kernel(struct buffer *ret)
{
	struct symbol_builder *builder = symbol_builder_create();
	struct symbol_table *table;

	symbol_builder_add(builder, KERNEL + 0x100, KERNEL + 0x200, 'T', "alpha", NULL);
	symbol_builder_add(builder, KERNEL + 0x200, KERNEL + 0x300, 'T', "beta", NULL);
	symbol_builder_add(builder, KERNEL + 0x300, KERNEL + 0x400, 'T', "gamma", NULL);
	table = symbol_builder_finish(builder);
	buffer_init(ret, 1 << 20);
	symbol_table_encode(table, ret);
	symbol_table_destroy(table);
}

static int record(void **unused)
{
	struct perfdata_inventory inventory;
	struct perfdata_event described;
	struct perfdata_writer *writer;
	struct buffer kernels[2];
	uint64_t web, db;

	(void)unused;
	close(mkstemp(path));
	more_fields = PERF_SAMPLE_CALLCHAIN;
	described = event();
	assert_no_error(perfdata_writer_create(path, &described, 1, 16, &writer));
	web = add_id(writer, pids[0], 0);
	db = add_id(writer, pids[1], 0);
	add_chain(writer, web, CHAIN(IN_KERNEL, ALPHA, BETA, GAMMA), 6);
	add_chain(writer, web, CHAIN(IN_KERNEL, BETA, GAMMA), 3);
	add_chain(writer, web, CHAIN(IN_KERNEL, GAMMA), 1);
	add_chain(writer, db, CHAIN(IN_KERNEL, ALPHA, GAMMA), 4);
	perfdata_inventory_init(&inventory);
	inventory.guest = inventory.guest_sampled = true;
	perfdata_inventory_add(&inventory, pids[0], "web", "qemu");
	perfdata_inventory_add(&inventory, pids[1], "db", "qemu");
	encode_kernel(&kernels[0]);
	encode_kernel(&kernels[1]);
	finish_two_vms(writer, &inventory, pids, kernels);
	return 0;
}

static int remove_recording(void **unused)
{
	(void)unused;
	return unlink(path);
}

struct shown {
	struct opened opened;
	struct report_columns columns;
	struct outline *outline;
};

static void show(struct shown *shown, struct outline_options options)
{
	struct opened *opened = &shown->opened;

	memset(shown, 0, sizeof(*shown));
	profile_keys_add(&opened->options.keys, PROFILE_VM);
	profile_keys_add(&opened->options.keys, PROFILE_SYMBOL);
	opened->options.chains = true;
	opened->options.children = options.children;
	assert_no_error(session_open(path, &symbol_options, &opened->session));
	opened->profile = profile_create(opened->session, &opened->options);
	report_columns_add(&shown->columns, REPORT_OVERHEAD, 0);
	report_columns_add(&shown->columns, REPORT_KEY, PROFILE_VM);
	report_columns_add(&shown->columns, REPORT_KEY, PROFILE_SYMBOL);
	options.columns = &shown->columns;
	options.keys = &opened->options.keys;
	options.chains = !options.hierarchy;
	shown->outline = outline_create(opened->profile, &options);
}

static void close_shown(struct shown *shown)
{
	outline_destroy(shown->outline);
	close_profile(&shown->opened);
}

/* A line as "  +6 web  [g] alpha": indent, fold, thousands of the period, text. */
static void append_line(const struct outline *outline, size_t number, bool children,
			struct buffer *out)
{
	static const char marks[] = { '.', '+', '-' };
	struct outline_line line;

	outline_line(outline, number, &line);
	buffer_printf(out, "%*s%c", (int)line.indent * 2, "", marks[line.fold]);
	if (line.kind != OUTLINE_CALL || line.forks)
		buffer_printf(out, "%llu", (unsigned long long)line.row.period / 1000);
	if (children && line.kind != OUTLINE_CALL)
		buffer_printf(out, line.children_known ? "/%llu" : "/-",
			      (unsigned long long)line.row.children / 1000);
	buffer_append_string(out, " ");
	outline_append_text(outline, number, out);
	buffer_append_string(out, "\n");
}

static void check(const struct shown *shown, const char *want)
{
	struct buffer text;

	buffer_init(&text, 65536);
	for (size_t i = 0; i < outline_count(shown->outline); i++)
		append_line(shown->outline, i, outline_options(shown->outline)->children, &text);
	buffer_append_u8(&text, 0);
	assert_string_equal((const char *)text.data, want);
	buffer_deinit(&text);
}

static const struct outline_options by_children = { .children = true, .caller = true };
static const struct outline_options plain = { 0 };

static void rows_are_those_of_the_profile(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, by_children);
	check(&shown, "+1/10 web  [g] gamma\n+3/9 web  [g] beta\n+6/6 web  [g] alpha\n"
		      "+0/4 db  [g] gamma\n+4/4 db  [g] alpha\n");
	outline_sort_by_self(shown.outline, true);
	check(&shown, "+6/6 web  [g] alpha\n+4/4 db  [g] alpha\n+3/9 web  [g] beta\n"
		      "+1/10 web  [g] gamma\n+0/4 db  [g] gamma\n");
	close_shown(&shown);
	/* Without children, a function without samples of its own has no row. */
	show(&shown, plain);
	check(&shown, "+6 web  [g] alpha\n+4 db  [g] alpha\n+3 web  [g] beta\n+1 web  [g] gamma\n");
	outline_sort_by_self(shown.outline, false); /* there is nothing else */
	assert_true(outline_is_sorted_by_self(shown.outline));
	close_shown(&shown);
}

static void small_rows_are_left_out(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, (struct outline_options){ .min_percent = 100 * 4 / 14.0 });
	check(&shown, "+6 web  [g] alpha\n+4 db  [g] alpha\n");
	close_shown(&shown);
}

static void chains_unfold_below_rows(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, by_children);
	/* What gamma called; beta goes on to alpha in six of nine samples. */
	assert_true(outline_unfold(shown.outline, 0));
	assert_true(outline_unfold(shown.outline, 1));
	/* alpha's callers continue each other, down to itself. */
	assert_true(outline_unfold(shown.outline, 4));
	check(&shown, "-1/10 web  [g] gamma\n  -9 beta\n    .6 alpha\n+3/9 web  [g] beta\n"
		      "-6/6 web  [g] alpha\n  -6 gamma\n  - beta\n  . alpha\n"
		      "+0/4 db  [g] gamma\n+4/4 db  [g] alpha\n");
	assert_false(outline_unfold(shown.outline, 2));
	assert_int_equal(outline_above(shown.outline, 2), 1);
	assert_int_equal(outline_above(shown.outline, 7), 6);
	assert_int_equal(outline_above(shown.outline, 4), 4);
	/* What was unfolded below is still so when it is seen again. */
	assert_true(outline_fold(shown.outline, 0));
	assert_false(outline_fold(shown.outline, 0));
	assert_int_equal(outline_count(shown.outline), 8);
	assert_true(outline_unfold(shown.outline, 0));
	assert_int_equal(outline_count(shown.outline), 10);
	outline_set_caller(shown.outline, false);
	outline_unfold(shown.outline, 2);
	check(&shown, "+1/10 web  [g] gamma\n+3/9 web  [g] beta\n-6/6 web  [g] alpha\n  -6 beta\n"
		      "  . gamma\n+0/4 db  [g] gamma\n+4/4 db  [g] alpha\n");
	close_shown(&shown);
}

static void everything_unfolds_at_once(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, by_children);
	outline_group_by(shown.outline, PROFILE_VM);
	assert_true(outline_unfold_all(shown.outline, 0));
	/* beta: from itself on where it called alpha, whole where the samples are its own. */
	check(&shown, "-10/10 web\n  -1/10 [g] gamma\n    -9 beta\n      .6 alpha\n"
		      "  -3/9 [g] beta\n    -6 beta\n    . alpha\n    -3 gamma\n    . beta\n"
		      "  -6/6 [g] alpha\n    -6 gamma\n    - beta\n    . alpha\n+4/4 db\n");
	outline_fold_all(shown.outline, 0);
	outline_unfold(shown.outline, 0);
	check(&shown, "-10/10 web\n  +1/10 [g] gamma\n  +3/9 [g] beta\n  +6/6 [g] alpha\n"
		      "+4/4 db\n");
	close_shown(&shown);
}

static void calls_below_the_limit_are_left_out(void **state)
{
	struct outline_options options = by_children;
	struct shown shown;

	(void)state;
	options.min_chain_percent = 50; /* of 14 samples */
	show(&shown, options);
	outline_unfold_all(shown.outline, 0);
	check(&shown, "-1/10 web  [g] gamma\n  .9 beta\n+3/9 web  [g] beta\n+6/6 web  [g] alpha\n"
		      "+0/4 db  [g] gamma\n+4/4 db  [g] alpha\n");
	close_shown(&shown);
}

static void rows_are_grouped(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, by_children);
	assert_true(outline_shows(shown.outline, PROFILE_VM));
	assert_true(outline_group_by(shown.outline, PROFILE_VM));
	assert_false(outline_shows(shown.outline, PROFILE_VM));
	outline_unfold(shown.outline, 1);
	check(&shown, "+10/10 web\n-4/4 db\n  +0/4 [g] gamma\n  +4/4 [g] alpha\n");
	/* 9 of web's samples have a beta in their chains: its rows do not say so. */
	outline_set_filter(shown.outline, "beta");
	check(&shown, "+3/- web\n");
	outline_set_filter(shown.outline, "");
	/* The same function in two kernels is one. */
	assert_true(outline_group_by(shown.outline, PROFILE_SYMBOL));
	check(&shown, "+1/14 [g] gamma\n+10/10 [g] alpha\n+3/9 [g] beta\n");
	assert_true(outline_unfold(shown.outline, 1));
	check(&shown, "+1/14 [g] gamma\n-10/10 [g] alpha\n  +6/6 web\n  +4/4 db\n+3/9 [g] beta\n");
	/* Functions of a file may call each other: that it has 14 is known of its own samples. */
	assert_true(outline_group_by(shown.outline, PROFILE_DSO));
	check(&shown, "+14/- [guest.kernel.kallsyms]\n");
	assert_true(outline_group_by(shown.outline, PROFILE_MODE));
	check(&shown, "+14/- guest kernel\n");
	assert_false(outline_group_by(shown.outline, PROFILE_GUEST_COMM));
	assert_int_equal(outline_group(shown.outline), PROFILE_MODE);
	assert_true(outline_group_by(shown.outline, PROFILE_KEY_COUNT));
	assert_int_equal(outline_count(shown.outline), 5);
	close_shown(&shown);
}

static void keys_are_levels(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, (struct outline_options){ .hierarchy = true });
	outline_unfold_all(shown.outline, 1);
	check(&shown, "+10 web\n-4 db\n  .4 [g] alpha\n");
	close_shown(&shown);
}

static void zooms_hold_what_they_say(void **state)
{
	struct outline_zoom zooms[PROFILE_KEY_COUNT];
	struct shown shown;

	(void)state;
	show(&shown, by_children);
	outline_unfold(shown.outline, 4);
	/* Of a call: what its row has. */
	assert_int_equal(outline_zooms_of(shown.outline, 5, zooms), 3);
	assert_int_equal(zooms[0].key, PROFILE_VM);
	assert_int_equal(zooms[1].key, PROFILE_DSO);
	assert_int_equal(zooms[2].key, PROFILE_MODE);
	assert_string_equal(zooms[0].text, "VM db");
	assert_int_equal(outline_total(shown.outline), 14000);
	outline_zoom_in(shown.outline, &zooms[0]);
	check(&shown, "+0/4 db  [g] gamma\n+4/4 db  [g] alpha\n");
	assert_int_equal(outline_total(shown.outline), 4000);
	outline_set_absolute(shown.outline, true);
	assert_int_equal(outline_total(shown.outline), 14000);
	outline_zoom_in(shown.outline, &zooms[1]);
	assert_int_equal(outline_count(shown.outline), 2);
	outline_zooms_free(zooms, 3);
	assert_true(outline_zoom_out(shown.outline));
	assert_int_equal(outline_count(shown.outline), 2);
	assert_true(outline_zoom_out(shown.outline));
	assert_int_equal(outline_count(shown.outline), 5);
	assert_false(outline_zoom_out(shown.outline));
	/* Of a group: what makes it one. */
	outline_group_by(shown.outline, PROFILE_VM);
	assert_int_equal(outline_zooms_of(shown.outline, 0, zooms), 1);
	outline_zooms_free(zooms, 1);
	close_shown(&shown);
}

/* The same recording, counted again in a session of its own: of the VM called NAME alone. */
static void count_again(const struct shown *shown, bool children, const char *name,
			struct filter *filter, struct opened *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->options = shown->opened.options;
	ret->options.children = children;
	assert_no_error(session_open(path, &symbol_options, &ret->session));
	filter->any = name;
	for (size_t i = 0; name && i < ret->session->machines.count; i++)
		if (!strcmp(ret->session->machines.items[i]->name, name))
			vector_append(&filter->vms, ret->session->machines.items[i]);
	ret->options.filter = filter;
	ret->profile = profile_create(ret->session, &ret->options);
}

static void another_profile_is_shown_as_the_one_before(void **state)
{
	struct filter none = { 0 }, of_db = { 0 };
	struct opened other, db;
	struct shown shown;

	(void)state;
	show(&shown, plain);
	/* With children, the profile has its rows in another order. */
	count_again(&shown, true, NULL, &none, &other);
	count_again(&shown, true, "db", &of_db, &db);
	outline_unfold(shown.outline, 2);
	outline_set_wanted(shown.outline, "alpha");
	outline_suspend(shown.outline, 3);
	assert_int_equal(outline_resume(shown.outline, other.profile, 3), 2);
	check(&shown, "+1 web  [g] gamma\n-3 web  [g] beta\n  .3 gamma\n+6 web  [g] alpha\n"
		      "+4 db  [g] alpha\n");
	assert_int_equal(outline_find(shown.outline, 0, false), 3);
	/* A line that is gone: its number. */
	outline_suspend(shown.outline, 1);
	assert_int_equal(outline_resume(shown.outline, db.profile, 1), 1);
	check(&shown, "+4 db  [g] alpha\n");
	outline_suspend(shown.outline, 0);
	assert_int_equal(outline_resume(shown.outline, shown.opened.profile, 0), 1);
	outline_suspend(shown.outline, 0);
	outline_destroy(shown.outline); /* it may also end there */
	close_profile(&shown.opened);
	close_profile(&other);
	close_profile(&db);
	vector_deinit(&of_db.vms);
}

static void zooms_groups_and_filters_stay(void **state)
{
	struct outline_zoom zooms[PROFILE_KEY_COUNT];
	struct profile_event event = { .name = "nothing" };
	struct filter none = { 0 };
	struct profile empty = { 0 };
	struct opened other;
	struct shown shown;

	(void)state;
	show(&shown, by_children);
	count_again(&shown, true, NULL, &none, &other);
	empty.events = &event;
	empty.event_count = 1;
	outline_zooms_of(shown.outline, 0, zooms);
	outline_zoom_in(shown.outline, &zooms[0]);
	outline_zooms_free(zooms, 3);
	outline_set_filter(shown.outline, "a");
	outline_group_by(shown.outline, PROFILE_VM);
	outline_sort_by_self(shown.outline, true);
	outline_unfold(shown.outline, 0);
	outline_unfold(shown.outline, 1);
	outline_fold(shown.outline, 2);
	/* In between, there is nothing. */
	empty.session = shown.opened.session;
	outline_suspend(shown.outline, 1);
	assert_int_equal(outline_resume(shown.outline, &empty, 1), 1);
	assert_int_equal(outline_count(shown.outline), 0);
	outline_suspend(shown.outline, 0);
	assert_int_equal(outline_resume(shown.outline, other.profile, 0), 1);
	check(&shown, "-10/10 web\n  -6/6 [g] alpha\n    +6 gamma\n  +3/9 [g] beta\n"
		      "  +1/10 [g] gamma\n");
	assert_string_equal(outline_filter(shown.outline), "a");
	assert_int_equal(outline_total(shown.outline), 10000);
	close_shown(&shown);
	close_profile(&other);
}

static void filters_look_at_every_column(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, plain);
	/* As it is typed: each text contains the one before, and then not. */
	outline_set_filter(shown.outline, "A");
	check(&shown, "+6 web  [g] alpha\n+4 db  [g] alpha\n+3 web  [g] beta\n+1 web  [g] gamma\n");
	outline_set_filter(shown.outline, "AL");
	check(&shown, "+6 web  [g] alpha\n+4 db  [g] alpha\n");
	outline_set_filter(shown.outline, "GA");
	check(&shown, "+1 web  [g] gamma\n");
	outline_set_filter(shown.outline, "ALPH");
	check(&shown, "+6 web  [g] alpha\n+4 db  [g] alpha\n");
	outline_set_filter(shown.outline, "db");
	check(&shown, "+4 db  [g] alpha\n");
	outline_set_filter(shown.outline, "nothing");
	check(&shown, "");
	outline_group_by(shown.outline, PROFILE_VM);
	check(&shown, "");
	outline_set_filter(shown.outline, "bet");
	check(&shown, "+3 web\n");
	assert_string_equal(outline_filter(shown.outline), "bet");
	outline_set_filter(shown.outline, "");
	check(&shown, "+10 web\n+4 db\n");
	close_shown(&shown);
}

static void lines_are_found(void **state)
{
	struct shown shown;

	(void)state;
	show(&shown, plain);
	outline_set_wanted(shown.outline, "Alpha");
	assert_int_equal(outline_find(shown.outline, 0, false), 1);
	assert_int_equal(outline_find(shown.outline, 1, false), 0); /* around the end */
	assert_int_equal(outline_find(shown.outline, 0, true), 1);
	outline_set_wanted(shown.outline, "missing");
	assert_int_equal(outline_find(shown.outline, 0, false), 4);
	/* Calls, which only have their own text. */
	outline_unfold(shown.outline, 1);
	outline_set_wanted(shown.outline, "gamma");
	assert_int_equal(outline_find(shown.outline, 0, false), 2);
	close_shown(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_the_profile),
		cmocka_unit_test(small_rows_are_left_out),
		cmocka_unit_test(chains_unfold_below_rows),
		cmocka_unit_test(everything_unfolds_at_once),
		cmocka_unit_test(calls_below_the_limit_are_left_out),
		cmocka_unit_test(rows_are_grouped),
		cmocka_unit_test(keys_are_levels),
		cmocka_unit_test(zooms_hold_what_they_say),
		cmocka_unit_test(another_profile_is_shown_as_the_one_before),
		cmocka_unit_test(zooms_groups_and_filters_stay),
		cmocka_unit_test(filters_look_at_every_column),
		cmocka_unit_test(lines_are_found),
	};

	return cmocka_run_group_tests(tests, record, remove_recording);
}
