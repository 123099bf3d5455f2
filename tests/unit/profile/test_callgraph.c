/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains through a guest's kernel and user code, and damaged chains. The shares of functions
 * and the trees below them were worked out by hand.
 */
#include "test.h"

#include "profile/fixture.h"
#include "profile/callgraph.h"
#include "profile/calltree.h"

#define WEB 5000
#define KERNEL 0xffffffff81000000ULL
#define WORK (KERNEL + 0x110)
#define REST (KERNEL + 0x210)
#define PROGRAM 0x401000ULL
#define MAX_WORDS 1400

static uint32_t sample_pid = WEB, sample_tid = WEB + 1;

static void add_chain(struct perfdata_writer *writer, uint64_t id, uint16_t misc,
		      const uint64_t *words, size_t count, uint64_t ip)
{
	struct perfdata_event described = event();
	struct perfdata_sample sample = { .id = id, .ip = ip, .time_ns = clock_ns += 10,
					  .pid = sample_pid, .tid = sample_tid, .period = 1000,
					  .misc = misc, .callchain = words,
					  .callchain_count = count };
	struct buffer record;

	buffer_init(&record, UINT16_MAX);
	assert_true(perfdata_sample_encode(&described.attr, &sample, &record));
	assert_no_error(perfdata_writer_append(writer, record.data, record.size));
	buffer_deinit(&record);
}

#define CHAIN(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8
#define IN_KERNEL (uint64_t)PERF_CONTEXT_GUEST_KERNEL
#define IN_USER (uint64_t)PERF_CONTEXT_GUEST_USER

static void finish(struct perfdata_writer *writer)
{
	struct symbol_builder *builder = symbol_builder_create();
	struct perfdata_inventory inventory;
	struct symbol_table *table;
	struct buffer symbols;

	symbol_builder_add(builder, KERNEL + 0x100, KERNEL + 0x200, 'T', "do_work", NULL);
	symbol_builder_add(builder, KERNEL + 0x200, KERNEL + 0x300, 'T', "do_rest", NULL);
	table = symbol_builder_finish(builder);
	buffer_init(&symbols, 1 << 20);
	symbol_table_encode(table, &symbols);
	symbol_table_destroy(table);
	perfdata_inventory_init(&inventory);
	inventory.guest_processes = sample_pid != WEB;
	inventory.guest = inventory.guest_sampled = inventory.host_sampled = true;
	perfdata_inventory_add(&inventory, WEB, "web", "qemu");
	assert_no_error(perfdata_writer_finish(
		writer, &(struct perfdata_writer_features){
				.inventory = &inventory,
				.symbols = &(struct perfdata_writer_symbols){ WEB, symbols.data,
									      symbols.size },
				.symbols_count = 1 }));
	perfdata_writer_destroy(writer);
	perfdata_inventory_deinit(&inventory);
	buffer_deinit(&symbols);
}

/* 20 samples in total. */
static void add_samples_with_chains(struct perfdata_writer *writer, uint64_t web, uint64_t host)
{
	const uint16_t kernel = PERF_RECORD_MISC_GUEST_KERNEL, user = PERF_RECORD_MISC_GUEST_USER;

	/* do_work, called by do_rest, called by the program, at different addresses each time. */
	for (size_t i = 0; i < 8; i++)
		add_chain(writer, web, kernel,
			  CHAIN(IN_KERNEL, WORK + i, REST, IN_USER, PROGRAM), WORK + i);
	/* do_work calls do_rest calls do_work. */
	for (size_t i = 0; i < 4; i++)
		add_chain(writer, web, kernel,
			  CHAIN(IN_KERNEL, WORK, REST, WORK + 0x20, IN_USER, PROGRAM), WORK);
	for (size_t i = 0; i < 3; i++)
		add_chain(writer, web, user, CHAIN(IN_USER, PROGRAM), PROGRAM);
	/* Without a chain, and with an invalid mark: only the sample itself counts. */
	add_chain(writer, web, kernel, NULL, 0, WORK);
	add_chain(writer, web, kernel, CHAIN(IN_KERNEL, WORK, (uint64_t)-4000, REST), WORK);
	/* With a chain of user code only. */
	add_chain(writer, web, kernel, CHAIN(IN_USER, PROGRAM), REST);
	/* The host's side of the VM. */
	for (size_t i = 0; i < 2; i++)
		add_chain(writer, host, PERF_RECORD_MISC_USER,
			  CHAIN((uint64_t)PERF_CONTEXT_USER, 0x7000, 0x8000), 0x7000);
}

static void record(void (*add)(struct perfdata_writer *, uint64_t, uint64_t))
{
	struct perfdata_event described;
	struct perfdata_writer *writer;
	uint64_t web, host;

	more_fields = PERF_SAMPLE_CALLCHAIN;
	described = event();
	assert_no_error(perfdata_writer_create(path, &described, 1, 16, &writer));
	web = add_id(writer, WEB, 0);
	host = add_id(writer, 0, PERFDATA_NO_VCPU);
	assert_no_error(perfdata_writer_comm(writer, WEB, WEB + 1, "CPU 0/KVM", 1));
	add(writer, web, host);
	finish(writer);
}

static void open_chains(struct opened *opened)
{
	memset(opened, 0, sizeof(*opened));
	profile_keys_add(&opened->options.keys, PROFILE_VM);
	profile_keys_add(&opened->options.keys, PROFILE_SYMBOL);
	opened->options.chains = opened->options.children = true;
	assert_no_error(session_open(path, &symbol_options, &opened->session));
	assert_true(profile_has_chains(opened->session));
	opened->profile = profile_create(opened->session, &opened->options);
	assert_non_null(opened->profile->tree);
}

static const struct profile_row *row_at(const struct opened *opened, size_t index,
					uint64_t children, const char *want)
{
	const struct profile_event *rows = &opened->profile->events[0];

	check_row(opened, index, want);
	assert_int_equal(rows->rows.items[index].children, 1000 * children);
	return &rows->rows.items[index];
}

static void children_are_counted_once(void **state)
{
	struct opened opened;

	(void)state;
	record(add_samples_with_chains);
	open_chains(&opened);
	row_at(&opened, 0, 16, "3 web|[u] 0x0000000000401000");
	row_at(&opened, 1, 14, "14 web|[g] do_work");
	row_at(&opened, 2, 13, "1 web|[g] do_rest");
	row_at(&opened, 3, 2, "0 web|[.] 0x0000000000008000");
	row_at(&opened, 4, 2, "2 web|[.] 0x0000000000007000");
	assert_int_equal(opened.profile->events[0].rows.count, 5);
	assert_int_equal(opened.profile->events[0].period, 20000);
	close_profile(&opened);
}

/* BRANCH and what follows it, as "name period(…)". */
static void append_branch(struct callgraph *graph, const struct opened *opened,
			  const struct callgraph_branch *branch, struct buffer *out)
{
	struct callgraph_branches below = { 0 };

	view_append_function(out, opened->profile, branch->frame);
	buffer_printf(out, " %llu", (unsigned long long)branch->period / 1000);
	callgraph_descend(graph, branch, &below);
	buffer_append_string(out, below.list.count ? "(" : "");
	for (size_t i = 0; i < below.list.count; i++) {
		buffer_append_string(out, i ? ", " : "");
		append_branch(graph, opened, &below.list.items[i], out);
	}
	buffer_append_string(out, below.list.count ? ")" : "");
	callgraph_branches_deinit(&below);
}

static void check_graph(const struct opened *opened, struct callgraph_options options, size_t row,
			const char *want)
{
	struct callgraph *graph = callgraph_create(opened->profile, &options);
	struct callgraph_branches branches = { 0 };
	struct buffer text;

	buffer_init(&text, 4096);
	for (int round = 0; round < 2; round++) { /* the same the second time */
		buffer_clear(&text);
		callgraph_enter(graph, &opened->profile->events[0].rows.items[row], &branches);
		for (size_t i = 0; i < branches.list.count; i++) {
			buffer_append_string(&text, i ? "; " : "");
			append_branch(graph, opened, &branches.list.items[i], &text);
		}
		buffer_append_u8(&text, 0);
		assert_string_equal((const char *)text.data, want);
		callgraph_branches_deinit(&branches);
	}
	buffer_deinit(&text);
	callgraph_destroy(graph);
}

static void add_guesses(struct perfdata_writer *writer, uint64_t web, uint64_t host)
{
	const uint16_t kernel = PERF_RECORD_MISC_GUEST_KERNEL;

	(void)host;
	for (size_t i = 0; i < 2; i++)
		add_chain(writer, web, kernel, CHAIN(IN_KERNEL, WORK, REST), WORK);
	for (size_t i = 0; i < 3; i++)
		add_chain(writer, web, kernel, CHAIN(IN_KERNEL, WORK, IN_KERNEL, REST, WORK + 8),
			  WORK);
	add_chain(writer, web, kernel,
		  CHAIN(IN_KERNEL, WORK, IN_USER, PROGRAM, IN_USER, PROGRAM + 8), WORK);
}

/* A guessed caller is a different function from a certain one, and its row shows that. */
static void guessed_callers_stand_apart(void **state)
{
	const struct callgraph_options callee = { .children = true };
	struct opened opened;

	(void)state;
	record(add_guesses);
	open_chains(&opened);
	row_at(&opened, 0, 6, "6 web|[g] do_work");
	row_at(&opened, 1, 3, "0 web|[?] do_work");
	row_at(&opened, 2, 3, "0 web|[?] do_rest");
	row_at(&opened, 3, 2, "0 web|[g] do_rest");
	row_at(&opened, 4, 1, "0 web|[?] 0x0000000000401008");
	row_at(&opened, 5, 1, "0 web|[u] 0x0000000000401000");
	check_graph(&opened, callee, 0,
		    "do_work 6(? do_rest 3(? do_work 3), do_rest 2, 0x401000 1(? 0x401008 1))");
	close_profile(&opened);
}

static void chains_go_both_ways(void **state)
{
	const struct callgraph_options caller = { .caller = true, .children = true };
	const struct callgraph_options callee = { .children = true };
	struct opened opened;

	(void)state;
	record(add_samples_with_chains);
	open_chains(&opened);
	/* The program: its own samples, followed by what it called. */
	check_graph(&opened, caller, 0,
		    "0x401000 16(do_rest 8(do_work 8), do_work 4(do_rest 4(do_work 4)))");
	check_graph(&opened, caller, 1,
		    "0x401000 12(do_rest 8(do_work 8), do_work 4(do_rest 4(do_work 4)))");
	check_graph(&opened, caller, 2, "do_rest 12(do_work 12)");
	check_graph(&opened, callee, 0, "0x401000 16");
	check_graph(&opened, callee, 1,
		    "do_work 12(do_rest 12(0x401000 8, do_work 4(0x401000 4)))");
	check_graph(&opened, callee, 2, "do_rest 12(0x401000 8, do_work 4(0x401000 4))");
	/* Only the function's own samples. */
	check_graph(&opened, (struct callgraph_options){ .caller = true }, 0, "0x401000 4");
	check_graph(&opened, (struct callgraph_options){ .caller = true }, 2, "");
	check_graph(&opened, (struct callgraph_options){ 0 }, 4, "0x7000 2(0x8000 2)");
	close_profile(&opened);
}

/* A chain that is longer than what is kept, and one with marks only. */
static void add_strange_chains(struct perfdata_writer *writer, uint64_t web, uint64_t host)
{
	uint64_t words[MAX_WORDS] = { IN_KERNEL };

	(void)host;
	for (size_t i = 1; i < MAX_WORDS; i++)
		words[i] = i % 2 ? WORK : REST;
	add_chain(writer, web, PERF_RECORD_MISC_GUEST_KERNEL, words, MAX_WORDS, WORK);
	for (size_t i = 0; i < MAX_WORDS; i++)
		words[i] = i % 2 ? IN_KERNEL : IN_USER;
	add_chain(writer, web, PERF_RECORD_MISC_GUEST_KERNEL, words, MAX_WORDS, REST);
}

static void long_chains_are_cut(void **state)
{
	const struct calltree *tree;
	struct opened opened;

	(void)state;
	record(add_strange_chains);
	open_chains(&opened);
	row_at(&opened, 0, 2, "1 web|[g] do_rest");
	row_at(&opened, 1, 1, "1 web|[g] do_work");
	tree = opened.profile->tree;
	assert_int_equal(tree->roots.count, 1);
	/* The other has no address and therefore no chain: it ends in the root. */
	assert_int_equal(tree->nodes.count, 1 + CHAINS_FRAMES_MAX);
	assert_int_equal(tree->nodes.items[tree->roots.items[0].node].self_count, 1);
	close_profile(&opened);
}

/*
 * Each sample is in the tree once; everything without a name in a file, or without a file, is one
 * function.
 */
static void by_name_addresses_are_one(void **state)
{
	const struct calltree *tree;
	struct opened opened;

	(void)state;
	record(add_samples_with_chains);
	open_chains(&opened);
	profile_destroy(opened.profile);
	opened.options.by_name = true;
	opened.profile = profile_create(opened.session, &opened.options);
	tree = opened.profile->tree;
	assert_int_equal(opened.profile->events[0].samples, 20);
	assert_int_equal(opened.profile->events[0].period, 20000);
	assert_int_equal(opened.profile->events[0].rows.count, 0);
	/* do_work, do_rest, the guest's program, and both of the host's addresses. */
	assert_int_equal(tree->frames.count, 4);
	close_profile(&opened);
}

static void map_program(struct perfdata_writer *writer, uint32_t pid, const char *file)
{
	struct perfdata_mapping mapping = { .pid = pid, .tid = pid, .start = 0x400000,
					    .length = 0x10000, .prot = 5, .path = file,
					    .misc = PERF_RECORD_MISC_GUEST_USER };

	assert_no_error(perfdata_writer_guest_mmap2(writer, WEB, &mapping, clock_ns += 10));
}

/* The same addresses in two processes, and in one of them at two times. */
static void add_moving_programs(struct perfdata_writer *writer, uint64_t web, uint64_t host)
{
	static const struct {
		uint32_t pid;
		const char *program; /* mapped before the samples; NULL: no change */
		size_t samples;
	} steps[] = { { 100, "/first", 4 }, { 101, "/second", 3 }, { 100, NULL, 1 },
		      { 100, "/third", 2 }, { 101, NULL, 2 } };

	(void)host;
	clock_ns = 1000;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		sample_pid = sample_tid = steps[i].pid;
		if (steps[i].program)
			map_program(writer, steps[i].pid, steps[i].program);
		for (size_t k = 0; k < steps[i].samples; k++)
			add_chain(writer, web, PERF_RECORD_MISC_GUEST_KERNEL,
				  CHAIN(IN_KERNEL, WORK, REST, IN_USER, PROGRAM), WORK);
	}
}

static void callers_are_those_of_their_process_and_time(void **state)
{
	static const char *const want[] = { "first", "second", "third" };
	static const uint64_t children[] = { 5, 5, 2 };
	struct opened opened = { 0 };
	size_t found = 0;

	(void)state;
	record(add_moving_programs);
	sample_pid = WEB;
	sample_tid = WEB + 1;
	profile_keys_add(&opened.options.keys, PROFILE_DSO);
	opened.options.chains = opened.options.children = true;
	assert_no_error(session_open(path, &symbol_options, &opened.session));
	opened.profile = profile_create(opened.session, &opened.options);
	for (size_t i = 0; i < opened.profile->events[0].rows.count; i++) {
		const struct profile_row *row = &opened.profile->events[0].rows.items[i];

		for (size_t k = 0; k < 3; k++) {
			if (strcmp(intern_string(opened.session->strings, row->dso), want[k]))
				continue;
			assert_int_equal(row->children, 1000 * children[k]);
			found++;
		}
	}
	assert_int_equal(found, 3);
	close_profile(&opened);
}

static int create_path(void **state)
{
	(void)state;
	close(mkstemp(path));
	return 0;
}

static int remove_recording(void **state)
{
	char old[sizeof(path) + 4];

	(void)state;
	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
	return unlink(path);
}

#define DEEP_CHAINS 3000
#define DEEP_FRAMES 1000
#define INNERMOST 0x9000ULL

/*
 * Chains that differ in their outermost function: a tree of three million nodes, from words that a
 * compressor all but removes. And two chains as usual.
 */
static void add_deep_chains(struct perfdata_writer *writer, uint64_t web, uint64_t host)
{
	static uint64_t words[DEEP_FRAMES + 1] = { IN_USER };

	for (size_t i = 1; i < DEEP_FRAMES; i++)
		words[i] = PROGRAM + 16 * (i % 50);
	for (size_t i = 0; i < DEEP_CHAINS; i++) {
		words[1] = INNERMOST + 16 * (i % 3);
		words[DEEP_FRAMES] = 2 * PROGRAM + 16 * i;
		add_chain(writer, web, PERF_RECORD_MISC_GUEST_USER, words, DEEP_FRAMES + 1,
			  words[1]);
	}
	for (size_t i = 0; i < 2; i++)
		add_chain(writer, host, PERF_RECORD_MISC_USER,
			  CHAIN((uint64_t)PERF_CONTEXT_USER, 0x7000, 0x8000), 0x7000);
}

static const struct profile_row *find_row(const struct opened *opened, const char *want)
{
	const struct profile_event *event = &opened->profile->events[0];
	const struct profile_row *found = NULL;
	struct buffer text;

	buffer_init(&text, 4096);
	for (size_t i = 0; i < event->rows.count; i++) {
		buffer_clear(&text);
		view_append_cell(&text, opened->profile, &event->rows.items[i], PROFILE_SYMBOL);
		buffer_append_u8(&text, 0);
		if (!strcmp((const char *)text.data, want))
			found = &event->rows.items[i];
	}
	buffer_deinit(&text);
	assert_non_null(found);
	return found;
}

/* The tree is bounded, and what was cut still counts for the function that was sampled. */
static void deep_chains_are_cut(void **state)
{
	struct opened opened;
	uint64_t cut;

	(void)state;
	record(add_deep_chains);
	open_chains(&opened);
	cut = opened.profile->totals.chains_cut;
	assert_in_range(opened.profile->tree->nodes.count, 1 << 20,
			(1 << 20) + 40 * DEEP_CHAINS);
	assert_in_range(cut, DEEP_CHAINS / 2, DEEP_CHAINS - 1000);
	assert_int_equal(find_row(&opened, "[u] 0x0000000000009000")->count, DEEP_CHAINS / 3);
	assert_int_equal(find_row(&opened, "[u] 0x0000000000009010")->count, DEEP_CHAINS / 3);
	assert_int_equal(find_row(&opened, "[u] 0x0000000000009020")->count, DEEP_CHAINS / 3);
	assert_int_equal(find_row(&opened, "[u] 0x0000000000401020")->children,
			 1000 * (DEEP_CHAINS - cut));
	assert_int_equal(find_row(&opened, "[.] 0x0000000000008000")->children, 2000);
	assert_int_equal(opened.profile->events[0].period, 1000 * (DEEP_CHAINS + 2));
	close_profile(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_counted_once),
		cmocka_unit_test(guessed_callers_stand_apart),
		cmocka_unit_test(chains_go_both_ways),
		cmocka_unit_test(by_name_addresses_are_one),
		cmocka_unit_test(long_chains_are_cut),
		cmocka_unit_test(callers_are_those_of_their_process_and_time),
		cmocka_unit_test(deep_chains_are_cut),
	};

	return cmocka_run_group_tests(tests, create_path, remove_recording);
}
