/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains of programs in hand-written stacks: rows of all kinds, and all ways to end. */
#include "test.h"

#include <string.h>

#include "unwind/program/user.h"

static struct unwind_frame frames[16];

/* A program with one mapping and given rows, and a hand-written stack. */
#define CODE 0x401000
#define STACK 0x7ffff0000000ULL
#define WORDS 64

static struct {
	struct unwind_table *table;
	struct unwind_mapping mapping;
	uint64_t words[WORDS];
	struct unwind_chain chain;
} scene;

static const uint32_t row_ips[] = { 0, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xa0 };
static const struct unwind_row scene_rows[] = {
	{ .type = UNWIND_ROW_CALL, .sp_base = UNWIND_BASE_SP, .sp_offset = 8 },
	{ .type = UNWIND_ROW_CALL, .sp_base = UNWIND_BASE_SP_PLT, .sp_offset = 8, .bp_offset = 11 },
	{ .type = UNWIND_ROW_CALL, .sp_base = UNWIND_BASE_OTHER },
	{ .type = UNWIND_ROW_CALL,
	  .sp_base = UNWIND_BASE_SP,
	  .sp_offset = 16,
	  .bp_base = UNWIND_BASE_OTHER },
	{ .type = UNWIND_ROW_CALL,
	  .sp_base = UNWIND_BASE_BP,
	  .sp_offset = 16,
	  .bp_base = UNWIND_BASE_PREV_SP,
	  .bp_offset = -16 },
	{ .type = UNWIND_ROW_UNDEFINED },
	{ .type = UNWIND_ROW_END },
	{ .type = UNWIND_ROW_CALL, .sp_base = UNWIND_BASE_SP_INDIRECT_WORD, .sp_offset = 16 },
	{ .type = UNWIND_ROW_CALL, .sp_base = UNWIND_BASE_SP_WORDS, .sp_offset = 5 },
	{ .type = UNWIND_ROW_SIGNAL, .sp_offset = 160, .bp_offset = 8 },
	{ .type = UNWIND_ROW_CALL,
	  .sp_base = UNWIND_BASE_BP,
	  .sp_offset = 16,
	  .bp_base = UNWIND_BASE_BP_TOP },
};
enum {
	LEAF = 0x4,
	PLT = 0x10,
	ELSEWHERE = 0x24,
	LOSES_BP = 0x34,
	BY_BP = 0x44,
	UNKNOWN = 0x54,
	START = 0x64,
	START_END = 0x70,
	BY_WORD = 0x74,
	FAR = 0x84,
	SIGNAL = 0x94,
	BY_BP_OR_SP = 0xa4,
	NO_CODE = 0x1000
};

static int make_scene(void **state)
{
	struct unwind_rows rows = { GVA(0x1000), GVA(0x2000), row_ips, scene_rows,
				    sizeof(row_ips) / sizeof(*row_ips) };

	(void)state;
	memset(&scene, 0, sizeof(scene));
	scene.table = unwind_table_create();
	assert_true(unwind_table_add_rows(scene.table, &rows));
	scene.mapping =
		(struct unwind_mapping){ GVA(CODE), GVA(CODE + 0x1000), 0x1000, scene.table };
	scene.chain = (struct unwind_chain){ .frames = frames, .capacity = 16 };
	return 0;
}

static int drop_scene(void **state)
{
	(void)state;
	unwind_table_destroy(scene.table);
	return 0;
}

static bool sp_unknown;

static void run(uint64_t place, uint64_t bp, bool frame_pointers)
{
	struct unwind_program program = { &scene.mapping, 1, frame_pointers };
	struct unwind_registers registers = {
		.ip = CODE + place, .sp = STACK, .bp = bp, .sp_unknown = sp_unknown
	};
	struct unwind_stack stack = { GVA(STACK), sizeof(scene.words), (uint8_t *)scene.words,
				      GVA(STACK + sizeof(scene.words)) };

	unwind_run_user(&program, &registers, &stack, 1, &scene.chain);
}

static void expect(size_t count, enum unwind_end end, uint64_t end_at)
{
	assert_int_equal(scene.chain.end, end);
	assert_int_equal(scene.chain.end_at, end_at);
	assert_int_equal(scene.chain.count, count);
}

/* The same rows for 32-bit code: pushed words are half as wide, but offsets are still in bytes. */
static void words_of_32_bits(void **state)
{
	uint32_t *words = (uint32_t *)scene.words;

	(void)state;
	unwind_table_set_bits32(scene.table);
	words[1] = CODE + BY_BP;    /* at LEAF's CFA - 4 */
	words[9] = CODE + PLT + 11; /* at BY_BP's, which is BP + 16 */
	words[12] = CODE + START + 1;
	run(LEAF, (uint32_t)STACK + 24, false);
	expect(2, UNWIND_UNREADABLE, (uint32_t)STACK + 24 + 12);
	assert_int_equal(frames[1].address, CODE + BY_BP);
	run(LEAF, STACK + 24, false);
	assert_int_equal(frames[1].address, CODE + BY_BP);
	/* after 11 bytes, one more word was pushed */
	assert_int_equal(frames[2].address, CODE + PLT + 11);
	assert_int_equal(frames[3].address, CODE + START + 1);
	expect(4, UNWIND_COMPLETE, 0);
	words[12] = CODE + UNKNOWN;
	words[13] = CODE + LEAF;
	run(LEAF, STACK + 24, false);
	expect(4, UNWIND_NO_DATA, CODE + UNKNOWN);
	assert_int_equal(scene.chain.word_bytes, 4);
}

/*
 * A stack of which eight words were copied, and further up two pairs, and the words above the
 * second. BY_BP leads from pair to pair, and LEAF on through SP into the words above; the gaps were
 * not copied.
 */
static void pieces_behind_the_copy(void **state)
{
	struct unwind_program program = { &scene.mapping, 1, false };
	struct unwind_registers registers = { .ip = CODE + BY_BP, .sp = STACK, .bp = STACK + 16 };
	uint8_t *data = (uint8_t *)scene.words;
	struct unwind_piece pieces[] = { { GVA(STACK + 160), 16, data + 160 },
					 { GVA(STACK + 320), 24, data + 320 } };
	struct unwind_stack stack = { GVA(STACK), 64, data, GVA(STACK + 64), pieces, 2 };

	(void)state;
	scene.words[2] = STACK + 160;
	scene.words[3] = CODE + BY_BP;
	scene.words[20] = STACK + 320;
	scene.words[21] = CODE + BY_BP;
	scene.words[40] = 0;
	scene.words[41] = CODE + LEAF;
	scene.words[42] = CODE + START;
	unwind_run_user(&program, &registers, &stack, 1, &scene.chain);
	expect(5, UNWIND_COMPLETE, 0);
	assert_int_equal(frames[3].address, CODE + LEAF);
	assert_false(frames[4].guessed);
	scene.words[21] = CODE + LEAF;
	unwind_run_user(&program, &registers, &stack, 1, &scene.chain);
	expect(3, UNWIND_UNREADABLE, STACK + 176);
	pieces[1].bytes = 16;
	scene.words[21] = CODE + BY_BP;
	unwind_run_user(&program, &registers, &stack, 1, &scene.chain);
	expect(4, UNWIND_UNREADABLE, STACK + 336);
	/* No step may lead down. */
	scene.words[20] = STACK + 16;
	unwind_run_user(&program, &registers, &stack, 1, &scene.chain);
	expect(3, UNWIND_BAD, STACK + 32);
	/* A word that begins in a piece and ends after it is unreadable. */
	pieces[0].bytes = 15;
	scene.words[20] = STACK + 320;
	unwind_run_user(&program, &registers, &stack, 1, &scene.chain);
	expect(2, UNWIND_UNREADABLE, STACK + 168);
}

static void ends(void **state)
{
	(void)state;
	run(START, 0, false);
	expect(1, UNWIND_COMPLETE, 0);
	run(UNKNOWN, 0, false);
	expect(1, UNWIND_NO_DATA, CODE + UNKNOWN);
	run(NO_CODE, 0, false);
	expect(1, UNWIND_NO_DATA, CODE + NO_CODE);
	run(ELSEWHERE, 0, false);
	expect(1, UNWIND_NO_REGISTERS, CODE + ELSEWHERE);
	scene.words[0] = 0;
	run(LEAF, 0, false); /* no row marks a return address of 0 as an end */
	expect(2, UNWIND_NO_DATA, 0);
	run(BY_BP, 0x1000, false);
	expect(1, UNWIND_UNREADABLE, 0x1008);
	scene.words[0] = scene.words[1] = CODE + LEAF;
	scene.words[2] = CODE + START;
	scene.chain.capacity = 3;
	run(LEAF, 0, false);
	expect(3, UNWIND_TOO_DEEP, 0);
}

/* After a call that never returns, another function may start. */
static void calls_at_the_end_of_functions(void **state)
{
	(void)state;
	scene.words[0] = CODE + START_END;
	run(LEAF, 0, false);
	expect(2, UNWIND_COMPLETE, 0);
	run(START_END, 0, false); /* not called: interrupted there */
	assert_int_not_equal(scene.chain.end, UNWIND_COMPLETE);
}

static void linkage_table_entries(void **state)
{
	(void)state;
	scene.words[1] = CODE + START;
	for (int i = 0; i < 16; i++) {
		scene.words[0] =
			i < 11 ? CODE + START : 7; /* the relocation's number is pushed */
		run(PLT + i, 0, false);
		expect(2, UNWIND_COMPLETE, 0);
		assert_int_equal(frames[1].address, CODE + START);
	}
}

static void bp_that_was_lost(void **state)
{
	(void)state;
	scene.words[1] = CODE + BY_BP;
	run(LOSES_BP, STACK + 32, false);
	expect(2, UNWIND_NO_REGISTERS, CODE + BY_BP);
}

static void frames_far_apart(void **state)
{
	(void)state;
	scene.words[2] = STACK + 48;
	scene.words[6] = CODE + FAR;
	scene.words[11] = CODE + START;
	run(BY_WORD, 0, false); /* CFA: 8 above the word at SP + 16 */
	expect(3, UNWIND_COMPLETE, 0);
}

/* Of code without data, only that with the SP of the program's entry has no caller. */
static void entry_without_data(void **state)
{
	struct unwind_program program = { .mappings = &scene.mapping, .count = 1 };
	struct unwind_registers registers = { .ip = CODE + LEAF, .sp = STACK };
	struct unwind_stack stack = { GVA(STACK), sizeof(scene.words), (uint8_t *)scene.words,
				      GVA(STACK + sizeof(scene.words)) };

	(void)state;
	scene.words[0] = CODE + UNKNOWN;
	for (int place = 0; place < 3; place++) {
		program.entry_sp = STACK + 8 * place;
		unwind_run_user(&program, &registers, &stack, 1, &scene.chain);
		if (place == 1)
			expect(2, UNWIND_COMPLETE, 0);
		else
			expect(2, UNWIND_NO_DATA, CODE + UNKNOWN);
	}
}

static void frame_pointers_are_guesses(void **state)
{
	(void)state;
	scene.words[4] = STACK + 64; /* the caller's */
	scene.words[5] = CODE + UNKNOWN;
	scene.words[8] = 0;
	scene.words[9] = CODE + UNKNOWN;
	run(UNKNOWN, STACK + 32, false);
	expect(1, UNWIND_NO_DATA, CODE + UNKNOWN);
	run(UNKNOWN, STACK + 32, true);
	expect(3, UNWIND_COMPLETE, 0);
	assert_false(frames[0].guessed);
	assert_true(frames[1].guessed && frames[2].guessed);
	scene.words[8] = STACK + 32; /* a loop */
	run(UNKNOWN, STACK + 32, true);
	expect(3, UNWIND_NO_DATA, CODE + UNKNOWN);
}

/* BY_BP's caller is found with BP, which also gives SP, with which LEAF's is found. */
static void sp_that_is_not_known(void **state)
{
	static const uint64_t by_sp[] = { LEAF, PLT, LOSES_BP, BY_WORD, FAR, SIGNAL };

	(void)state;
	scene.words[4] = STACK;
	scene.words[5] = CODE + LEAF;
	scene.words[6] = CODE + START;
	for (size_t i = 0; i < WORDS; i++)
		if (i < 4 || i > 6)
			scene.words[i] = CODE + START;
	sp_unknown = true;
	run(BY_BP, STACK + 32, false);
	expect(3, UNWIND_COMPLETE, 0);
	assert_int_equal(frames[1].address, CODE + LEAF);
	assert_int_equal(frames[2].address, CODE + START);
	for (size_t i = 0; i < sizeof(by_sp) / sizeof(*by_sp); i++) {
		run(by_sp[i], STACK + 32, false);
		expect(1, UNWIND_NO_REGISTERS, CODE + by_sp[i]);
	}
	run(BY_BP_OR_SP, STACK, false);
	expect(1, UNWIND_NO_REGISTERS, CODE + BY_BP_OR_SP);
	run(START, 0, false);
	expect(1, UNWIND_COMPLETE, 0);
	sp_unknown = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pieces_behind_the_copy, make_scene, drop_scene),
		cmocka_unit_test_setup_teardown(ends, make_scene, drop_scene),
		cmocka_unit_test_setup_teardown(words_of_32_bits, make_scene, drop_scene),
		cmocka_unit_test_setup_teardown(calls_at_the_end_of_functions, make_scene,
						drop_scene),
		cmocka_unit_test_setup_teardown(linkage_table_entries, make_scene, drop_scene),
		cmocka_unit_test_setup_teardown(bp_that_was_lost, make_scene, drop_scene),
		cmocka_unit_test_setup_teardown(frames_far_apart, make_scene, drop_scene),
		cmocka_unit_test_setup_teardown(entry_without_data, make_scene, drop_scene),
		cmocka_unit_test_setup_teardown(frame_pointers_are_guesses, make_scene, drop_scene),
		cmocka_unit_test_setup_teardown(sp_that_is_not_known, make_scene, drop_scene),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
