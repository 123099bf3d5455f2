/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains in hand-written stacks: calls, interrupts, stack switches, and every way in which a chain
 * can end. The functions below call each other in alphabetical order.
 */
#include "test.h"

#include "unwind/orc_bytes.h"
#include "unwind/walk/unwind.h"

#define START 0xffffffff81000000ULL
#define FUNCTION(n) (START + 0x1000 * (n))
enum {
	A = 1,
	B,
	C,
	ENTRY,
	INTERRUPT,
	PARTIAL_ENTRY,
	THREAD,
	IRQ_CALL,
	REALIGNED,
	UNKNOWN,
	GLOBAL_IRQ
};
#define CODE_END FUNCTION(16)
#define TRAMPOLINE FUNCTION(20)

#define TASK_STACK 0xffffc90000100000ULL
#define IRQ_STACK 0xffffc90000200000ULL
#define STACK_WORDS 512
#define STACK_END (TASK_STACK + 8 * STACK_WORDS)
#define PT_REGS_WORDS 21
#define USER_CS 0x33
#define KERNEL_CS 0x10

/*
 * From the middle of each function on, its return address is 24 bytes above SP, or as its name
 * says.
 */
static const struct entry entries[] = {
	{ START, UNDEFINED, NONE, 0, NONE, 0 },
	{ FUNCTION(A), CALL, SP, 8, NONE, 0 },
	{ FUNCTION(A) + 0x80, CALL, SP, 32, PREV_SP, -16 },
	{ FUNCTION(B), CALL, BP, 16, PREV_SP, -16 },
	{ FUNCTION(C), CALL, SP, 24, NONE, 0 },
	{ FUNCTION(ENTRY), REGS, SP, 0, NONE, 0 },
	{ FUNCTION(INTERRUPT), REGS, SP, 8, NONE, 0 },
	{ FUNCTION(PARTIAL_ENTRY), PARTIAL, SP, 16, NONE, 0 },
	{ FUNCTION(THREAD), END, NONE, 0, NONE, 0 },
	{ FUNCTION(IRQ_CALL), CALL, SP_INDIRECT, 8, NONE, 0 },
	{ FUNCTION(REALIGNED), CALL, R10, 0, BP, 0 },
	{ FUNCTION(UNKNOWN), UNDEFINED, NONE, 0, NONE, 0 },
	{ FUNCTION(GLOBAL_IRQ), REGS, SP_INDIRECT, 16, NONE, 0 },
	{ CODE_END - 1, UNDEFINED, NONE, 0, NONE, 0 },
};

struct scene {
	struct unwind_table *table;
	struct unwind_registers registers;
	uint64_t general[UNWIND_GENERAL_REGISTERS];
	uint64_t task[STACK_WORDS], irq[STACK_WORDS];
	struct unwind_stack stacks[2];
	size_t stack_count;
	struct unwind_frame frames[32];
	struct unwind_chain chain;
};

static const enum orc_form all_forms[] = { ORC_FORM_END, ORC_FORM_SIGNAL_END, ORC_FORM_SIGNAL,
					   ORC_FORM_RENUMBERED };
static struct scene scene;

static void begin(enum orc_form form)
{
	static struct test_source source;

	unwind_table_destroy(scene.table);
	scene = (struct scene){ .table = unwind_table_create(), .stack_count = 2 };
	make_source(&source, form, START, CODE_END, entries, sizeof(entries) / sizeof(*entries));
	assert_true(unwind_table_add(scene.table, &source.source));
	unwind_table_add_trampoline(scene.table, GVA(TRAMPOLINE));
	scene.stacks[0] = (struct unwind_stack){ GVA(TASK_STACK), sizeof(scene.task),
						 (uint8_t *)scene.task, GVA(STACK_END) };
	scene.stacks[1] = (struct unwind_stack){ GVA(IRQ_STACK), sizeof(scene.irq),
						 (uint8_t *)scene.irq,
						 GVA(IRQ_STACK + sizeof(scene.irq)) };
	scene.chain = (struct unwind_chain){ .frames = scene.frames, .capacity = 32 };
}

static int end_scenes(void **state)
{
	(void)state;
	unwind_table_destroy(scene.table);
	return 0;
}

static void run(uint64_t ip, uint64_t sp)
{
	scene.registers.ip = ip;
	scene.registers.sp = sp;
	unwind_run(scene.table, &scene.registers, scene.stacks, scene.stack_count, &scene.chain);
}

#define SP_OF(word) (TASK_STACK + 8 * (uint64_t)(word))

static void put_iret(uint64_t *words, uint64_t ip, uint64_t cs, uint64_t sp)
{
	words[0] = ip;
	words[1] = cs;
	words[2] = 0x246;
	words[3] = sp;
	words[4] = cs == USER_CS ? 0x2b : 0x18;
}

/* struct pt_regs of user code at the end of the task stack, as after a system call. */
static void put_user_registers(void)
{
	put_iret(scene.task + STACK_WORDS - 5, 0x401000, USER_CS, 0x7ffff000);
	scene.task[STACK_WORDS - PT_REGS_WORDS + 4] = 0x7ffff800; /* BP */
	scene.task[STACK_WORDS - PT_REGS_WORDS + 5] = 0xb0b0;	  /* BX */
}

#define USER_REGISTERS (STACK_WORDS - PT_REGS_WORDS)

static void expect(size_t index, uint64_t address, enum unwind_frame_kind kind)
{
	assert_true(index < scene.chain.count);
	assert_int_equal(scene.frames[index].address, address);
	assert_int_equal(scene.frames[index].kind, kind);
	assert_false(scene.frames[index].guessed);
}

static void expect_end(size_t frames, enum unwind_end end, uint64_t end_at)
{
	assert_int_equal(scene.chain.end, end);
	assert_int_equal(scene.chain.end_at, end_at);
	assert_int_equal(scene.chain.count, frames);
}

/* The chain's description of the user code that it reached. */
static void expect_user(uint64_t ip, uint64_t sp, uint64_t bp)
{
	assert_true(scene.chain.has_user);
	assert_int_equal(scene.chain.user.ip, ip);
	assert_int_equal(scene.chain.user.sp, sp);
	assert_int_equal(scene.chain.user.bp, bp);
}

static void expect_user_bx(uint64_t bx)
{
	const struct unwind_registers *user = &scene.chain.user;
	uint64_t value;

	assert_non_null(user->others);
	assert_int_equal(user->layout->bytes, sizeof(value));
	memcpy(&value,
	       (const uint8_t *)user->others + user->layout->words[UNWIND_BX] * sizeof(value),
	       sizeof(value));
	assert_int_equal(value, bx);
}

/* A (three words) <- B (using BP) <- C (two words) <- entry code with the user's registers. */
static void put_system_call(size_t top)
{
	scene.task[top + 1] = SP_OF(top + 8); /* B's BP, which A saved */
	scene.task[top + 2] = 0x1234;
	scene.task[top + 3] = FUNCTION(B) + 0x20;
	scene.task[top + 8] = 0xbbbb; /* C's BP */
	scene.task[top + 9] = FUNCTION(C) + 0x30;
	/* C called B with SP here. */
	scene.task[top + 12] = FUNCTION(ENTRY) + 0x40;
}

static void test_a_system_call(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		size_t top = USER_REGISTERS - 13;

		begin(all_forms[i]);
		put_user_registers();
		put_system_call(top);
		scene.task[top + 2] = SP_OF(top + 8); /* PREV_SP - 16 */
		run(FUNCTION(A) + 0x90, SP_OF(top));
		expect(0, FUNCTION(A) + 0x90, UNWIND_FRAME_INTERRUPT);
		expect(1, FUNCTION(B) + 0x20, UNWIND_FRAME_CALL);
		expect(2, FUNCTION(C) + 0x30, UNWIND_FRAME_CALL);
		expect(3, FUNCTION(ENTRY) + 0x40, UNWIND_FRAME_CALL);
		expect_end(4, UNWIND_COMPLETE, 0);
		expect_user(0x401000, 0x7ffff000, 0x7ffff800);
		expect_user_bx(0xb0b0);
	}
}

/*
 * Samples a function's first instruction; as a return address, it would belong to the function
 * before.
 */
static void test_an_address_is_looked_up_by_its_kind(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	scene.task[10] = FUNCTION(THREAD) + 1;
	run(FUNCTION(A), SP_OF(10)); /* 8 bytes */
	expect_end(2, UNWIND_COMPLETE, 0);
	scene.registers.ip_is_return_address = true;
	scene.task[13] = FUNCTION(THREAD) + 1;
	run(FUNCTION(A) + 0x81, SP_OF(10)); /* the call is at + 0x80: 32 bytes */
	expect_end(2, UNWIND_COMPLETE, 0);
	run(FUNCTION(A) + 0x80, SP_OF(10)); /* the call is before that: 8 bytes */
	expect_end(2, UNWIND_COMPLETE, 0);
	scene.task[10] = FUNCTION(THREAD); /* the call is before THREAD, in IRQ code's row */
	run(FUNCTION(A) + 0x80, SP_OF(10));
	assert_int_not_equal(scene.chain.end, UNWIND_COMPLETE);
}

static void test_a_kernel_thread(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	scene.task[STACK_WORDS - 30] = FUNCTION(THREAD) + 0x22;
	run(FUNCTION(A), SP_OF(STACK_WORDS - 30));
	expect(1, FUNCTION(THREAD) + 0x22, UNWIND_FRAME_CALL);
	expect_end(2, UNWIND_COMPLETE, 0);
}

/* An interrupt on its own stack, in a function on the task's, with all registers. */
static void test_an_interrupt(void **state)
{
	size_t regs = USER_REGISTERS - 13 - PT_REGS_WORDS;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		begin(all_forms[i]);
		put_user_registers();
		put_system_call(USER_REGISTERS - 13);
		scene.task[USER_REGISTERS - 11] = SP_OF(USER_REGISTERS - 5);
		/*
		 * The last word of the IRQ stack is the task's SP, where the interrupt's registers
		 * are.
		 */
		scene.irq[4] = FUNCTION(IRQ_CALL) + 0x10;
		scene.irq[5] = SP_OF(regs - 2);
		scene.task[regs - 2] = FUNCTION(INTERRUPT) + 5;
		put_iret(scene.task + regs + 16, FUNCTION(A) + 0x80, KERNEL_CS,
			 SP_OF(USER_REGISTERS - 13));
		scene.task[regs + 4] = 0x5555; /* BP at the interrupt */
		run(FUNCTION(A), IRQ_STACK + 8 * 4);
		expect(0, FUNCTION(A), UNWIND_FRAME_INTERRUPT);
		expect(1, FUNCTION(IRQ_CALL) + 0x10, UNWIND_FRAME_CALL);
		expect(2, FUNCTION(INTERRUPT) + 5, UNWIND_FRAME_CALL);
		/* Its row is that of + 0x80 itself. */
		expect(3, FUNCTION(A) + 0x80, UNWIND_FRAME_INTERRUPT);
		expect(4, FUNCTION(B) + 0x20, UNWIND_FRAME_CALL);
		expect(5, FUNCTION(C) + 0x30, UNWIND_FRAME_CALL);
		expect(6, FUNCTION(ENTRY) + 0x40, UNWIND_FRAME_CALL);
		expect_end(7, UNWIND_COMPLETE, 0);
	}
}

static void test_an_interrupt_by_an_old_kernels_hint(void **state)
{
	size_t regs = USER_REGISTERS - PT_REGS_WORDS;

	(void)state;
	begin(ORC_FORM_END);
	scene.irq[4] = FUNCTION(GLOBAL_IRQ) + 1;
	scene.irq[7] = SP_OF(regs); /* at SP + 16 */
	put_iret(scene.task + regs + 16, FUNCTION(THREAD), KERNEL_CS, SP_OF(USER_REGISTERS));
	run(FUNCTION(A), IRQ_STACK + 8 * 4);
	expect(2, FUNCTION(THREAD), UNWIND_FRAME_INTERRUPT);
	expect_end(3, UNWIND_COMPLETE, 0);
}

/* An NMI in entry code that has pushed only the IRET frame. */
static void test_partial_registers(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	scene.registers.bp = SP_OF(104);
	put_iret(scene.task + 12, FUNCTION(B) + 4, KERNEL_CS, SP_OF(100));
	scene.task[104] = 0;
	scene.task[105] = FUNCTION(THREAD) + 9;
	run(FUNCTION(PARTIAL_ENTRY) + 3, SP_OF(10));
	expect(1, FUNCTION(B) + 4, UNWIND_FRAME_INTERRUPT);
	expect(2, FUNCTION(THREAD) + 9, UNWIND_FRAME_CALL); /* BP did not change */
	expect_end(3, UNWIND_COMPLETE, 0);
	assert_false(scene.chain.has_user);
	put_iret(scene.task + 12, 0x401000, USER_CS, 0x7fff0000);
	run(FUNCTION(PARTIAL_ENTRY) + 3, SP_OF(10));
	expect_end(1, UNWIND_COMPLETE, 0);
	expect_user(0x401000, 0x7fff0000, SP_OF(104));
}

/* The words where a row expects these have user registers, one of which is a code address. */
static void test_what_no_processor_pushes(void **state)
{
	static const struct {
		size_t word;
		uint64_t value;
	} bad[] = { { 1, 0 }, { 1, FUNCTION(A) }, { 2, FUNCTION(A) }, { 2, 0x8246 }, { 4, 0x18 } };

	(void)state;
	begin(ORC_FORM_SIGNAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put_iret(scene.task + 12, 0x401000, USER_CS, SP_OF(100));
		scene.task[12 + bad[i].word] = bad[i].value;
		run(FUNCTION(PARTIAL_ENTRY) + 3, SP_OF(10));
		expect_end(1, UNWIND_BAD, SP_OF(10));
		assert_false(scene.chain.has_user);
	}
	put_iret(scene.task + 12, FUNCTION(B) + 4, USER_CS - 3, SP_OF(100)); /* no kernel's */
	run(FUNCTION(PARTIAL_ENTRY) + 3, SP_OF(10));
	expect_end(1, UNWIND_BAD, SP_OF(10));
}

static void test_registers_that_are_known_or_not(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	scene.registers.bp = SP_OF(60);
	scene.task[49] = FUNCTION(THREAD) + 1;
	scene.general[UNWIND_R10] = SP_OF(50);
	run(FUNCTION(REALIGNED), SP_OF(20));
	expect_end(1, UNWIND_NO_REGISTERS, FUNCTION(REALIGNED));
	scene.registers.others = scene.general;
	run(FUNCTION(REALIGNED), SP_OF(20));
	expect_end(2, UNWIND_COMPLETE, 0);
	/* A call may have changed it. */
	scene.task[20] = FUNCTION(REALIGNED) + 8;
	run(FUNCTION(A), SP_OF(20));
	expect_end(2, UNWIND_NO_REGISTERS, FUNCTION(REALIGNED) + 8);
}

/* On hosts that cannot read SP: a row that uses another register gives the caller's. */
static void test_sp_that_is_not_known(void **state)
{
	static const uint64_t by_sp[] = {
		FUNCTION(A),         FUNCTION(A) + 0x80,      FUNCTION(ENTRY),
		FUNCTION(INTERRUPT), FUNCTION(PARTIAL_ENTRY), FUNCTION(IRQ_CALL),
		FUNCTION(GLOBAL_IRQ)
	};
	size_t top = USER_REGISTERS - 13;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		begin(all_forms[i]);
		put_user_registers();
		put_system_call(top);
		scene.registers.sp_unknown = true;
		scene.registers.bp = SP_OF(top + 8);
		/* Where SP would have led if it had been used. */
		scene.task[10] = FUNCTION(THREAD) + 1;
		scene.stacks[0].start = GVA(0);
		for (size_t j = 0; j < sizeof(by_sp) / sizeof(*by_sp); j++) {
			run(by_sp[j], SP_OF(10));
			expect_end(1, UNWIND_NO_REGISTERS, by_sp[j]);
			run(by_sp[j], 0);
			expect_end(1, UNWIND_NO_REGISTERS, by_sp[j]);
		}
		scene.stacks[0].start = GVA(TASK_STACK);
		run(FUNCTION(B) + 4, 0);
		expect(1, FUNCTION(C) + 0x30, UNWIND_FRAME_CALL);
		expect(2, FUNCTION(ENTRY) + 0x40, UNWIND_FRAME_CALL);
		expect_end(3, UNWIND_COMPLETE, 0);
		expect_user(0x401000, 0x7ffff000, 0x7ffff800);
		run(FUNCTION(THREAD), 0);
		expect_end(1, UNWIND_COMPLETE, 0);
		run(FUNCTION(UNKNOWN), 0);
		expect_end(1, UNWIND_NO_DATA, FUNCTION(UNKNOWN));
		scene.registers.bp = 0x1234;
		run(FUNCTION(B) + 4, SP_OF(10));
		expect_end(1, UNWIND_UNREADABLE, 0x123c);
	}
}

/* A function that realigns its stack saves its caller's BP where its own points. */
static void test_bp_by_bp(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	scene.registers.others = scene.general;
	scene.general[UNWIND_R10] = SP_OF(50);
	scene.registers.bp = SP_OF(40);
	scene.task[40] = SP_OF(70); /* the caller's */
	scene.task[49] = FUNCTION(B) + 1;
	scene.task[71] = FUNCTION(THREAD) + 1;
	run(FUNCTION(REALIGNED), SP_OF(20));
	expect(1, FUNCTION(B) + 1, UNWIND_FRAME_CALL);
	expect(2, FUNCTION(THREAD) + 1, UNWIND_FRAME_CALL);
	expect_end(3, UNWIND_COMPLETE, 0);
}

static void test_registers_that_an_interrupt_gives(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	scene.task[20 + 7] = SP_OF(90); /* R10 */
	scene.task[20 + 4] = SP_OF(91); /* BP */
	put_iret(scene.task + 20 + 16, FUNCTION(REALIGNED) + 8, KERNEL_CS, SP_OF(70));
	scene.task[89] = FUNCTION(THREAD) + 1;
	run(FUNCTION(ENTRY), SP_OF(20));
	expect(1, FUNCTION(REALIGNED) + 8, UNWIND_FRAME_INTERRUPT);
	expect_end(3, UNWIND_COMPLETE, 0);
}

static void test_how_chains_end(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	scene.task[10] = FUNCTION(UNKNOWN) + 8;
	run(FUNCTION(A), SP_OF(10));
	expect_end(2, UNWIND_NO_DATA, FUNCTION(UNKNOWN) + 8);
	scene.task[10] = 0x401000; /* no kernel code */
	run(FUNCTION(A), SP_OF(10));
	expect_end(1, UNWIND_NO_DATA, 0x401000);
	scene.task[10] = TRAMPOLINE;
	run(FUNCTION(A), SP_OF(10));
	expect_end(1, UNWIND_REPLACED, TRAMPOLINE);
	run(FUNCTION(A), STACK_END);
	expect_end(1, UNWIND_UNREADABLE, STACK_END);
	run(FUNCTION(A), STACK_END - 7); /* half a word */
	expect_end(1, UNWIND_UNREADABLE, STACK_END - 7);
	run(FUNCTION(A), UINT64_MAX - 3);
	expect_end(1, UNWIND_UNREADABLE, UINT64_MAX - 3);
	scene.stacks[0].bytes = 88; /* eleven words */
	scene.task[10] = FUNCTION(A) + 1;
	run(FUNCTION(A), SP_OF(10));
	expect_end(2, UNWIND_CUT, SP_OF(11));
	scene.stack_count = 0;
	run(FUNCTION(A), SP_OF(10));
	expect_end(1, UNWIND_UNREADABLE, SP_OF(10));
}

static void test_a_null_call(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	scene.task[10] = FUNCTION(THREAD) + 1;
	run(0, SP_OF(10));
	expect(0, 0, UNWIND_FRAME_INTERRUPT);
	expect_end(2, UNWIND_COMPLETE, 0);
}

/* BPF programs have no rows; they keep frame pointers. */
static void test_generated_code_is_guessed(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	scene.registers.bp = SP_OF(20);
	scene.task[20] = SP_OF(40);
	scene.task[21] = FUNCTION(A) + 1;
	scene.task[22] = FUNCTION(THREAD) + 1;
	run(CODE_END + 0x100, SP_OF(10));
	expect(0, CODE_END + 0x100, UNWIND_FRAME_INTERRUPT);
	assert_int_equal(scene.chain.count, 3);
	assert_int_equal(scene.frames[1].address, FUNCTION(A) + 1);
	assert_true(scene.frames[1].guessed);
	assert_true(scene.frames[2].guessed);
	assert_int_equal(scene.chain.end, UNWIND_COMPLETE);
	/* A BP below SP is invalid. */
	scene.registers.bp = SP_OF(9);
	run(CODE_END + 0x100, SP_OF(10));
	expect_end(1, UNWIND_NO_DATA, CODE_END + 0x100);
}

static void test_stacks_that_go_round(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	/* B's frame points to itself. */
	scene.registers.bp = SP_OF(20);
	scene.task[20] = SP_OF(20);
	scene.task[21] = FUNCTION(B) + 1;
	run(FUNCTION(B), SP_OF(10));
	expect_end(2, UNWIND_BAD, SP_OF(22));
	/* Two stacks that point to each other. */
	scene.task[10] = FUNCTION(IRQ_CALL) + 1;
	scene.task[11] = IRQ_STACK + 8 * 9;
	scene.irq[9] = FUNCTION(IRQ_CALL) + 1;
	scene.irq[10] = SP_OF(9);
	run(FUNCTION(A), SP_OF(10));
	expect_end(3, UNWIND_BAD, SP_OF(9));
}

static void test_more_frames_than_room(void **state)
{
	(void)state;
	begin(ORC_FORM_SIGNAL);
	for (size_t i = 10; i < 100; i++)
		scene.task[i] = FUNCTION(A) + 1;
	run(FUNCTION(A), SP_OF(10));
	expect_end(32, UNWIND_TOO_DEEP, 0);
	scene.chain.capacity = 1;
	run(FUNCTION(A), SP_OF(10));
	expect_end(1, UNWIND_TOO_DEEP, 0);
}

/* A kernel without rows that keeps frame pointers; its functions are at any address. */
static void begin_with_frame_pointers(void)
{
	begin(ORC_FORM_SIGNAL);
	unwind_table_destroy(scene.table);
	scene.table = unwind_table_create();
	unwind_table_expect_frame_pointers(scene.table);
	scene.registers.ip_is_return_address = true;
}

static void put_frame(size_t at, uint64_t bp, uint64_t return_address)
{
	scene.task[at] = bp;
	scene.task[at + 1] = return_address;
}

static void test_frame_pointers_to_a_system_call(void **state)
{
	/* old kernels leave them */
	static const uint64_t bps_of_users[] = { 0, 0x7ffff001, 0x1234 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		begin_with_frame_pointers();
		put_user_registers();
		scene.registers.bp = SP_OF(100);
		put_frame(100, SP_OF(USER_REGISTERS - 2), FUNCTION(B));
		put_frame(USER_REGISTERS - 2, bps_of_users[i], FUNCTION(ENTRY));
		run(FUNCTION(A), SP_OF(90));
		expect(0, FUNCTION(A), UNWIND_FRAME_CALL);
		expect(1, FUNCTION(B), UNWIND_FRAME_CALL);
		expect(2, FUNCTION(ENTRY), UNWIND_FRAME_CALL);
		expect_end(3, UNWIND_COMPLETE, 0);
	}
}

/* Meaningless registers are at the top of its stack; in kernels with FRED they are lower. */
static void test_frame_pointers_to_a_kernel_thread(void **state)
{
	(void)state;
	for (size_t padding = 0; padding <= 2; padding += 2) {
		begin_with_frame_pointers();
		scene.registers.bp = SP_OF(100);
		put_frame(100, SP_OF(USER_REGISTERS - padding) + 1, FUNCTION(THREAD));
		run(FUNCTION(A), SP_OF(90));
		expect(1, FUNCTION(THREAD), UNWIND_FRAME_CALL);
		expect_end(2, UNWIND_COMPLETE, 0);
	}
}

static void test_frame_pointers_through_an_interrupt(void **state)
{
	(void)state;
	begin_with_frame_pointers();
	scene.registers.bp = IRQ_STACK + 8 * 10;
	scene.irq[10] = SP_OF(200) + 1; /* struct pt_regs */
	scene.irq[11] = FUNCTION(INTERRUPT);
	put_iret(scene.task + 200 + 16, FUNCTION(A), KERNEL_CS, SP_OF(230));
	scene.task[200 + 4] = SP_OF(240);
	put_frame(240, SP_OF(USER_REGISTERS) + 1, FUNCTION(THREAD));
	run(FUNCTION(B), IRQ_STACK + 8 * 4);
	expect(1, FUNCTION(INTERRUPT), UNWIND_FRAME_CALL);
	expect(2, FUNCTION(A), UNWIND_FRAME_INTERRUPT);
	/* A may not have set up its frame yet. */
	assert_int_equal(scene.frames[3].address, FUNCTION(THREAD));
	assert_true(scene.frames[3].guessed);
	assert_int_equal(scene.chain.end, UNWIND_COMPLETE);
	put_iret(scene.task + 200 + 16, 0x401000, USER_CS, 0x7ffff000);
	run(FUNCTION(B), IRQ_STACK + 8 * 4);
	expect_end(2, UNWIND_COMPLETE, 0);
}

static void test_frame_pointers_that_lead_nowhere(void **state)
{
	static const uint64_t bad[] = { 0, SP_OF(90) - 8, SP_OF(100) + 4 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		begin_with_frame_pointers();
		scene.registers.bp = bad[i];
		run(FUNCTION(A), SP_OF(90));
		expect_end(1, UNWIND_NO_DATA, FUNCTION(A));
	}
	scene.registers.bp = SP_OF(100);
	put_frame(100, SP_OF(95), FUNCTION(B)); /* downwards */
	run(FUNCTION(A), SP_OF(90));
	expect_end(2, UNWIND_NO_DATA, FUNCTION(B));
	scene.registers.bp = SP_OF(100);
	put_frame(100, 0xffffc90000300001, FUNCTION(B)); /* unreadable registers */
	run(FUNCTION(A), SP_OF(90));
	expect_end(2, UNWIND_UNREADABLE, 0xffffc90000300000);
	put_frame(100, SP_OF(110), TRAMPOLINE - 1);
	put_frame(110, SP_OF(100), 0x401000); /* no kernel code */
	run(FUNCTION(A), SP_OF(90));
	expect_end(2, UNWIND_NO_DATA, 0x401000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_system_call),
		cmocka_unit_test(test_an_address_is_looked_up_by_its_kind),
		cmocka_unit_test(test_a_kernel_thread),
		cmocka_unit_test(test_an_interrupt),
		cmocka_unit_test(test_an_interrupt_by_an_old_kernels_hint),
		cmocka_unit_test(test_partial_registers),
		cmocka_unit_test(test_what_no_processor_pushes),
		cmocka_unit_test(test_registers_that_are_known_or_not),
		cmocka_unit_test(test_sp_that_is_not_known),
		cmocka_unit_test(test_bp_by_bp),
		cmocka_unit_test(test_registers_that_an_interrupt_gives),
		cmocka_unit_test(test_how_chains_end),
		cmocka_unit_test(test_a_null_call),
		cmocka_unit_test(test_generated_code_is_guessed),
		cmocka_unit_test(test_stacks_that_go_round),
		cmocka_unit_test(test_more_frames_than_room),
		cmocka_unit_test(test_frame_pointers_to_a_system_call),
		cmocka_unit_test(test_frame_pointers_to_a_kernel_thread),
		cmocka_unit_test(test_frame_pointers_through_an_interrupt),
		cmocka_unit_test(test_frame_pointers_that_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, end_scenes);
}
