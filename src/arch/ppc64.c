/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ppc64: the radix MMU (POWER9 and later) of a guest, and the kernel's linear map.
 *
 * Source: Power ISA 3.0B, book III, 5.7.6 (process table) and 5.7.10 (radix tree); Linux
 * arch/powerpc/include/asm/book3s/64/radix.h, mmu.h. Tables are big-endian. The first doubleword of
 * a PID's process table entry describes the root of its tree: RTS1 (bits 1:2), RPDB (bits 4:55),
 * RTS2 (56:58), RPDS (59:63), counted from the most significant bit. The upper two bits of an
 * address are its quadrant: 0 is the process, 3 the kernel (PID 0). A kernel address from 0xc000…
 * to 0xc007… is the guest physical address with the top nibble added: radix or hash, the linear map
 * needs no table. vmalloc space starts at 0xc008… (radix.h, hash.h). Limits: user addresses of
 * hash-MMU guests cannot be translated (the hypervisor has their tables).
 */
#include <elf.h>

#include "arch/arch.h"

#define ENTRY_VALID (1ULL << 63)
#define ENTRY_LEAF (1ULL << 62)
#define ENTRY_NEXT 0x0fffffffffffff00ULL
#define ENTRY_FRAME 0x01fffffffffff000ULL
#define ENTRY_NEXT_BITS 0x1fULL
#define ENTRY_PRIVILEGED (1ULL << 3)
#define ENTRY_WRITE (1ULL << 1)
#define ENTRY_EXECUTE (1ULL << 0)

#define LINEAR_MAP_SHIFT 51
#define LINEAR_MAP (0xc000000000000000ULL >> LINEAR_MAP_SHIFT)
#define MAX_LEVELS 5

static bool read_entry(const struct arch_memory *memory, uint64_t from, uint64_t *ret)
{
	uint64_t entry;

	if (!memory->read(memory->context, GPA(from), &entry, sizeof(entry)))
		return false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	entry = __builtin_bswap64(entry);
#endif
	*ret = entry;
	return true;
}

static enum arch_walk found(uint64_t entry, int shift, struct gva address, struct arch_mapping *ret)
{
	uint64_t mask = (1ULL << shift) - 1;

	*ret = (struct arch_mapping){
		.gpa = GPA((entry & ENTRY_FRAME & ~mask) | (address.value & mask)),
		.page_bytes = 1ULL << shift,
		.user = !(entry & ENTRY_PRIVILEGED),
		.writable = entry & ENTRY_WRITE,
		.executable = entry & ENTRY_EXECUTE,
	};
	return ARCH_WALK_OK;
}

static enum arch_walk walk_radix(const struct arch_mmu *mmu, const struct arch_memory *memory,
				 struct gva address, struct arch_mapping *ret)
{
	uint32_t pid = address.value >> 62 == 3 ? 0 : mmu->ppc64.pid;
	uint64_t root, table;
	int left, index_bits;

	if (!read_entry(memory, (mmu->ppc64.process_table & 0x0ffffffffffff000ULL) + 16ULL * pid,
			&root))
		return ARCH_WALK_UNREADABLE;
	/* The tree covers RTS + 31 bits, not counting the quadrant. */
	left = (int)((root >> 61 & 3) << 3 | (root >> 5 & 7)) + 31;
	index_bits = root & ENTRY_NEXT_BITS;
	table = root & ENTRY_NEXT;
	if ((address.value & 0x3fffffffffffffffULL) >> left)
		return ARCH_WALK_BAD_ADDRESS;
	for (int level = 0; level < MAX_LEVELS; level++) {
		uint64_t entry, index;

		if (index_bits < 1 || index_bits > left - 12)
			return ARCH_WALK_UNSUPPORTED;
		left -= index_bits;
		index = address.value >> left & ((1ULL << index_bits) - 1);
		if (!read_entry(memory, table + 8 * index, &entry))
			return ARCH_WALK_UNREADABLE;
		if (!(entry & ENTRY_VALID))
			return ARCH_WALK_NOT_MAPPED;
		if (entry & ENTRY_LEAF)
			return found(entry, left, address, ret);
		index_bits = entry & ENTRY_NEXT_BITS;
		table = entry & ENTRY_NEXT;
	}
	return ARCH_WALK_NOT_MAPPED;
}

static enum arch_walk walk_ppc64(const struct arch_mmu *mmu, const struct arch_memory *memory,
				 struct gva address, struct arch_mapping *ret)
{
	if (address.value >> LINEAR_MAP_SHIFT == LINEAR_MAP) {
		*ret = (struct arch_mapping){ .gpa = GPA(address.value & 0x0fffffffffffffffULL),
					      .page_bytes = 1 << 16,
					      .writable = true,
					      .executable = true };
		return ARCH_WALK_OK;
	}
	if (address.value >> 62 != 0 && address.value >> 62 != 3)
		return ARCH_WALK_BAD_ADDRESS;
	if (!mmu->ppc64.radix)
		return ARCH_WALK_UNSUPPORTED;
	return walk_radix(mmu, memory, address, ret);
}

static bool is_kernel_ppc64(struct gva address)
{
	return address.value >> 62 == 3;
}

#define REGISTERS_MARK 0x7265677368657265ULL /* STACK_FRAME_REGS_MARKER, "regshere" */
#define MSR_PR (1ULL << 14)
#define GPR1_AT 8 /* in struct pt_regs */
#define NIP_AT 256
#define MSR_AT 264

/*
 * The back chain (64-bit ELF V2 ABI, 2.2.3): r1 points to the caller's r1, and a function saves its
 * return address in its caller's frame, at 16. Entry code marks a frame that has a struct pt_regs:
 * the mark is at 32 and the registers at 48 (arch/powerpc/include/asm/ptrace.h,
 * STACK_INT_FRAME_MARKER); kernels that still have STACK_FRAME_OVERHEAD use 96 and 112. The stacks
 * of kernel threads end with a back chain of 0 (copy_thread()).
 */
static const struct arch_frames ppc64_frames = {
	.alignment = 16,
	.caller_at = 0,
	.return_at = 16,
	.return_in_caller = true,
	.outermost_bytes = 512,
	.entries = { { .mark = REGISTERS_MARK,
		       .mark_at = 32,
		       .ip_at = 48 + NIP_AT,
		       .frame_at = 48 + GPR1_AT,
		       .mode_at = 48 + MSR_AT,
		       .mode_user = MSR_PR },
		     { .mark = REGISTERS_MARK,
		       .mark_at = 96,
		       .ip_at = 112 + NIP_AT,
		       .frame_at = 112 + GPR1_AT,
		       .mode_at = 112 + MSR_AT,
		       .mode_user = MSR_PR } },
};

const struct arch arch_ppc64 = {
	.name = "ppc64le",
	.elf_machine = EM_PPC64,
	.walk = walk_ppc64,
	.is_kernel_address = is_kernel_ppc64,
	.frames = &ppc64_frames,
};
