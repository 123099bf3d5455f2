/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A correct small guest, then one with its structures made hostile. Each test must end soon and
 * return what it could read; an alarm stops endless loops.
 */
#include "test.h"

#include <unistd.h>

#include "base/intern.h"
#include "base/memory.h"
#include "guest/kernel/kallsyms.h"
#include "guest/kernel/module.h"
#include "guest/kernel/uts.h"
#include "guest/process/cpus.h"
#include "guest/process/mapping.h"
#include "guest/process/running.h"
#include "guest/process/task.h"
#include "guest/small_guest.h"

#define ALARM_SECONDS 30 /* bounded work takes well under one, even with ASan */

struct fixture {
	struct small_guest guest;
	struct guest_memory *memory;
	struct guest_space space;
	struct guest_kernel *kernel; /* NULL before open_kernel() */
};

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	struct small_guest *guest = context;

	for (size_t i = 0; i < count; i++)
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, guest->memory + from[i].value,
		       GUEST_PAGE_BYTES);
	return true;
}

static int set_up(void **state)
{
	static const struct guest_slot slot = { { 0 }, SMALL_GUEST_BYTES };
	struct fixture *fixture = memory_calloc(1, sizeof(*fixture));
	struct guest_memory_source source = { read_pages, &fixture->guest };
	struct arch_mmu mmu = { .arch = &arch_x86_64,
				.x86 = { .cr3 = SMALL_GUEST_CR3, .efer = 1 << 10 } };

	small_guest_build(&fixture->guest);
	fixture->memory = guest_memory_create(&source, &slot, 1, 1 << 24);
	guest_space_init(&fixture->space, fixture->memory, &mmu);
	alarm(ALARM_SECONDS);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	guest_kernel_close(fixture->kernel);
	guest_memory_destroy(fixture->memory);
	free(fixture);
	return 0;
}

static void open_kernel(struct fixture *fixture)
{
	assert_no_error(guest_kernel_open(&fixture->space, &fixture->kernel));
}

static size_t count_tasks(struct fixture *fixture)
{
	_cleanup_guest_task_reader_ struct guest_task_reader *reader = NULL;
	struct guest_tasks tasks;
	size_t count;

	assert_no_error(guest_task_reader_create(fixture->kernel, &reader));
	guest_tasks_read(reader, GUEST_THREADS, &tasks);
	count = tasks.items.count;
	guest_tasks_deinit(&tasks);
	return count;
}

static void read_mappings(struct fixture *fixture, struct intern *strings,
			  struct guest_mappings *ret)
{
	_cleanup_guest_mapping_reader_ struct guest_mapping_reader *reader = NULL;

	assert_no_error(guest_mapping_reader_create(fixture->kernel, strings, NULL, &reader));
	guest_mappings_read(reader, GVA(SMALL_GUEST_AT(PLACE_MM)), ret);
}

static void the_kernel_is_read(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *build_id;
	struct guest_current current;
	struct guest_uts uts;

	open_kernel(fixture);
	assert_int_equal(guest_kernel_symbol_count(fixture->kernel), SMALL_GUEST_SYMBOLS);
	assert_int_equal(guest_kernel_build_id(fixture->kernel, &build_id), 8);
	assert_memory_equal(build_id, "\4\3\2\1\10\7\6\5", 8);
	assert_true(guest_uts_find(&fixture->space, guest_kernel_get_image(fixture->kernel), &uts));
	assert_string_equal(uts.host_name, "small");
	assert_string_equal(uts.release, "6.1.0-small");
	assert_no_error(guest_current_find(fixture->kernel, &current));
	assert_int_equal(current.task_comm, 16);
	assert_true(guest_state_read(fixture->kernel, &fixture->space.mmu, 1).kernel);
	assert_true(guest_state_read(fixture->kernel, &fixture->space.mmu, 1).modules);
}

static void tasks_are_read(void **state)
{
	static const struct {
		uint32_t pid, tgid;
		const char *comm;
	} expected[] = { { 0, 0, "swapper/0" }, { 7, 7, "worker" }, { 8, 7, "helper" } };
	_cleanup_guest_task_reader_ struct guest_task_reader *reader = NULL;
	struct fixture *fixture = *state;
	struct guest_tasks tasks;

	open_kernel(fixture);
	assert_no_error(guest_task_reader_create(fixture->kernel, &reader));
	guest_tasks_read(reader, GUEST_THREADS, &tasks);
	assert_int_equal(tasks.items.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(tasks.items.items[i].pid, expected[i].pid);
		assert_int_equal(tasks.items.items[i].tgid, expected[i].tgid);
		assert_string_equal(tasks.items.items[i].comm, expected[i].comm);
	}
	assert_int_equal(tasks.items.items[1].namespace_pid, 3);
	guest_tasks_deinit(&tasks);
}

static void mappings_are_read(void **state)
{
	static const struct {
		uint64_t start;
		const char *path;
	} expected[] = { { 0x10000, "/lib" },
			 { 0x20000, "[vdso]" },
			 { 0x30000, "[stack]" },
			 { 0xffffffffff600000, "[vsyscall]" } };
	struct fixture *fixture = *state;
	struct intern *strings = intern_create();
	struct guest_mappings mappings;

	open_kernel(fixture);
	read_mappings(fixture, strings, &mappings);
	assert_int_equal(mappings.items.count, 4);
	assert_false(mappings.cut);
	for (size_t i = 0; i < 4; i++) {
		const struct guest_mapping *mapping = &mappings.items.items[i];

		assert_true(mapping->start.value == expected[i].start);
		assert_string_equal(intern_string(strings, mapping->path), expected[i].path);
	}
	assert_int_equal(mappings.items.items[0].inode, 77);
	guest_mappings_deinit(&mappings);
	intern_destroy(strings);
}

static void modules_are_read(void **state)
{
	struct fixture *fixture = *state;
	struct guest_modules modules;
	size_t skipped;

	open_kernel(fixture);
	assert_no_error(guest_modules_read(fixture->kernel, &modules, &skipped));
	assert_int_equal(skipped, 0);
	assert_int_equal(modules.items.count, 2);
	assert_string_equal(modules.items.items[0].name, "beta");
	assert_string_equal(modules.items.items[1].name, "alpha");
	assert_int_equal(modules.items.items[1].users.count, 1);
	assert_string_equal(modules.items.items[1].users.items[0], "beta");
	assert_int_equal(modules.items.items[1].text.value, 0xffffffffc0004000);
	assert_int_equal(modules.symbols.count, 2);
	assert_string_equal(modules.symbols.items[0].name, "shared_function");
	assert_int_equal(modules.symbols.items[0].type, 'T');
	guest_modules_deinit(&modules);
}

/* 5,000 tasks that share the same threads, in a list that never returns to its head. */
static void threads_that_go_round_end(void **state)
{
	struct fixture *fixture = *state;
	struct small_guest *guest = &fixture->guest;
	const uint64_t first = SMALL_GUEST_AT(0x4000), signals = SMALL_GUEST_AT(PLACE_SIGNALS);
	uint64_t links[5000];

	for (size_t i = 0; i < 5000; i++) {
		uint64_t task = first + 128 * i;

		small_guest_add_task(guest, task, i, i, "many", signals);
		links[i] = task + 48;
		/* Its own thread list: the head leads to its leader, which leads to itself. */
		small_guest_put64(guest, task + 64, task + 96);
		small_guest_put64(guest, task + 96, task + 80);
		small_guest_put64(guest, task + 80, task + 80);
	}
	small_guest_link(guest, links, 5000);
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_INIT_TASK) + 48, links[0]);
	open_kernel(fixture);
	/* As many leaders as the budget for circular lists leaves. */
	assert_in_range(count_tasks(fixture), 1, 5002);
}

static void a_task_that_follows_itself_ends_the_list(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t task = SMALL_GUEST_AT(PLACE_TASK);

	small_guest_put64(&fixture->guest, task + 48, task + 48);
	open_kernel(fixture);
	assert_int_equal(count_tasks(fixture), 3);
}

static void a_module_that_follows_itself_ends_the_list(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t beta = SMALL_GUEST_AT(PLACE_MODULES);
	struct guest_modules modules;
	size_t skipped;

	small_guest_put64(&fixture->guest, beta + 8, beta + 8);
	open_kernel(fixture);
	assert_no_error(guest_modules_read(fixture->kernel, &modules, &skipped));
	assert_int_equal(modules.items.count, 1);
	guest_modules_deinit(&modules);
}

/* 100 modules with 13,000 symbols each are more than a million: not all of them are read. */
static void modules_share_what_they_may_cost(void **state)
{
	struct fixture *fixture = *state;
	struct small_guest *guest = &fixture->guest;
	const uint64_t symbols = SMALL_GUEST_AT(PLACE_MODULE_SYMBOLS),
		       first = SMALL_GUEST_AT(0x4000);
	uint64_t links[101] = { SMALL_GUEST_AT(PLACE_MODULE_LIST) };
	struct guest_modules modules;
	size_t skipped;

	/* Symbols and exports with empty names: zeros. */
	small_guest_put64(guest, symbols, SMALL_GUEST_AT(0x10000));
	small_guest_put32(guest, symbols + 8, 13000);
	small_guest_put64(guest, symbols + 16, SMALL_GUEST_AT(0x3000));
	small_guest_put64(guest, symbols + 24, 0);
	for (size_t i = 0; i < 100; i++) {
		uint64_t module = first + 272 * i;

		small_guest_put(guest, module,
				guest->memory + SMALL_GUEST_PHYSICAL +
					(SMALL_GUEST_AT(PLACE_MODULES) - SMALL_GUEST_KERNEL),
				272);
		small_guest_put64(guest, module + 88, SMALL_GUEST_AT(0x10000));
		small_guest_put32(guest, module + 96, 32000);
		small_guest_link(guest, (const uint64_t[]){ module + 128 }, 1);
		links[i + 1] = module + 8;
	}
	small_guest_link(guest, links, 101);
	open_kernel(fixture);
	assert_no_error(guest_modules_read(fixture->kernel, &modules, &skipped));
	assert_int_equal(modules.items.count + skipped, 100);
	assert_int_equal(modules.items.count, (1 << 20) / 13000);
	guest_modules_deinit(&modules);
}

#define NODES SMALL_GUEST_AT(0x3000)

/*
 * Builds LEVELS nodes of a maple tree at NODES: each slot of a node points to the one node of the
 * level below, and the lowest to CHILD. Pivots are set so that no slot is past a node's maximum.
 */
static void build_tree(struct small_guest *guest, unsigned int levels, uint64_t child)
{
	for (unsigned int level = 0; level < levels; level++) {
		uint64_t node = NODES + 256 * level;

		for (int i = 0; i < 16; i++) {
			if (i < 15)
				small_guest_put64(guest, node + 8 + 8 * i, 100 * (level + 1) + i);
			small_guest_put64(guest, node + 128 + 8 * i, child);
		}
		child = node | 2 << 3 | 2;
	}
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_MM) + 8, child);
}

/* Nominally it has 16^10 leaves. */
static void a_tree_of_few_nodes_ends(void **state)
{
	struct fixture *fixture = *state;
	struct intern *strings = intern_create();
	struct guest_mappings mappings;

	build_tree(&fixture->guest, 10, SMALL_GUEST_AT(PLACE_NODE) | 1 << 3 | 2);
	open_kernel(fixture);
	read_mappings(fixture, strings, &mappings);
	assert_true(mappings.cut);
	guest_mappings_deinit(&mappings);
	intern_destroy(strings);
}

/* 65,536 mappings of 16 files in turn, each with 512 path components. */
static void long_paths_are_bounded_in_all(void **state)
{
	struct fixture *fixture = *state;
	struct small_guest *guest = &fixture->guest;
	const uint64_t node = SMALL_GUEST_AT(PLACE_NODE), mount = SMALL_GUEST_AT(PLACE_MOUNT),
		       lib = SMALL_GUEST_AT(PLACE_DENTRIES) + 64;
	struct intern *strings = intern_create();
	struct guest_mappings mappings;
	size_t named = 0;

	/* lib is its own parent through a second dentry, and not the root of a mount. */
	small_guest_put64(guest, lib + 8, lib + 64);
	small_guest_put(guest, lib + 64, guest->memory, 40);
	small_guest_put64(guest, lib + 64, SMALL_GUEST_AT(PLACE_TEXTS) + 16);
	small_guest_put64(guest, lib + 64 + 8, lib);
	small_guest_put64(guest, mount + 16, SMALL_GUEST_AT(PLACE_DENTRIES));
	for (int i = 0; i < 16; i++) {
		uint64_t file = SMALL_GUEST_AT(0x4000) + 32 * i,
			 area = SMALL_GUEST_AT(0x5000) + 64 * i;

		small_guest_put64(guest, file, mount + 16);
		small_guest_put64(guest, file + 8, lib);
		small_guest_put64(guest, file + 16, SMALL_GUEST_AT(PLACE_INODE));
		small_guest_put64(guest, area, 0x10000);
		small_guest_put64(guest, area + 8, 0x20000);
		small_guest_put64(guest, area + 32, file);
		if (i < 15)
			small_guest_put64(guest, node + 8 + 8 * i, i + 1);
		small_guest_put64(guest, node + 128 + 8 * i, area);
	}
	build_tree(guest, 3, node | 1 << 3 | 2);
	open_kernel(fixture);
	read_mappings(fixture, strings, &mappings);
	for (size_t i = 0; i < mappings.items.count; i++)
		named += intern_string(strings, mappings.items.items[i].path)[0] != 0;
	assert_int_equal(mappings.items.count, 65536 + 1);
	assert_in_range(named, 100, (1 << 19) / 500);
	guest_mappings_deinit(&mappings);
	intern_destroy(strings);
}

/* Three page tables that are the same: every address is mapped to the same few pages. */
static void page_tables_that_lead_to_themselves_end(void **state)
{
	struct fixture *fixture = *state;
	uint64_t *table = (uint64_t *)(fixture->guest.memory + SMALL_GUEST_CR3);

	for (size_t i = 0; i < 512; i++) /* present, read-only, not executable */
		table[i] = SMALL_GUEST_CR3 | 1ULL << 63 | 1;
	assert_error(guest_kernel_open(&fixture->space, &fixture->kernel), ERROR_NOT_FOUND);
	assert_true(guest_memory_bytes_read(fixture->memory) <= SMALL_GUEST_BYTES);
}

/* 512 anonymous members, each of which is the next structure, which has as many. */
static void anonymous_structures_in_each_other_end(void **state)
{
	struct buffer types, strings, all;
	struct btf_header header = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(header) };
	struct guest_btf_field field;
	struct guest_btf *btf;

	(void)state;
	buffer_init(&types, 1 << 20);
	buffer_init(&strings, 1 << 10);
	buffer_init(&all, 1 << 20);
	buffer_append(&strings, "\0outer", 7);
	for (uint32_t number = 1; number <= 8; number++) {
		buffer_append_u32(&types, number == 1);
		buffer_append_u32(&types, BTF_KIND_STRUCT << 24 | 512);
		buffer_append_u32(&types, 8);
		for (int i = 0; i < 512; i++) {
			buffer_append_u32(&types, 0);
			buffer_append_u32(&types, number + 1);
			buffer_append_u32(&types, 0);
		}
	}
	header.type_len = header.str_off = types.size;
	header.str_len = strings.size;
	buffer_append(&all, &header, sizeof(header));
	buffer_append(&all, types.data, types.size);
	buffer_append(&all, strings.data, strings.size);
	btf = guest_btf_create(all.data, all.size);
	assert_non_null(btf);
	assert_false(guest_btf_find_field(btf, "outer", "missing", &field));
	guest_btf_destroy(btf);
	buffer_deinit(&types);
	buffer_deinit(&strings);
	buffer_deinit(&all);
}

/* A block full of valid token tables, none of which has names before it. */
static void token_tables_without_names_end(void **state)
{
	struct guest_block block = { .start = GVA(SMALL_GUEST_KERNEL) };
	struct guest_kallsyms kallsyms;
	struct buffer bytes;

	(void)state;
	buffer_init(&bytes, 32 << 20);
	while (bytes.size < 31 << 20) {
		buffer_append(&bytes, (uint8_t[256]){ 0 }, 256);
		for (uint16_t i = 0; i < 256; i++)
			buffer_append_u16(&bytes, i);
	}
	block.data = bytes.data;
	block.size = bytes.size;
	assert_false(guest_kallsyms_find(&block, block.start, GVA(SMALL_GUEST_END), &kallsyms));
	buffer_deinit(&bytes);
}

/* With any bit flipped, the guest is read as far as possible. */
static void damage_is_survived(void **state)
{
	struct fixture *fixture = *state;
	struct small_guest *whole = memory_dup(&fixture->guest, sizeof(fixture->guest));
	uint32_t seed = 1;

	for (int round = 0; round < 300; round++) {
		struct guest_modules modules;
		size_t skipped;
		struct error *error;

		fixture->guest = *whole;
		for (int i = 0; i < 20; i++) {
			seed = seed * 1664525 + 1013904223;
			fixture->guest.memory[0x50000 + (seed >> 8) % 0x3000] ^= 1 << (seed >> 29);
		}
		guest_memory_forget(fixture->memory);
		guest_space_init(&fixture->space, fixture->memory, &fixture->space.mmu);
		open_kernel(fixture);
		count_tasks(fixture);
		error = guest_modules_read(fixture->kernel, &modules, &skipped);
		if (!error)
			guest_modules_deinit(&modules);
		error_destroy(error);
		guest_kernel_close(fixture->kernel);
		fixture->kernel = NULL;
	}
	free(whole);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static size_t count_cpus(struct fixture *fixture)
{
	struct guest_cpus cpus;
	size_t count;

	guest_space_forget(&fixture->space);
	guest_cpus_read(fixture->kernel, &cpus);
	count = cpus.items.count;
	guest_cpus_deinit(&cpus);
	return count;
}

/* The fourth never ran, and must not get the first one's id. */
static void cpus_are_found_by_their_apic_ids(void **state)
{
	struct fixture *fixture = *state;
	struct guest_cpus cpus;

	open_kernel(fixture);
	guest_cpus_read(fixture->kernel, &cpus);
	assert_int_equal(cpus.items.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(cpus.items.items[i].apic_id, 2 * i);
		assert_int_equal(cpus.items.items[i].base.value, 16 * i);
	}
	guest_cpus_deinit(&cpus);
}

static void cpus_without_end_are_cut(void **state)
{
	struct fixture *fixture = *state;

	open_kernel(fixture);
	small_guest_put32(&fixture->guest, SMALL_GUEST_AT(PLACE_CPU_COUNT), UINT32_MAX);
	assert_in_range(count_cpus(fixture), 3, GUEST_CPUS_MAX);
	/* Anything outside its memory is left out. */
	small_guest_put32(&fixture->guest, SMALL_GUEST_AT(PLACE_CPU_COUNT), 2);
	small_guest_put64(&fixture->guest, SMALL_GUEST_AT(PLACE_CPU_OFFSETS) + 8, 1ULL << 62);
	assert_int_equal(count_cpus(fixture), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_kernel_is_read),
		TEST(tasks_are_read),
		TEST(mappings_are_read),
		TEST(modules_are_read),
		TEST(threads_that_go_round_end),
		TEST(a_task_that_follows_itself_ends_the_list),
		TEST(a_module_that_follows_itself_ends_the_list),
		TEST(modules_share_what_they_may_cost),
		TEST(a_tree_of_few_nodes_ends),
		TEST(long_paths_are_bounded_in_all),
		TEST(page_tables_that_lead_to_themselves_end),
		TEST(anonymous_structures_in_each_other_end),
		TEST(token_tables_without_names_end),
		TEST(cpus_are_found_by_their_apic_ids),
		TEST(cpus_without_end_are_cut),
		TEST(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
