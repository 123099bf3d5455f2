/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sample has the registers whose bits are set in the mask, in ascending order. Source:
 * arch/{x86,arm64,powerpc}/include/uapi/asm/perf_regs.h of Linux.
 *
 * Limits: no 32-bit ARM program on arm64.
 */
#include "unwind/sample/registers.h"

#include <elf.h>
#include <linux/perf_event.h>
#include <string.h>

enum { X86_BP = 6, X86_SP = 7, X86_IP = 8, X86_R8 = 16 };
enum { ARM64_X29 = 29, ARM64_LR = 30, ARM64_SP = 31, ARM64_PC = 32 };
enum { PPC64_R1 = 1, PPC64_R31 = 31, PPC64_NIP = 32, PPC64_LINK = 36 };

static bool take(const struct sample_registers_source *source, unsigned int number, uint64_t *ret)
{
	uint64_t bit = 1ULL << number, word;
	size_t before = __builtin_popcountll(source->mask & (bit - 1));

	if (!(source->mask & bit))
		return false;
	memcpy(&word, (const uint8_t *)source->words + before * sizeof(word), sizeof(word));
	*ret = source->swap ? __builtin_bswap64(word) : word;
	return true;
}

static bool read_x86(const struct sample_registers_source *source, struct sample_registers *ret)
{
	/* of AX to DI, numbered as instructions number them */
	static const uint8_t low[] = { 0, 2, 3, 1, X86_SP, X86_BP, 4, 5 };
	unsigned int count = source->abi == PERF_SAMPLE_REGS_ABI_32 ? 8 : UNWIND_GENERAL_REGISTERS;
	bool all = true;

	for (unsigned int i = 0; i < count; i++)
		all &= take(source, i < 8 ? low[i] : X86_R8 + i - 8, &ret->general[i]);
	ret->walk.others = all ? ret->general : NULL;
	ret->complete = take(source, X86_SP, &ret->walk.sp) && take(source, X86_BP, &ret->walk.bp);
	return take(source, X86_IP, &ret->walk.ip);
}

static bool read_arm64(const struct sample_registers_source *source, struct sample_registers *ret)
{
	ret->complete = source->abi == PERF_SAMPLE_REGS_ABI_64 &&
			take(source, ARM64_SP, &ret->walk.sp) &&
			take(source, ARM64_X29, &ret->walk.bp) &&
			take(source, ARM64_LR, &ret->link);
	return take(source, ARM64_PC, &ret->walk.ip);
}

static bool read_ppc64(const struct sample_registers_source *source, struct sample_registers *ret)
{
	ret->complete = take(source, PPC64_R1, &ret->walk.sp) &&
			take(source, PPC64_R31, &ret->walk.bp) &&
			take(source, PPC64_LINK, &ret->link);
	return take(source, PPC64_NIP, &ret->walk.ip);
}

bool sample_registers_read(const struct arch *arch, const struct sample_registers_source *source,
			   struct sample_registers *ret)
{
	memset(ret, 0, sizeof(*ret));
	switch (arch->elf_machine) {
	case EM_X86_64:
	case EM_386:
		return read_x86(source, ret);
	case EM_AARCH64:
		return read_arm64(source, ret);
	case EM_PPC64:
		return read_ppc64(source, ret);
	}
	return false;
}
