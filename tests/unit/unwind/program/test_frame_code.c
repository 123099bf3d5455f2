/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains from frame pointers and code alone: each position in a function, and cases that must not
 * be guessed.
 */
#include "test.h"

#include <string.h>

#include "unwind/program/frame_code.h"

#define CODE 0x401000
#define STACK 0x7ffff0000000ULL
#define WORDS 32

/*
 * At 0, a start function without a frame, which calls; at 0x10, a function with a frame, which
 * calls; at 0x20, the same with endbr64, an instruction before BP is set, and one between leaving
 * its frame and ret; at 0x40, a function without a frame; no symbols from 0x50 on.
 */
static const uint8_t code[0x60] = {
	[0x8] = 0xe8, 0x03, 0, 0, 0, /* call 0x10 */
	/* call *0x10(%rax); leave; ret */
	[0x10] = 0x55, 0x48, 0x89, 0xe5, 0xff, 0x50, 0x10, 0xc9, 0xc3,
	[0x20] = 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x90, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0x31, 0xc0, 0xc3,
	[0x40] = 0x90, 0x90, 0xc3,
};
enum {
	START_CALLED = 0xd, /* after its call */
	OUTER_CALLED = 0x17,
	INNER = 0x20,
	INNER_PUSH = 0x24,
	INNER_BETWEEN = 0x25,
	INNER_MOVE = 0x26,
	INNER_BODY = 0x29,
	INNER_LEFT = 0x2b,
	INNER_RETURN = 0x2d,
	FRAMELESS = 0x40,
	FRAMELESS_RETURN = 0x42,
	NAMELESS = 0x50,
};

static struct {
	struct symbol_table *symbols;
	struct unwind_functions functions;
	struct unwind_mapping mapping;
	uint64_t words[WORDS];
	struct unwind_frame frames[16];
	struct unwind_chain chain;
} scene;

#define SP_OF(word) (STACK + 8 * (word))

/*
 * The outer function's frame is at word 20, the inner one's at word 10; start has none, and BP is
 * 0.
 */
static int make_scene(void **state)
{
	struct symbol_builder *builder = symbol_builder_create();

	(void)state;
	memset(&scene, 0, sizeof(scene));
	symbol_builder_add(builder, 0, 0x10, 't', "start", NULL);
	symbol_builder_add(builder, 0x10, 0x20, 't', "outer", NULL);
	symbol_builder_add(builder, 0x20, 0x40, 't', "inner", NULL);
	symbol_builder_add(builder, 0x40, 0x50, 't', "frameless", NULL);
	scene.symbols = symbol_builder_finish(builder);
	scene.functions = (struct unwind_functions){ code, sizeof(code), scene.symbols };
	scene.mapping = (struct unwind_mapping){ .start = GVA(CODE),
						 .end = GVA(CODE + sizeof(code)),
						 .functions = &scene.functions };
	scene.chain = (struct unwind_chain){ .frames = scene.frames, .capacity = 16 };
	scene.words[10] = SP_OF(20);
	scene.words[11] = CODE + OUTER_CALLED;
	scene.words[20] = 0;
	scene.words[21] = CODE + START_CALLED;
	return 0;
}

static int drop_scene(void **state)
{
	(void)state;
	symbol_table_destroy(scene.symbols);
	return 0;
}

static bool sp_unknown;

static void run(uint64_t place, uint64_t sp, uint64_t bp)
{
	struct unwind_program program = { .mappings = &scene.mapping, .count = 1 };
	struct unwind_registers registers = {
		.ip = CODE + place, .sp = sp, .bp = bp, .sp_unknown = sp_unknown
	};
	struct unwind_stack stack = { GVA(STACK), sizeof(scene.words), (uint8_t *)scene.words,
				      GVA(STACK + sizeof(scene.words)) };

	unwind_run_user(&program, &registers, &stack, 1, &scene.chain);
}

/* Expects the whole chain: PLACE, outer and start. */
static void expect_whole(uint64_t place)
{
	assert_int_equal(scene.chain.end, UNWIND_COMPLETE);
	assert_int_equal(scene.chain.count, 3);
	assert_int_equal(scene.frames[0].address, CODE + place);
	assert_int_equal(scene.frames[1].address, CODE + OUTER_CALLED);
	assert_int_equal(scene.frames[2].address, CODE + START_CALLED);
	for (int i = 0; i < 3; i++)
		assert_false(scene.frames[i].guessed);
}

static void expect_nothing(void)
{
	assert_int_equal(scene.chain.end, UNWIND_NO_DATA);
	assert_int_equal(scene.chain.count, 1);
}

static void each_place_of_a_function(void **state)
{
	(void)state;
	run(INNER, SP_OF(11), SP_OF(20));
	expect_whole(INNER);
	run(INNER_PUSH, SP_OF(11), SP_OF(20));
	expect_whole(INNER_PUSH);
	run(INNER_BETWEEN, SP_OF(10), SP_OF(20));
	expect_whole(INNER_BETWEEN);
	run(INNER_MOVE, SP_OF(10), SP_OF(20));
	expect_whole(INNER_MOVE);
	run(INNER_BODY, SP_OF(10), SP_OF(10));
	expect_whole(INNER_BODY);
	run(INNER_BODY, SP_OF(5), SP_OF(10)); /* with room for locals */
	expect_whole(INNER_BODY);
	run(INNER_RETURN, SP_OF(11), SP_OF(20));
	expect_whole(INNER_RETURN);
	run(FRAMELESS, SP_OF(11), SP_OF(20));
	expect_whole(FRAMELESS);
	run(FRAMELESS_RETURN, SP_OF(11), SP_OF(20));
	expect_whole(FRAMELESS_RETURN);
}

/* Before the push, or in the body: only the word at SP can tell. */
static void nothing_without_sp(void **state)
{
	static const uint64_t places[] = { INNER,      INNER_PUSH,   INNER_MOVE,
					   INNER_BODY, INNER_RETURN, FRAMELESS };

	(void)state;
	sp_unknown = true;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		run(places[i], SP_OF(11), SP_OF(10));
		assert_int_equal(scene.chain.end, UNWIND_NO_REGISTERS);
		assert_int_equal(scene.chain.count, 1);
	}
	sp_unknown = false;
}

/* The frame was left: following BP would miss its caller. */
static void a_frame_that_was_left(void **state)
{
	(void)state;
	run(INNER_LEFT, SP_OF(11), SP_OF(20));
	expect_nothing();
}

/* BP does not point to its frame here, either. */
static void a_frame_that_is_not_there_yet(void **state)
{
	(void)state;
	run(INNER_MOVE, SP_OF(10), SP_OF(24));
	expect_nothing();
	run(INNER_BODY, SP_OF(10), SP_OF(20));
	expect_nothing();
}

static void what_cannot_be_told(void **state)
{
	(void)state;
	run(FRAMELESS + 1, SP_OF(11), SP_OF(20));
	expect_nothing();
	run(FRAMELESS + 1, SP_OF(11), 0); /* that does not make it the outermost frame */
	expect_nothing();
	run(NAMELESS, SP_OF(11), SP_OF(20));
	expect_nothing();
}

static void stacks_that_lie(void **state)
{
	static const uint64_t bad[] = { 0, 1, CODE + OUTER_CALLED - 1, CODE + 0x40, CODE + 0x60,
					UINT64_MAX, SP_OF(3) };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		scene.words[11] = bad[i]; /* does not follow a call */
		run(INNER_BODY, SP_OF(5), SP_OF(10));
		expect_nothing();
		run(INNER, SP_OF(11), SP_OF(20));
		expect_nothing();
	}
	scene.words[11] = CODE + OUTER_CALLED;
	run(INNER_BODY, SP_OF(12), SP_OF(10)); /* BP below SP */
	expect_nothing();
	run(INNER_BODY, SP_OF(5), SP_OF(10) + 4);
	expect_nothing();
	run(INNER_BODY, SP_OF(5), SP_OF(WORDS));
	expect_nothing();
	run(INNER, SP_OF(WORDS), 0);
	expect_nothing();
	/* A frame that points to itself, and one that points down. */
	scene.words[10] = SP_OF(10);
	run(INNER_BODY, SP_OF(5), SP_OF(10));
	assert_int_equal(scene.chain.end, UNWIND_NO_DATA);
	assert_int_equal(scene.chain.count, 2);
	scene.words[10] = SP_OF(2);
	run(INNER_BODY, SP_OF(5), SP_OF(10));
	assert_int_equal(scene.chain.end, UNWIND_NO_DATA);
	assert_int_equal(scene.chain.count, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scene, drop_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_place_of_a_function),
		TEST(nothing_without_sp),
		TEST(a_frame_that_was_left),
		TEST(a_frame_that_is_not_there_yet),
		TEST(what_cannot_be_told),
		TEST(stacks_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
