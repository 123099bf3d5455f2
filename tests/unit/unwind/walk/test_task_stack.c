/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's unwind data and a sleeping thread's stack, read from its memory: correct ones, and
 * hostile ones.
 */
#include "test.h"

#include "guest/small_guest.h"
#include "base/memory.h"
#include "guest/kernel/module.h"
#include "guest/kernel/name.h"
#include "unwind/kernel/kernel_table.h"
#include "unwind/walk/task_stack.h"

#define STACK_BYTES 4096

struct fixture {
	struct small_guest guest;
	struct guest_memory *memory;
	struct guest_space space;
	struct guest_kernel *kernel;
	struct unwind_table *table;
	struct unwind_task_reader *reader;
	struct unwind_task task;
	struct unwind_frame frames[16];
	struct unwind_chain chain;
	/* how often the thread runs and sleeps again while its stack is being read */
	unsigned int switches;
};

#define PHYSICAL(gva) (SMALL_GUEST_PHYSICAL + ((gva)-SMALL_GUEST_KERNEL))

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	struct fixture *fixture = context;

	for (size_t i = 0; i < count; i++) {
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES,
		       fixture->guest.memory + from[i].value, GUEST_PAGE_BYTES);
		if (fixture->switches && from[i].value == PHYSICAL(SMALL_GUEST_AT(PLACE_STACK))) {
			fixture->guest.memory[PHYSICAL(SMALL_GUEST_AT(PLACE_THREAD)) + 104]++;
			fixture->switches--;
		}
	}
	return true;
}

static int set_up(void **state)
{
	static const struct guest_slot slot = { { 0 }, SMALL_GUEST_BYTES };
	struct fixture *fixture = memory_calloc(1, sizeof(*fixture));
	struct guest_memory_source source = { read_pages, fixture };
	struct arch_mmu mmu = { .arch = &arch_x86_64,
				.x86 = { .cr3 = SMALL_GUEST_CR3, .efer = 1 << 10 } };

	small_guest_build(&fixture->guest);
	fixture->memory = guest_memory_create(&source, &slot, 1, 1 << 24);
	guest_space_init(&fixture->space, fixture->memory, &mmu);
	fixture->chain = (struct unwind_chain){ .frames = fixture->frames, .capacity = 16 };
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	unwind_task_reader_destroy(fixture->reader);
	unwind_table_destroy(fixture->table);
	guest_kernel_close(fixture->kernel);
	guest_memory_destroy(fixture->memory);
	free(fixture);
	return 0;
}

static struct error *open_tables(struct fixture *fixture)
{
	assert_no_error(guest_kernel_open(&fixture->space, &fixture->kernel));
	return unwind_table_read(fixture->kernel, NULL, &fixture->table);
}

static void look(struct fixture *fixture, enum small_guest_place task)
{
	if (!fixture->reader) {
		assert_no_error(open_tables(fixture));
		assert_no_error(unwind_task_reader_create(fixture->kernel, &fixture->reader));
	}
	unwind_task_read(fixture->reader, GVA(SMALL_GUEST_AT(task)), &fixture->task);
	if (fixture->task.kind == UNWIND_TASK_ASLEEP)
		unwind_run(fixture->table, &fixture->task.registers, &fixture->task.stack, 1,
			   &fixture->chain);
}

static void test_a_thread_that_sleeps(void **state)
{
	static const uint64_t functions[] = { 3, 2, 1, SMALL_GUEST_RET_FROM_FORK };
	struct fixture *fixture = *state;

	look(fixture, PLACE_THREAD);
	assert_int_equal(fixture->task.kind, UNWIND_TASK_ASLEEP);
	assert_int_equal(fixture->task.state, 'S');
	assert_int_equal(fixture->chain.count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(fixture->frames[i].address,
				 SMALL_GUEST_FUNCTION(functions[i]) + 5);
		assert_int_equal(fixture->frames[i].kind, UNWIND_FRAME_CALL);
	}
	assert_int_equal(fixture->chain.end, UNWIND_COMPLETE);
}

/*
 * Its first frame is not a return address: the row is that of ret_from_fork, not of the code before
 * it.
 */
static void test_a_thread_that_never_ran(void **state)
{
	struct fixture *fixture = *state;

	small_guest_put64(&fixture->guest, SMALL_GUEST_AT(PLACE_STACK_SP) + 48,
			  SMALL_GUEST_FUNCTION(SMALL_GUEST_RET_FROM_FORK));
	look(fixture, PLACE_THREAD);
	assert_int_equal(fixture->chain.count, 1);
	assert_int_equal(fixture->chain.end, UNWIND_COMPLETE);
}

static void test_threads_without_a_chain(void **state)
{
	struct fixture *fixture = *state;

	look(fixture, PLACE_TASK); /* it has no stack */
	assert_int_equal(fixture->task.kind, UNWIND_TASK_DEAD);
	assert_int_equal(fixture->task.state, 'R');
	small_guest_put32(&fixture->guest, SMALL_GUEST_AT(PLACE_THREAD) + 100, 1);
	look(fixture, PLACE_THREAD);
	assert_int_equal(fixture->task.kind, UNWIND_TASK_RUNNING);
	unwind_task_read(fixture->reader, GVA(0x1234), &fixture->task);
	assert_int_equal(fixture->task.kind, UNWIND_TASK_DEAD);
	unwind_task_read(fixture->reader, GVA(UINT64_MAX - 8), &fixture->task);
	assert_int_equal(fixture->task.kind, UNWIND_TASK_DEAD);
}

/* The copy of its stack may be inconsistent. */
static void test_a_thread_that_runs_meanwhile(void **state)
{
	struct fixture *fixture = *state;

	fixture->switches = 1000;
	look(fixture, PLACE_THREAD);
	assert_int_equal(fixture->task.kind, UNWIND_TASK_RESTLESS);
	fixture->switches = 2;
	look(fixture, PLACE_THREAD);
	assert_int_equal(fixture->task.kind, UNWIND_TASK_ASLEEP);
	assert_int_equal(fixture->chain.count, 4);
}

/* task->state and exit_state, and their letters in fs/proc/array.c. */
static void test_states(void **state)
{
	static const struct {
		uint32_t state, exit_state;
		char letter;
	} states[] = { { 0, 0, 'R' },       { 1, 0, 'S' },      { 2, 0, 'D' },
		       { 4, 0, 'T' },       { 8, 0, 't' },      { 0x80, 0x20, 'Z' },
		       { 0x80, 0x10, 'X' }, { 0x40, 0, 'P' },   { 0x402, 0, 'I' },
		       { 0x102, 0, 'D' },   { 0x8000, 0, 'D' }, { 0x2001, 0, 'S' } };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		small_guest_put32(&fixture->guest, SMALL_GUEST_AT(PLACE_THREAD) + 12,
				  states[i].state);
		small_guest_put32(&fixture->guest, SMALL_GUEST_AT(PLACE_THREAD) + 96,
				  states[i].exit_state);
		look(fixture, PLACE_THREAD);
		assert_int_equal(fixture->task.state, states[i].letter);
	}
}

static void test_stack_pointers_that_lie(void **state)
{
	static const uint64_t bad[] = { 0, UINT64_MAX, SMALL_GUEST_AT(PLACE_STACK) - 8,
					SMALL_GUEST_AT(PLACE_STACK) + STACK_BYTES,
					SMALL_GUEST_AT(PLACE_STACK) + STACK_BYTES - 48 };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		small_guest_put64(&fixture->guest, SMALL_GUEST_AT(PLACE_THREAD) + 120, bad[i]);
		look(fixture, PLACE_THREAD);
		assert_int_equal(fixture->task.kind, UNWIND_TASK_DEAD);
	}
	/* The last position where the switch's data would fit: its caller's frame is missing. */
	small_guest_put64(&fixture->guest, SMALL_GUEST_AT(PLACE_THREAD) + 120,
			  SMALL_GUEST_AT(PLACE_STACK) + STACK_BYTES - 56);
	small_guest_put64(&fixture->guest, SMALL_GUEST_AT(PLACE_STACK) + STACK_BYTES - 8,
			  SMALL_GUEST_FUNCTION(3) + 5);
	look(fixture, PLACE_THREAD);
	assert_int_equal(fixture->chain.count, 1);
	assert_int_equal(fixture->chain.end, UNWIND_UNREADABLE);
	/* A stack that is not mapped. */
	small_guest_put64(&fixture->guest, SMALL_GUEST_AT(PLACE_THREAD) + 40, 0xffffc90000000000);
	small_guest_put64(&fixture->guest, SMALL_GUEST_AT(PLACE_THREAD) + 120, 0xffffc90000000800);
	look(fixture, PLACE_THREAD);
	assert_int_equal(fixture->task.kind, UNWIND_TASK_DEAD);
}

static void test_forged_tables(void **state)
{
	struct fixture *fixture = *state;
	uint16_t nonsense = 0xffff;

	small_guest_put(&fixture->guest, SMALL_GUEST_AT(PLACE_ORC_ENTRIES) + 4, &nonsense, 2);
	assert_error(open_tables(fixture), ERROR_UNSUPPORTED);
}

static void test_tables_in_no_order(void **state)
{
	struct fixture *fixture = *state;

	small_guest_put32(&fixture->guest, SMALL_GUEST_AT(PLACE_ORC_IPS), 0);
	assert_error(open_tables(fixture), ERROR_UNSUPPORTED);
}

/* The kernel's symbols without those of the tables. */
static void hide_tables(struct fixture *fixture)
{
	static const char name[] = "D__start_orc_unwind_ip";
	uint8_t *at = memmem(fixture->guest.memory, SMALL_GUEST_BYTES, name, sizeof(name) - 1);

	assert_non_null(at);
	at[1] = 'x';
}

static void test_kernels_without_tables(void **state)
{
	struct fixture *fixture = *state;

	hide_tables(fixture);
	assert_error(open_tables(fixture), ERROR_UNSUPPORTED);
}

/*
 * push %rbp; mov %rsp,%rbp, over and over: half of the symbols start with it, or have it 5 bytes
 * later.
 */
static void test_kernels_with_frame_pointers(void **state)
{
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
	struct fixture *fixture = *state;

	hide_tables(fixture);
	for (uint64_t at = 0; at < GUEST_PAGE_BYTES; at += sizeof(prologue))
		small_guest_put(&fixture->guest, SMALL_GUEST_KERNEL + at, prologue,
				sizeof(prologue));
	assert_no_error(open_tables(fixture));
	assert_true(unwind_table_expects_frame_pointers(fixture->table));
	assert_int_equal(unwind_table_rows(fixture->table), 0);
}

/* A module's code uses the module's rows. */
static void test_a_modules_tables(void **state)
{
	const uint64_t beta = SMALL_GUEST_AT(PLACE_MODULES), ips = SMALL_GUEST_AT(PLACE_STACK),
		       entries = ips + 16;
	static const uint16_t call[] = { 48, 0, 5 | 2 << 8 };
	struct fixture *fixture = *state;
	struct guest_modules modules;
	const struct unwind_row *row;
	size_t skipped;

	small_guest_put32(&fixture->guest, beta + 256, 1);
	small_guest_put64(&fixture->guest, beta + 264, ips);
	small_guest_put64(&fixture->guest, beta + 272, entries);
	/* alpha's table is larger than allowed. */
	small_guest_put32(&fixture->guest, beta + 512 + 256, UINT32_MAX);
	small_guest_put64(&fixture->guest, beta + 512 + 264, ips);
	small_guest_put64(&fixture->guest, beta + 512 + 272, entries);
	small_guest_put32(&fixture->guest, ips, (uint32_t)(0xffffffffc0000020 - ips));
	small_guest_put(&fixture->guest, entries, call, sizeof(call));
	assert_no_error(guest_kernel_open(&fixture->space, &fixture->kernel));
	assert_no_error(guest_modules_read(fixture->kernel, &modules, &skipped));
	assert_no_error(unwind_table_read(fixture->kernel, &modules, &fixture->table));
	guest_modules_deinit(&modules);
	row = unwind_table_find(fixture->table, 0xffffffffc0000fff);
	assert_non_null(row);
	assert_int_equal(row->sp_offset, 48);
	assert_null(unwind_table_find(fixture->table, 0xffffffffc000001f));
	assert_null(unwind_table_find(fixture->table, 0xffffffffc0001000));
	assert_null(unwind_table_find(fixture->table, 0xffffffffc0004010));
}

static void expect_name(struct fixture *fixture, const struct guest_modules *modules,
			uint64_t address, const char *function, const char *module, uint64_t offset,
			uint64_t bytes)
{
	struct guest_name name;

	assert_true(guest_name_find(fixture->kernel, modules, GVA(address), &name));
	assert_string_equal(name.function, function);
	assert_string_equal(name.module ? name.module : "", module);
	assert_int_equal(name.offset, offset);
	assert_int_equal(name.bytes, bytes);
}

/* The modules' symbols are unsorted; some are the assembler's own. */
static void add_module_symbols(struct small_guest *guest)
{
	static const struct {
		const char *name;
		uint64_t offset;
	} symbols[] = {
		{ ".L12", 0x14 }, { "later", 0x40 }, { "alias", 0x40 }, { "middle", 0x20 }
	};
	uint64_t text = 32;

	small_guest_put32(guest, SMALL_GUEST_AT(PLACE_MODULE_SYMBOLS) + 8, 6);
	small_guest_put(guest, SMALL_GUEST_AT(PLACE_TYPETAB), "?ttttt", 6);
	for (uint64_t i = 0; i < 4; i++, text += 8) {
		Elf64_Sym symbol = { .st_name = (Elf64_Word)text,
				     .st_value = 0xffffffffc0000000 + symbols[i].offset };

		small_guest_put(guest, SMALL_GUEST_AT(PLACE_SYMTAB) + (2 + i) * sizeof(symbol),
				&symbol, sizeof(symbol));
		small_guest_put_text(guest, SMALL_GUEST_AT(PLACE_STRTAB) + text, symbols[i].name);
	}
}

static void test_names(void **state)
{
	struct fixture *fixture = *state;
	struct guest_modules modules;
	struct guest_name name;
	size_t skipped;

	add_module_symbols(&fixture->guest);
	assert_no_error(guest_kernel_open(&fixture->space, &fixture->kernel));
	assert_no_error(guest_modules_read(fixture->kernel, &modules, &skipped));
	expect_name(fixture, &modules, SMALL_GUEST_KERNEL, "f0", "", 0, 1);
	expect_name(fixture, &modules, SMALL_GUEST_KERNEL + 17, "f17", "", 0, 1);
	/* Up to the next symbol, linux_banner. */
	expect_name(fixture, &modules, SMALL_GUEST_FUNCTION(SMALL_GUEST_RET_FROM_FORK) + 5,
		    "ret_from_fork", "", 5,
		    SMALL_GUEST_READ_ONLY - SMALL_GUEST_FUNCTION(SMALL_GUEST_RET_FROM_FORK));
	/* Of two at the same address, the first. */
	expect_name(fixture, &modules, SMALL_GUEST_FUNCTION(4) + 2, "__sched_text_end", "", 2,
		    SMALL_GUEST_FUNCTION(SMALL_GUEST_RET_FROM_FORK) - SMALL_GUEST_FUNCTION(4));
	expect_name(fixture, &modules, 0xffffffffc0000018, "shared_function", "beta", 8, 0x10);
	expect_name(fixture, &modules, 0xffffffffc0000022, "middle", "beta", 2, 0x20);
	expect_name(fixture, &modules, 0xffffffffc0000045, "later", "beta", 5, 0xfc0);
	assert_false(guest_name_find(fixture->kernel, &modules, GVA(0xffffffffc0000008), &name));
	assert_false(guest_name_find(fixture->kernel, &modules, GVA(0x401000), &name));
	assert_false(guest_name_find(fixture->kernel, NULL, GVA(0xffffffffc0000018), &name));
	guest_modules_deinit(&modules);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_thread_that_sleeps),
		TEST(test_a_thread_that_never_ran),
		TEST(test_threads_without_a_chain),
		TEST(test_a_thread_that_runs_meanwhile),
		TEST(test_states),
		TEST(test_stack_pointers_that_lie),
		TEST(test_forged_tables),
		TEST(test_tables_in_no_order),
		TEST(test_kernels_without_tables),
		TEST(test_kernels_with_frame_pointers),
		TEST(test_a_modules_tables),
		TEST(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
