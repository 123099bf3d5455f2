/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is guessed in hand-written stacks, and what is not. */
#include "test.h"

#include "unwind/orc_bytes.h"
#include "unwind/program/scan.h"

#define START 0xffffffff81000000ULL
#define FUNCTION(n) (START + 0x1000 * (n))
enum { A = 1, THREAD, IRQ_CALL, UNKNOWN };
#define CODE_END FUNCTION(6)
#define PROGRAM 0x401000ULL

#define TASK_STACK 0xffffc90000100000ULL
#define IRQ_STACK 0xffffc90000200000ULL
#define WORDS 32
#define SP_OF(word) (TASK_STACK + 8 * (uint64_t)(word))

static const struct entry entries[] = {
	{ START, UNDEFINED, NONE, 0, NONE, 0 },
	{ FUNCTION(A), CALL, SP, 8, NONE, 0 },
	{ FUNCTION(THREAD), END, NONE, 0, NONE, 0 },
	{ FUNCTION(IRQ_CALL), CALL, SP_INDIRECT, 8, NONE, 0 },
	{ FUNCTION(UNKNOWN), UNDEFINED, NONE, 0, NONE, 0 },
	{ CODE_END - 1, UNDEFINED, NONE, 0, NONE, 0 },
};

static struct unwind_table *table;
static uint64_t task[WORDS], irq[WORDS];
static struct unwind_stack stacks[2];
static struct unwind_frame frames[16];
static struct unwind_chain chain;

static int begin(void **state)
{
	static struct test_source source;

	(void)state;
	table = unwind_table_create();
	make_source(&source, ORC_FORM_SIGNAL, START, CODE_END, entries,
		    sizeof(entries) / sizeof(*entries));
	assert_true(unwind_table_add(table, &source.source));
	memset(task, 0, sizeof(task));
	memset(irq, 0, sizeof(irq));
	stacks[0] = (struct unwind_stack){ GVA(IRQ_STACK), sizeof(irq), (uint8_t *)irq,
					   GVA(IRQ_STACK + sizeof(irq)) };
	stacks[1] = (struct unwind_stack){ GVA(TASK_STACK), sizeof(task), (uint8_t *)task,
					   GVA(TASK_STACK + sizeof(task)) };
	chain = (struct unwind_chain){ .frames = frames, .capacity = 16 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	unwind_table_destroy(table);
	return 0;
}

static void run(const struct unwind_registers *registers)
{
	unwind_run(table, registers, stacks, 2, &chain);
	for (size_t i = 0; i < chain.count; i++)
		assert_false(frames[i].guessed);
	unwind_scan(table, stacks, 2, &chain);
}

/* Expects CERTAIN frames, then the guesses, up to a 0. */
static void expect(size_t certain, enum unwind_end reason, const uint64_t *guesses)
{
	size_t count = certain;

	assert_int_equal(chain.end, reason);
	for (; *guesses; guesses++, count++) {
		assert_true(count < chain.count);
		assert_true(frames[count].guessed);
		assert_int_equal(frames[count].kind, UNWIND_FRAME_CALL);
		assert_int_equal(frames[count].address, *guesses);
	}
	assert_int_equal(chain.count, count);
}
#define GUESSES(...) (const uint64_t[]){ __VA_ARGS__ __VA_OPT__(,) 0 }

static void what_lies_above_the_last_frame(void **state)
{
	const struct unwind_registers registers = { .ip = FUNCTION(A), .sp = SP_OF(10) };

	(void)state;
	task[9] = FUNCTION(A) + 2; /* below SP: a call that has returned */
	task[10] = FUNCTION(UNKNOWN) + 8;
	task[11] = FUNCTION(A) + 1;
	task[12] = FUNCTION(UNKNOWN) + 3; /* in code that is otherwise unknown */
	task[13] = START;		   /* nothing precedes it */
	task[14] = 0x401000;
	task[20] = FUNCTION(THREAD) + 4;
	task[WORDS - 1] = FUNCTION(A) + 7;
	irq[3] = FUNCTION(A) + 5; /* in a stack that was not reached */
	run(&registers);
	expect(2, UNWIND_NO_DATA,
	       GUESSES(FUNCTION(A) + 1, FUNCTION(UNKNOWN) + 3, FUNCTION(THREAD) + 4,
		       FUNCTION(A) + 7, FUNCTION(A) + 5));
}

static void a_stack_that_was_left_is_done_with(void **state)
{
	const struct unwind_registers registers = { .ip = FUNCTION(IRQ_CALL), .sp = IRQ_STACK };

	(void)state;
	irq[0] = SP_OF(10); /* where the interrupted task's stack continues */
	irq[4] = FUNCTION(A) + 5;
	task[9] = FUNCTION(A) + 2;
	task[10] = FUNCTION(UNKNOWN) + 8;
	task[11] = FUNCTION(A) + 1;
	run(&registers);
	expect(2, UNWIND_NO_DATA, GUESSES(FUNCTION(A) + 1));
}

static void complete_chains_stay_as_they_are(void **state)
{
	const struct unwind_registers registers = { .ip = FUNCTION(A), .sp = SP_OF(10) };

	(void)state;
	task[10] = FUNCTION(THREAD) + 8;
	task[11] = FUNCTION(A) + 1;
	run(&registers);
	expect(2, UNWIND_COMPLETE, GUESSES());
}

/* Then everything copied is above a BP. */
static void without_sp_it_begins_at_the_start(void **state)
{
	const struct unwind_registers registers = { .ip = FUNCTION(A), .sp_unknown = true };

	(void)state;
	task[0] = FUNCTION(A) + 1;
	task[5] = FUNCTION(A) + 2;
	run(&registers);
	expect(1, UNWIND_NO_REGISTERS, GUESSES(FUNCTION(A) + 1, FUNCTION(A) + 2));
}

static void bounds(void **state)
{
	struct unwind_registers registers = { .ip = FUNCTION(UNKNOWN), .sp = SP_OF(10) + 1 };
	uint64_t *copy = malloc(11 * sizeof(*copy)); /* for ASan */

	(void)state;
	for (size_t i = 0; i < WORDS; i++)
		task[i] = FUNCTION(A) + 1 + i;
	chain.capacity = 4;
	run(&registers); /* from the next aligned word, as far as there is room */
	expect(1, UNWIND_NO_DATA, GUESSES(FUNCTION(A) + 12, FUNCTION(A) + 13, FUNCTION(A) + 14));
	assert_non_null(copy);
	memcpy(copy, task, 11 * sizeof(*copy));
	stacks[1].data = (uint8_t *)copy;
	stacks[1].bytes = 11 * sizeof(*copy) - 1;
	registers.sp = SP_OF(8);
	run(&registers); /* the last word is incomplete */
	expect(1, UNWIND_NO_DATA, GUESSES(FUNCTION(A) + 9, FUNCTION(A) + 10));
	free(copy);
	registers.sp = UINT64_MAX;
	stacks[1].bytes = 0;
	run(&registers);
	expect(1, UNWIND_NO_DATA, GUESSES());
}

static void programs(void **state)
{
	static const uint32_t ips[] = { 0, 0x800 };
	static const struct unwind_row rows[] = {
		{ .type = UNWIND_ROW_CALL, .sp_base = UNWIND_BASE_SP, .sp_offset = 8 },
		{ .type = UNWIND_ROW_UNDEFINED },
	};
	const struct unwind_rows code = { GVA(0x1000), GVA(0x2000), ips, rows, 2 };
	const struct unwind_mapping mappings[] = {
		{ .start = GVA(PROGRAM),
		  .end = GVA(PROGRAM + 0x1000),
		  .offset = 0x1000,
		  .table = table },
		{ .start = GVA(PROGRAM + 0x1000), .end = GVA(PROGRAM + 0x2000) },
	};
	const struct unwind_program program = { .mappings = mappings, .count = 2 };
	const struct unwind_registers registers = { .ip = PROGRAM, .sp = SP_OF(0) };

	(void)state;
	assert_true(unwind_table_add_rows(table, &code));
	task[0] = PROGRAM + 0x900;
	task[1] = PROGRAM + 0x10;
	task[2] = PROGRAM + 0x880;  /* a row marks this code as unknown */
	task[3] = PROGRAM;	    /* nothing precedes it */
	task[4] = PROGRAM + 0x2000; /* the end of a mapping without rows */
	task[5] = PROGRAM + 0x2001;
	task[6] = FUNCTION(A) + 1;
	unwind_run_user(&program, &registers, &stacks[1], 1, &chain);
	unwind_scan_user(&program, &stacks[1], 1, &chain);
	expect(2, UNWIND_NO_DATA, GUESSES(PROGRAM + 0x10, PROGRAM + 0x880, PROGRAM + 0x2000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_lies_above_the_last_frame, begin, end),
		cmocka_unit_test_setup_teardown(a_stack_that_was_left_is_done_with, begin, end),
		cmocka_unit_test_setup_teardown(complete_chains_stay_as_they_are, begin, end),
		cmocka_unit_test_setup_teardown(without_sp_it_begins_at_the_start, begin, end),
		cmocka_unit_test_setup_teardown(bounds, begin, end),
		cmocka_unit_test_setup_teardown(programs, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
