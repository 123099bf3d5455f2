/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64: stage 1 translation of EL1&0 with 4, 16 and 64 KiB granules, 36 to 52 bits.
 *
 * Source: Arm ARM (DDI 0487), chapter D8, "The AArch64 Virtual Memory System Architecture"; TCR_EL1
 * in D19. 52-bit physical addresses come in two encodings: with 64 KiB granules, bits 51:48 are in
 * descriptor bits 15:12 (FEAT_LPA); with 4 and 16 KiB and TCR_EL1.DS, bits 51:50 are in bits 9:8
 * (FEAT_LPA2). TTBR bits 63:48 are the ASID. Limits: the results are guest physical addresses;
 * stage 2 is up to the hypervisor. TCR.HA/HD, hierarchical permissions (TCR.HPD) and FEAT_S1PIE are
 * ignored: permissions are those of the last descriptor.
 */
#include <elf.h>

#include "arch/arch.h"

#define DESCRIPTOR_VALID (1ULL << 0)
#define DESCRIPTOR_TABLE (1ULL << 1) /* at the last level: a page */
#define DESCRIPTOR_USER (1ULL << 6)
#define DESCRIPTOR_READ_ONLY (1ULL << 7)
#define DESCRIPTOR_PXN (1ULL << 53)
#define DESCRIPTOR_UXN (1ULL << 54)

/* One of the two halves of the address space, as TCR_EL1 describes it. */
struct half {
	uint64_t table;
	int granule_shift; /* 12, 14, 16 */
	int address_bits;
};

/* TG1 and TG0 encode the granules differently. */
static int granule_shift(const struct arch_mmu *mmu, bool upper)
{
	static const int tg0[] = { 12, 16, 14, 0 };
	static const int tg1[] = { 0, 14, 12, 16 };

	return upper ? tg1[mmu->arm64.tcr >> 30 & 3] : tg0[mmu->arm64.tcr >> 14 & 3];
}

static bool is_upper(struct gva address)
{
	return address.value >> 55 & 1;
}

static enum arch_walk choose_half(const struct arch_mmu *mmu, struct gva address, struct half *ret)
{
	bool upper = is_upper(address);
	uint64_t tcr = mmu->arm64.tcr;
	uint64_t ttbr = upper ? mmu->arm64.ttbr1 : mmu->arm64.ttbr0;
	int bits = 64 - (int)(upper ? tcr >> 16 & 63 : tcr & 63);
	bool ignore_top_byte = tcr >> (upper ? 38 : 37) & 1;
	int shift = granule_shift(mmu, upper);
	uint64_t table = ttbr & 0xfffffffffffeULL;
	uint64_t above;

	if (!shift || bits > 52 || bits < 25)
		return ARCH_WALK_UNSUPPORTED;
	above = (uint64_t)((int64_t)(address.value << (ignore_top_byte ? 8 : 0)) >>
			   (bits + (ignore_top_byte ? 8 : 0)));
	if (above != (upper ? UINT64_MAX : 0))
		return ARCH_WALK_BAD_ADDRESS;
	/* 52-bit tables: TTBR bits 5:2 are bits 51:48 of the table, which is 64-byte aligned. */
	if (shift == 16 || mmu->arm64.lpa2)
		table = (table & ~0x3fULL) | (ttbr >> 2 & 15) << 48;
	*ret = (struct half){ table, shift, bits };
	return ARCH_WALK_OK;
}

static uint64_t output_address(const struct arch_mmu *mmu, const struct half *half,
			       uint64_t descriptor)
{
	uint64_t page_mask = ~((1ULL << half->granule_shift) - 1);

	if (half->granule_shift == 16)
		return (descriptor & 0xffffffffffffULL & page_mask) | (descriptor >> 12 & 15) << 48;
	if (mmu->arm64.lpa2)
		return (descriptor & 0x3ffffffffffffULL & page_mask) | (descriptor >> 8 & 3) << 50;
	return descriptor & 0xffffffffffffULL & page_mask;
}

static enum arch_walk found(uint64_t frame, int shift, uint64_t descriptor, struct gva address,
			    struct arch_mapping *ret)
{
	uint64_t mask = (1ULL << shift) - 1;
	bool user = descriptor & DESCRIPTOR_USER;

	*ret = (struct arch_mapping){
		.gpa = GPA((frame & ~mask) | (address.value & mask)),
		.page_bytes = 1ULL << shift,
		.user = user,
		.writable = !(descriptor & DESCRIPTOR_READ_ONLY),
		.executable = !(descriptor & (user ? DESCRIPTOR_UXN : DESCRIPTOR_PXN)),
	};
	return ARCH_WALK_OK;
}

static enum arch_walk walk_arm64(const struct arch_mmu *mmu, const struct arch_memory *memory,
				 struct gva address, struct arch_mapping *ret)
{
	struct half half;
	enum arch_walk status = choose_half(mmu, address, &half);
	int bits_per_level, level, top;

	if (status != ARCH_WALK_OK)
		return status;
	bits_per_level = half.granule_shift - 3;
	/*
	 * Levels count up from 0, the last one. The bits left over above full tables index the top
	 * level.
	 */
	top = (half.address_bits - half.granule_shift - 1) / bits_per_level;
	for (level = top; level >= 0; level--) {
		int shift = half.granule_shift + level * bits_per_level;
		int index_bits = level == top ? half.address_bits - shift : bits_per_level;
		uint64_t index = address.value >> shift & ((1ULL << index_bits) - 1);
		uint64_t descriptor;

		if (!memory->read(memory->context, GPA(half.table + 8 * index), &descriptor,
				  sizeof(descriptor)))
			return ARCH_WALK_UNREADABLE;
		if (!(descriptor & DESCRIPTOR_VALID) ||
		    (level == 0 && !(descriptor & DESCRIPTOR_TABLE)))
			return ARCH_WALK_NOT_MAPPED;
		if (level == 0 || !(descriptor & DESCRIPTOR_TABLE))
			return found(output_address(mmu, &half, descriptor), shift, descriptor,
				     address, ret);
		half.table = output_address(mmu, &half, descriptor);
	}
	return ARCH_WALK_NOT_MAPPED;
}

/*
 * The frame record of the procedure call standard (AAPCS64, 6.4.6): x29 points to the caller's x29
 * and the return address. struct pt_regs has one, too, between the frames of the entry code and
 * those of the interrupted code (arch/arm64/include/asm/ptrace.h; kernel_entry in
 * arch/arm64/kernel/entry.S). Since Linux 6.13 (commit c2c6b27) that record is empty, and the word
 * after it shows that the registers count (FRAME_META_TYPE_PT_REGS, asm/stacktrace/frame.h): pc,
 * x29 and pstate are at 256, 232 and 264 of pt_regs, the record is at 296. Before 6.13, it is an
 * ordinary record whose return address is the interrupted instruction, which is taken for a caller.
 * For an entry from user mode, and for kernel threads, it is empty in all kernels: it is the
 * outermost record.
 */
static const struct arch_frames arm64_frames = {
	.alignment = 8,
	.caller_at = 0,
	.return_at = 8,
	/* pointer authentication uses them (ptrauth_kernel_pac_mask()) */
	.code_bits = 0xffff000000000000ULL,
	.outermost_bytes = 64,
	.entries = { { .mark = 2,
		       .mark_at = 16,
		       .empty = true,
		       .ip_at = 256 - 296,
		       .frame_at = 232 - 296,
		       .mode_at = 264 - 296 } },
};

const struct arch arch_arm64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.walk = walk_arm64,
	.is_kernel_address = is_upper,
	.frames = &arm64_frames,
};
