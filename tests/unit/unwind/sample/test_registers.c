/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of samples, numbered as in arch/{x86,arm64,powerpc}/include/uapi/asm/perf_regs.h: each
 * holds 1000 + its number.
 */
#include "test.h"

#include <linux/perf_event.h>
#include <string.h>

#include "unwind/sample/registers.h"

#define X86_MASK 0xff0fffULL /* what `perf record --call-graph dwarf` asks for */

/* As the kernel writes them; the number of words is the number of bits in MASK. */
static size_t put_words(uint64_t mask, bool swap, uint64_t *ret)
{
	size_t count = 0;

	for (int i = 0; i < 64; i++)
		if (mask >> i & 1)
			ret[count++] = swap ? __builtin_bswap64(1000 + i) : 1000u + i;
	return count;
}

static bool read_words(const struct arch *arch, uint64_t abi, uint64_t mask, bool swap,
		       struct sample_registers *ret)
{
	uint8_t bytes[64 * 8 + 1];
	uint64_t words[64];
	struct sample_registers_source source = {
		.words = bytes + 1, .mask = mask, .abi = abi, .swap = swap
	};

	memcpy(bytes + 1, words, put_words(mask, swap, words) * 8);
	return sample_registers_read(arch, &source, ret);
}

static void reads_x86(void **state)
{
	/* AX CX DX BX SP BP SI DI R8 … R15 as perf numbers them */
	static const int wanted[] = { 0, 2, 3, 1, 7, 6, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23 };

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct sample_registers registers;

		assert_true(read_words(&arch_x86_64, PERF_SAMPLE_REGS_ABI_64, X86_MASK, swap,
				       &registers));
		assert_true(registers.complete);
		assert_int_equal(registers.walk.ip, 1008);
		assert_int_equal(registers.walk.sp, 1007);
		assert_int_equal(registers.walk.bp, 1006);
		assert_ptr_equal(registers.walk.others, registers.general);
		for (int i = 0; i < 16; i++)
			assert_int_equal(registers.general[i], 1000 + wanted[i]);
	}
}

static void reads_32_bit_programs(void **state)
{
	struct sample_registers registers;

	(void)state;
	assert_true(read_words(&arch_i386, PERF_SAMPLE_REGS_ABI_32, 0xfff, false, &registers));
	assert_true(registers.complete);
	assert_int_equal(registers.general[UNWIND_DI], 1005);
	assert_ptr_equal(registers.walk.others, registers.general);
}

static void reads_machines_with_a_link_register(void **state)
{
	struct sample_registers registers;

	(void)state;
	assert_true(read_words(&arch_arm64, PERF_SAMPLE_REGS_ABI_64, (1ULL << 33) - 1, false,
			       &registers));
	assert_true(registers.complete);
	assert_int_equal(registers.walk.ip, 1032);
	assert_int_equal(registers.walk.sp, 1031);
	assert_int_equal(registers.link, 1030);
	assert_int_equal(registers.walk.bp, 1029);
	/* A program of 32-bit ARM has its registers elsewhere. */
	assert_true(read_words(&arch_arm64, PERF_SAMPLE_REGS_ABI_32, (1ULL << 33) - 1, false,
			       &registers));
	assert_false(registers.complete);
	assert_true(read_words(&arch_ppc64, PERF_SAMPLE_REGS_ABI_64, (1ULL << 44) - 1, false,
			       &registers));
	assert_true(registers.complete);
	assert_int_equal(registers.walk.ip, 1032);
	assert_int_equal(registers.walk.sp, 1001);
	assert_int_equal(registers.walk.bp, 1031);
	assert_int_equal(registers.link, 1036);
}

static void reads_what_is_there(void **state)
{
	struct sample_registers registers;

	(void)state;
	/* perf record --user-regs=ip,sp */
	assert_true(read_words(&arch_x86_64, PERF_SAMPLE_REGS_ABI_64, 1 << 8 | 1 << 7, false,
			       &registers));
	assert_false(registers.complete);
	assert_int_equal(registers.walk.ip, 1008);
	assert_null(registers.walk.others);
	assert_false(read_words(&arch_x86_64, PERF_SAMPLE_REGS_ABI_64, 1 << 7, false, &registers));
	assert_false(read_words(&arch_arm64, PERF_SAMPLE_REGS_ABI_64, 0, false, &registers));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_x86),
		cmocka_unit_test(reads_32_bit_programs),
		cmocka_unit_test(reads_machines_with_a_link_register),
		cmocka_unit_test(reads_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
