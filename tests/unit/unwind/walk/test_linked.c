/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains of linked frames: of compiled programs, and of hand-written kernel stacks as entry code
 * leaves them (struct pt_regs of arch/arm64 and arch/powerpc, asm/ptrace.h).
 */
#include "test.h"

#include <string.h>

#include "unwind/linked_frames.h"
#include "unwind/walk/linked.h"

#define STACK 0xffff800010000000ULL
#define OTHER_STACK 0xffff800020000000ULL
#define WORDS 512
#define CODE 0xffff800008000000ULL /* + its number */
#define PPC_STACK 0xc000000010000000ULL
#define PPC_CODE 0xc000000000100000ULL
#define MARK 0x7265677368657265ULL
#define MSR_PR 0x4000

static uint64_t words[WORDS], other[WORDS];
static struct unwind_stack stacks[2];
static struct unwind_frame frames[16];
static struct unwind_chain chain;
static const struct arch *arch;
static struct unwind_table *trampolines;

static int begin_at(const struct arch *of, uint64_t start, uint64_t other_start)
{
	memset(words, 0, sizeof(words));
	memset(other, 0, sizeof(other));
	arch = of;
	stacks[0] = (struct unwind_stack){ GVA(start), sizeof(words), (uint8_t *)words,
					   GVA(start + sizeof(words)) };
	stacks[1] = (struct unwind_stack){ GVA(other_start), sizeof(other), (uint8_t *)other,
					   GVA(other_start + sizeof(other)) };
	chain = (struct unwind_chain){ .frames = frames, .capacity = 16 };
	trampolines = NULL;
	return 0;
}

static int begin_arm64(void **state)
{
	(void)state;
	return begin_at(&arch_arm64, STACK, OTHER_STACK);
}

static int begin_ppc64(void **state)
{
	(void)state;
	return begin_at(&arch_ppc64, PPC_STACK, PPC_STACK + 0x100000);
}

static void run(uint64_t ip, uint64_t frame, bool sleeps)
{
	const struct unwind_registers registers = { .ip = ip,
						    .bp = frame,
						    .ip_is_return_address = sleeps };

	unwind_run_linked(arch, trampolines, &registers, stacks, 2, &chain);
}

/* Expects ADDRESSES, up to a 0; those from index CERTAIN on are guesses. */
static void expect(enum unwind_end end, size_t certain, const uint64_t *addresses)
{
	size_t count = 0;

	for (; addresses[count]; count++) {
		assert_true(count < chain.count);
		assert_int_equal(frames[count].address, addresses[count]);
		assert_int_equal(frames[count].guessed, count >= certain);
	}
	assert_int_equal(chain.count, count);
	assert_int_equal(chain.end, end);
}
#define CHAIN(...) (const uint64_t[]){ __VA_ARGS__, 0 }

static void record(size_t at, uint64_t caller, uint64_t code)
{
	words[at] = caller;
	words[at + 1] = code;
}
#define AT(word) (STACK + 8 * (uint64_t)(word))
#define PPC_AT(word) (PPC_STACK + 8 * (uint64_t)(word))

static void check_program(const struct arch *of, uint64_t frame, const uint64_t *stack,
			  size_t stack_words, const uint64_t *callers, size_t count)
{
	begin_at(of, frame, OTHER_STACK);
	stacks[0].data = (const uint8_t *)stack;
	stacks[0].bytes = 8 * stack_words;
	run(0x400000, frame, true);
	assert_true(chain.count > count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(frames[1 + i].address, callers[i]);
		assert_int_equal(frames[1 + i].kind, UNWIND_FRAME_CALL);
		assert_false(frames[1 + i].guessed);
	}
	/* main()'s caller is missing */
	assert_true(chain.end == UNWIND_CUT || chain.end == UNWIND_UNREADABLE);
}

static void programs_of_compilers(void **state)
{
	(void)state;
#define CHECK(arch_, prefix, NAME)                                                                 \
	check_program(arch_, NAME##_FRAME, prefix##_stack, sizeof(prefix##_stack) / 8,             \
		      prefix##_callers, sizeof(prefix##_callers) / 8)
	CHECK(&arch_arm64, arm64, arm64);
	CHECK(&arch_ppc64, ppc64, ppc64);
}

/* struct pt_regs, 320 bytes at the stack's end; its record is at 296. */
#define ARM_REGS (WORDS - 40)
#define ARM_RECORD (ARM_REGS + 37)

static void arm64_sleeping_thread(void **state)
{
	(void)state;
	record(10, AT(20), CODE + 1);
	words[12] = 2; /* a variable */
	record(20, AT(ARM_RECORD), CODE + 2);
	words[ARM_RECORD + 2] = 1; /* FRAME_META_TYPE_FINAL; before 6.13 it is 0 */
	run(CODE, AT(10), true);
	expect(UNWIND_COMPLETE, 16, CHAIN(CODE, CODE + 1, CODE + 2));
	words[ARM_RECORD + 2] = 0;
	run(CODE, AT(10), true);
	expect(UNWIND_COMPLETE, 16, CHAIN(CODE, CODE + 1, CODE + 2));
	/* Elsewhere, an empty record is not the kernel's. */
	record(20, AT(100), CODE + 2);
	run(CODE, AT(10), true);
	expect(UNWIND_BAD, 16, CHAIN(CODE, CODE + 1, CODE + 2));
}

static void arm64_signed_return_addresses(void **state)
{
	(void)state;
	record(10, AT(ARM_RECORD), (CODE + 1) ^ 0x5a3f000000000000ULL);
	run(CODE, AT(10), true);
	expect(UNWIND_COMPLETE, 16, CHAIN(CODE, CODE + 1));
}

/* From the IRQ stack to the interrupted function, whose callers are guesses. */
static void arm64_interrupt(void **state)
{
	const uint64_t regs = 50, saved = regs + 37;

	(void)state;
	other[10] = AT(40); /* a handler on its own stack, called by entry code on the task's */
	other[11] = CODE + 1;
	record(40, AT(saved), CODE + 2);
	record(saved, 0, 0);
	words[saved + 2] = 2;	       /* FRAME_META_TYPE_PT_REGS */
	words[regs + 32] = CODE + 3;   /* pc */
	words[regs + 29] = AT(120);    /* x29 */
	words[regs + 33] = 0x60400005; /* pstate: EL1h */
	record(120, AT(ARM_RECORD), CODE + 4);
	run(CODE, OTHER_STACK + 80, false);
	expect(UNWIND_COMPLETE, 1, CHAIN(CODE, CODE + 1, CODE + 2, CODE + 3, CODE + 4));
	run(CODE, OTHER_STACK + 80, true);
	expect(UNWIND_COMPLETE, 4, CHAIN(CODE, CODE + 1, CODE + 2, CODE + 3, CODE + 4));
	assert_int_equal(frames[3].kind, UNWIND_FRAME_INTERRUPT);
	assert_int_equal(frames[4].kind, UNWIND_FRAME_CALL);
}

static void chains_that_lead_nowhere(void **state)
{
	(void)state;
	record(10, AT(20), CODE + 1);
	record(20, AT(10), CODE + 2); /* backwards */
	run(CODE, AT(10), true);
	expect(UNWIND_BAD, 16, CHAIN(CODE, CODE + 1));
	record(20, AT(20), CODE + 2); /* to itself */
	run(CODE, AT(10), true);
	expect(UNWIND_BAD, 16, CHAIN(CODE, CODE + 1));
	record(20, AT(30) + 4, CODE + 2); /* to half a word */
	memcpy((uint8_t *)words + 30 * 8 + 4, (const uint64_t[]){ AT(60), CODE + 3 }, 16);
	run(CODE, AT(10), true);
	expect(UNWIND_BAD, 16, CHAIN(CODE, CODE + 1, CODE + 2));
	record(20, 0x1000, CODE + 2);
	run(CODE, AT(10), true);
	expect(UNWIND_UNREADABLE, 16, CHAIN(CODE, CODE + 1, CODE + 2));
	record(20, OTHER_STACK, CODE + 2); /* there and back */
	other[0] = AT(30);
	other[1] = CODE + 3;
	record(30, OTHER_STACK + 64, CODE + 4);
	run(CODE, AT(10), true);
	expect(UNWIND_BAD, 16, CHAIN(CODE, CODE + 1, CODE + 2, CODE + 3));
	/* not kernel code: the upper bits could be a signature */
	record(20, AT(30), 0x400000 | 1ULL << 60);
	record(30, AT(ARM_RECORD), CODE + 3);
	run(CODE, AT(10), true);
	assert_int_equal(chain.count, 4);
	for (size_t i = 0; i + 3 < WORDS; i += 2)
		record(i, AT(i + 2), CODE + i);
	run(CODE, AT(0), true);
	assert_int_equal(chain.end, UNWIND_TOO_DEEP);
	assert_int_equal(chain.count, 16);
	run(CODE, UINT64_MAX - 7, true);
	expect(UNWIND_UNREADABLE, 16, CHAIN(CODE));
}

/* The caller of the outermost function with a frame pointer has a return address, but no frame. */
static void programs_end_without_a_frame(void **state)
{
	(void)state;
	begin_at(&arch_arm64, 0x7ffff0000, OTHER_STACK);
	record(10, 0x7ffff0000 + 160, 0x400001);
	record(20, 0, 0x400002);
	run(0x400000, 0x7ffff0000 + 80, true);
	expect(UNWIND_COMPLETE, 16, CHAIN(0x400000, 0x400001, 0x400002));
	begin_arm64(state);
	record(10, 0, CODE + 1); /* otherwise the end of a kernel's stack */
	run(CODE, AT(10), true);
	expect(UNWIND_BAD, 16, CHAIN(CODE, CODE + 1));
}

static void trampolines_end_chains(void **state)
{
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();

	(void)state;
	unwind_table_add_trampoline(table, GVA(CODE + 2));
	trampolines = table;
	record(10, AT(20), CODE + 1);
	record(20, AT(30), CODE + 2);
	run(CODE, AT(10), true);
	expect(UNWIND_REPLACED, 16, CHAIN(CODE, CODE + 1));
}

/*
 * Its words: r1 and nip of struct pt_regs, REGS words after the frame at AT, with the mark at
 * MARK_AT.
 */
static void put_interrupt(size_t at, size_t mark_at, size_t regs, uint64_t r1, uint64_t nip,
			  uint64_t msr)
{
	words[at] = r1;
	words[at + mark_at] = MARK;
	words[at + regs + 1] = r1;
	words[at + regs + 32] = nip;
	words[at + regs + 33] = msr;
}

static void ppc64_interrupts(void **state)
{
	static const struct {
		size_t mark_at, regs;
	} layouts[] = { { 4, 6 }, { 12, 14 } }; /* current kernels, and older ones */

	for (size_t i = 0; i < 2; i++) {
		begin_ppc64(state);
		words[10] = PPC_AT(20); /* a handler */
		words[20 + 2] = PPC_CODE + 1;
		put_interrupt(20, layouts[i].mark_at, layouts[i].regs, PPC_AT(100), PPC_CODE + 2,
			      0x9033);
		words[100] = PPC_AT(120);
		words[120] = PPC_AT(200);
		words[120 + 2] = PPC_CODE + 3;
		words[200 + 2] = PPC_CODE + 4;
		put_interrupt(200, layouts[i].mark_at, layouts[i].regs, 0x7ffff000, 0x10000000,
			      MSR_PR | 0x9033);
		run(PPC_CODE, PPC_AT(10), true);
		expect(UNWIND_COMPLETE, 3,
		       CHAIN(PPC_CODE, PPC_CODE + 1, PPC_CODE + 2, PPC_CODE + 3, PPC_CODE + 4));
		/* Remains of an earlier interrupt in a frame do not count. */
		words[20 + layouts[i].regs + 1] = PPC_AT(150);
		words[100 + 2] = PPC_CODE + 5;
		run(PPC_CODE, PPC_AT(10), true);
		expect(UNWIND_COMPLETE, 16,
		       CHAIN(PPC_CODE, PPC_CODE + 1, PPC_CODE + 5, PPC_CODE + 3, PPC_CODE + 4));
	}
}

static void ppc64_kernel_thread(void **state)
{
	(void)state;
	words[10] = PPC_AT(20);
	words[20] = PPC_AT(WORDS - 50);
	words[20 + 2] = PPC_CODE + 1;
	words[WORDS - 50 + 2] = PPC_CODE + 2;
	run(PPC_CODE, PPC_AT(10), true);
	expect(UNWIND_COMPLETE, 16, CHAIN(PPC_CODE, PPC_CODE + 1, PPC_CODE + 2));
	words[20] = PPC_AT(40); /* a 0 in the middle of the stack */
	words[40 + 2] = PPC_CODE + 2;
	run(PPC_CODE, PPC_AT(10), true);
	expect(UNWIND_BAD, 16, CHAIN(PPC_CODE, PPC_CODE + 1, PPC_CODE + 2));
	words[20 + 2] = 0x10000000;
	run(PPC_CODE, PPC_AT(10), true);
	expect(UNWIND_NO_DATA, 16, CHAIN(PPC_CODE));
	run(PPC_CODE, PPC_AT(11), true); /* not aligned */
	expect(UNWIND_BAD, 16, CHAIN(PPC_CODE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_compilers),
		cmocka_unit_test_setup(arm64_sleeping_thread, begin_arm64),
		cmocka_unit_test_setup(arm64_signed_return_addresses, begin_arm64),
		cmocka_unit_test_setup(arm64_interrupt, begin_arm64),
		cmocka_unit_test_setup(chains_that_lead_nowhere, begin_arm64),
		cmocka_unit_test(programs_end_without_a_frame),
		cmocka_unit_test_setup(trampolines_end_chains, begin_arm64),
		cmocka_unit_test(ppc64_interrupts),
		cmocka_unit_test_setup(ppc64_kernel_thread, begin_ppc64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
