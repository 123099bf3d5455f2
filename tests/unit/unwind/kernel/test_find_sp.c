/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-written stacks with an unknown SP: it is found if only one candidate is consistent, and not
 * if there is another one, below the true one or above it.
 */
#include "test.h"

#include "base/memory.h"
#include "unwind/orc_bytes.h"
#include "unwind/kernel/find_sp.h"

#define START 0xffffffff81000000ULL
#define FUNCTION(n) (START + 0x1000 * (n))
enum { LEAF = 1, MIDDLE, TOP, OTHER, JUMPER, ENTRY };
#define CODE_END FUNCTION(16)
#define UNKNOWN_MODULE 0xffffffffc0001000ULL
#define LOW(address) ((uint32_t)(address))

#define TASK_STACK 0xffffc90000100000ULL
#define STACK_WORDS 512
#define STACK_END (TASK_STACK + 8 * STACK_WORDS)
#define SP_OF(word) (TASK_STACK + 8 * (uint64_t)(word))
#define PT_REGS_WORDS 21
#define USER_REGISTERS (STACK_WORDS - PT_REGS_WORDS)
#define LEAF_SP (USER_REGISTERS - 7)

/* LEAF has two words for locals, the others one. */
static const struct entry entries[] = {
	{ START, UNDEFINED, NONE, 0, NONE, 0 },        { FUNCTION(LEAF), CALL, SP, 24, NONE, 0 },
	{ FUNCTION(MIDDLE), CALL, SP, 16, NONE, 0 },   { FUNCTION(ENTRY), REGS, SP, 0, NONE, 0 },
	{ CODE_END - 1, UNDEFINED, NONE, 0, NONE, 0 },
};

static struct scene {
	struct unwind_table *table;
	uint64_t words[STACK_WORDS];
} scene;

static struct unwind_calls *make_calls(const struct unwind_calls_source *source)
{
	_cleanup_buffer_ struct buffer bytes;
	struct unwind_calls *calls;

	buffer_init(&bytes, 1 << 16);
	unwind_calls_encode(source, &bytes);
	assert_no_error(unwind_calls_decode(bytes.data, bytes.size, &calls));
	for (size_t size = 0; size < bytes.size; size += 4) {
		struct unwind_calls *part;

		assert_error(unwind_calls_decode(bytes.data, size, &part), ERROR_BAD_DATA);
	}
	return calls;
}

#define OF(n)                                                                                      \
	{                                                                                          \
		LOW(FUNCTION(n)), LOW(FUNCTION(n)), 0                                              \
	}
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/*
 * ENTRY, TOP, MIDDLE and LEAF call one another; LEAF calls OTHER, which calls LEAF. MIDDLE may also
 * call JUMPER, which continues in LEAF, or, through a register, any target of indirect calls:
 * OTHER.
 */
static void begin(void)
{
	static const struct unwind_function functions[] = {
		OF(LEAF),
		OF(MIDDLE),
		OF(TOP),
		{ LOW(FUNCTION(OTHER)), LOW(FUNCTION(OTHER)), UNWIND_FUNCTION_TARGET },
		OF(JUMPER),
		{ LOW(FUNCTION(ENTRY)), LOW(FUNCTION(ENTRY)), UNWIND_FUNCTION_ELSEWHERE },
	};
	static const struct unwind_call calls[] = {
		{ LOW(FUNCTION(LEAF) + 0x20), LOW(FUNCTION(OTHER)) },
		{ LOW(FUNCTION(MIDDLE) + 0x20), LOW(FUNCTION(LEAF)) },
		{ LOW(FUNCTION(MIDDLE) + 0x40), LOW(FUNCTION(JUMPER)) },
		{ LOW(FUNCTION(MIDDLE) + 0x60), UNWIND_ANY_TARGET },
		{ LOW(FUNCTION(MIDDLE) + 0x80), UNWIND_ANY_FUNCTION },
		{ LOW(FUNCTION(TOP) + 0x20), LOW(FUNCTION(MIDDLE)) },
		{ LOW(FUNCTION(OTHER) + 0x20), LOW(FUNCTION(LEAF)) },
		{ LOW(FUNCTION(ENTRY) + 0x20), LOW(FUNCTION(TOP)) },
	};
	static const struct unwind_jump jumps[] = { { LOW(FUNCTION(JUMPER)),
						      LOW(FUNCTION(LEAF)) } };
	static const struct unwind_known_range ranges[] = { { LOW(START), LOW(CODE_END) },
							    { LOW(UNWIND_CODE_END), UINT32_MAX } };
	static struct test_source source;

	unwind_table_destroy(scene.table);
	scene = (struct scene){ .table = unwind_table_create() };
	make_source(&source, ORC_FORM_SIGNAL, START, CODE_END, entries, COUNT(entries));
	assert_true(unwind_table_add(scene.table, &source.source));
	unwind_table_set_calls(scene.table,
			       make_calls(&(struct unwind_calls_source){
				       functions, calls, jumps, ranges, COUNT(functions),
				       COUNT(calls), COUNT(jumps), COUNT(ranges) }));
	scene.words[LEAF_SP + 2] = FUNCTION(MIDDLE) + 0x20;
	scene.words[LEAF_SP + 4] = FUNCTION(TOP) + 0x20;
	scene.words[LEAF_SP + 6] = FUNCTION(ENTRY) + 0x20;
	scene.words[STACK_WORDS - 5] = 0x401000;
	scene.words[STACK_WORDS - 4] = 0x33; /* the user's CS */
	scene.words[STACK_WORDS - 3] = 0x246;
	scene.words[STACK_WORDS - 2] = 0x7ffff000;
	scene.words[STACK_WORDS - 1] = 0x2b;
}

/* LEAF called OTHER, which called LEAF, and both have returned. */
static void put_returned_calls(void)
{
	scene.words[LEAF_SP - 1] = FUNCTION(LEAF) + 0x20;
	scene.words[LEAF_SP - 3] = FUNCTION(OTHER) + 0x20;
}

static int end_scenes(void **state)
{
	(void)state;
	unwind_table_destroy(scene.table);
	return 0;
}

/* The expected stack word for SP, if it is found. */
static void expect_at(uint64_t ip, enum unwind_sp expected, uint64_t word)
{
	const struct unwind_registers registers = { .ip = ip, .sp_unknown = true };
	const struct unwind_stack stack = { GVA(TASK_STACK), sizeof(scene.words),
					    (uint8_t *)scene.words, GVA(STACK_END) };
	uint64_t sp = 0;

	assert_int_equal(unwind_find_sp(scene.table, &registers, &stack, 1, &sp), expected);
	assert_int_equal(sp, expected == UNWIND_SP_FOUND ? SP_OF(word) : 0);
}

static void expect(enum unwind_sp expected)
{
	expect_at(FUNCTION(LEAF) + 0x10, expected, LEAF_SP);
}

static void test_the_only_one(void **state)
{
	(void)state;
	begin();
	expect(UNWIND_SP_FOUND);
	expect_at(FUNCTION(MIDDLE) + 0x10, UNWIND_SP_FOUND, LEAF_SP + 3);
}

static void test_returned_calls(void **state)
{
	(void)state;
	begin();
	put_returned_calls();
	expect(UNWIND_SP_SEVERAL);
	scene.words[LEAF_SP - 1] = 17; /* overwritten in the meantime */
	expect(UNWIND_SP_FOUND);
}

static void test_words_that_are_no_callers(void **state)
{
	(void)state;
	begin();
	scene.words[10] = FUNCTION(TOP) + 0x20;    /* calls another one */
	scene.words[20] = FUNCTION(MIDDLE) + 0x24; /* does not follow a call */
	scene.words[30] = 0xffffffffffffffffULL;
	scene.words[40] = FUNCTION(MIDDLE) + 0x20; /* has no caller itself */
	expect(UNWIND_SP_FOUND);
	scene.words[LEAF_SP + 2] = 0;
	expect(UNWIND_SP_NONE);
}

static void test_jumps_and_registers(void **state)
{
	(void)state;
	begin();
	scene.words[LEAF_SP + 2] = FUNCTION(MIDDLE) + 0x40;
	expect(UNWIND_SP_FOUND);
	scene.words[LEAF_SP + 2] = FUNCTION(MIDDLE) + 0x60;
	expect(UNWIND_SP_NONE);
	expect_at(FUNCTION(OTHER) + 0x10, UNWIND_SP_FOUND, LEAF_SP + 1);
	scene.words[LEAF_SP + 2] = FUNCTION(MIDDLE) + 0x80;
	expect(UNWIND_SP_FOUND);
}

/* Unknown code may be a caller: below the true one, or in place of the true one. */
static void test_unknown_code(void **state)
{
	(void)state;
	begin();
	scene.words[10] = UNKNOWN_MODULE;
	expect(UNWIND_SP_UNSURE);
	scene.words[10] = 0;
	scene.words[LEAF_SP + 4] = UNKNOWN_MODULE;
	expect(UNWIND_SP_UNSURE);
}

/* A chain that ends far below the stack's end proves nothing. */
static void test_ends_too_early(void **state)
{
	(void)state;
	begin();
	memmove(scene.words, scene.words + LEAF_SP, (STACK_WORDS - LEAF_SP) * sizeof(*scene.words));
	memset(scene.words + STACK_WORDS - LEAF_SP, 0, LEAF_SP * sizeof(*scene.words));
	expect(UNWIND_SP_UNSURE);
}

static void test_not_sought(void **state)
{
	(void)state;
	begin();
	expect_at(FUNCTION(ENTRY) + 0x10, UNWIND_SP_NOT_SOUGHT, 0);
	expect_at(UNKNOWN_MODULE, UNWIND_SP_NOT_SOUGHT, 0);
	unwind_table_set_calls(scene.table, NULL);
	expect(UNWIND_SP_NOT_SOUGHT);
}

/* A guest could fill its stacks so that each word starts a chain. */
static void test_bounded(void **state)
{
	(void)state;
	begin();
	for (size_t i = 0; i < USER_REGISTERS; i++)
		scene.words[i] = FUNCTION(OTHER) + 0x20;
	expect(UNWIND_SP_NONE);
	for (size_t i = 0; i < USER_REGISTERS; i++)
		scene.words[i] = FUNCTION(MIDDLE) + 0x80;
	expect(UNWIND_SP_UNSURE);
}

/* Can the call of JUMPER, which has COUNT jumps to LEAF, lead to TOP? */
static enum unwind_calls_answer ask_with_jumps(size_t count)
{
	static const struct unwind_function functions[] = { OF(LEAF), OF(TOP), OF(JUMPER) };
	static const struct unwind_call call = { LOW(FUNCTION(LEAF) + 0x20),
						 LOW(FUNCTION(JUMPER)) };
	static const struct unwind_known_range range = { LOW(START), LOW(CODE_END) };
	_cleanup_free_ struct unwind_jump *jumps = memory_calloc(count, sizeof(*jumps));
	_cleanup_unwind_calls_ struct unwind_calls *calls = NULL;
	_cleanup_buffer_ struct buffer bytes;

	for (size_t i = 0; i < count; i++)
		jumps[i] = (struct unwind_jump){ LOW(FUNCTION(JUMPER)), LOW(FUNCTION(LEAF)) };
	buffer_init(&bytes, 1 << 20);
	unwind_calls_encode(&(struct unwind_calls_source){ functions, &call, jumps, &range,
							   COUNT(functions), 1, count, 1 },
			    &bytes);
	assert_no_error(unwind_calls_decode(bytes.data, bytes.size, &calls));
	return unwind_calls_lead(calls, FUNCTION(LEAF) + 0x20, FUNCTION(TOP));
}

/* Not all of them are examined: unknown targets are possible. */
static void test_too_many_jumps(void **state)
{
	(void)state;
	assert_int_equal(ask_with_jumps(1000), UNWIND_CALLS_NO);
	assert_int_equal(ask_with_jumps(100000), UNWIND_CALLS_YES);
}

#define CALLERS 64
#define JUMPS_EACH 10000

/* CALLERS functions, each called once, and each with so many jumps to LEAF. */
static struct unwind_calls *make_many_jumps(void)
{
	static const struct unwind_known_range range = { LOW(START), LOW(CODE_END) };
	static struct unwind_function functions[CALLERS + 2] = { OF(LEAF), OF(TOP) };
	static struct unwind_call of[CALLERS];
	static struct unwind_jump jumps[CALLERS * JUMPS_EACH];
	_cleanup_buffer_ struct buffer bytes;
	struct unwind_calls *calls;

	for (uint32_t i = 0; i < CALLERS; i++) {
		uint32_t start = LOW(FUNCTION(OTHER)) + 16 * i;

		functions[i + 2] = (struct unwind_function){ start, start, 0 };
		of[i] = (struct unwind_call){ LOW(FUNCTION(LEAF)) + 16 * i, start };
		for (uint32_t j = 0; j < JUMPS_EACH; j++)
			jumps[i * JUMPS_EACH + j] =
				(struct unwind_jump){ start, LOW(FUNCTION(LEAF)) };
	}
	buffer_init(&bytes, 8 << 20);
	unwind_calls_encode(&(struct unwind_calls_source){ functions, of, jumps, &range,
							   COUNT(functions), COUNT(of),
							   COUNT(jumps), 1 },
			    &bytes);
	assert_no_error(unwind_calls_decode(bytes.data, bytes.size, &calls));
	return calls;
}

static size_t count_possible(const struct unwind_calls *calls)
{
	size_t count = 0;

	unwind_calls_begin(calls);
	for (uint64_t i = 0; i < CALLERS; i++)
		count += unwind_calls_lead(calls, FUNCTION(LEAF) + 16 * i, FUNCTION(TOP)) !=
			 UNWIND_CALLS_NO;
	return count;
}

/*
 * For all answers of a search together, a limited number of jumps is examined; what was found out
 * is kept, so that the next search gets further.
 */
static void test_all_jumps_together(void **state)
{
	const size_t known = UNWIND_CALLS_WORK / JUMPS_EACH;
	struct unwind_calls *calls = make_many_jumps();

	(void)state;
	assert_int_equal(count_possible(calls), CALLERS - known);
	assert_int_equal(unwind_calls_work_left(calls), 0);
	assert_int_equal(count_possible(calls), CALLERS - 2 * known);
	for (int i = 0; i < 8; i++)
		count_possible(calls);
	assert_int_equal(count_possible(calls), 0);
	assert_int_equal(unwind_calls_work_left(calls), UNWIND_CALLS_WORK);
	unwind_calls_destroy(calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_only_one),
		cmocka_unit_test(test_returned_calls),
		cmocka_unit_test(test_words_that_are_no_callers),
		cmocka_unit_test(test_jumps_and_registers),
		cmocka_unit_test(test_unknown_code),
		cmocka_unit_test(test_ends_too_early),
		cmocka_unit_test(test_not_sought),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_too_many_jumps),
		cmocka_unit_test(test_all_jumps_together),
	};

	return cmocka_run_group_tests(tests, NULL, end_scenes);
}
