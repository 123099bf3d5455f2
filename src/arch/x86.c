/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86: page tables of long mode with 4 and 5 levels, and of 32-bit mode with and without PAE.
 *
 * Source: Intel SDM volume 3, chapter 4 (paging); AMD APM volume 2, chapter 5. CR3 may have a PCID
 * in its low 12 bits and LAM's control bits in 62:61. A PTI kernel (Documentation/arch/x86/pti.rst)
 * runs user code on the table with bit 12 set, which maps all of user space but little of the
 * kernel. Limits: protection keys and shadow stacks do not matter for reading. An encrypted guest's
 * C-bit is not known here; its memory could not be read anyway.
 */
#include <elf.h>
#include <string.h>

#include "arch/arch.h"

#define CR0_PG (1ULL << 31)
#define CR4_PSE (1ULL << 4)
#define CR4_PAE (1ULL << 5)
#define CR4_LA57 (1ULL << 12)
#define EFER_LMA (1ULL << 10)

#define PTE_PRESENT (1ULL << 0)
#define PTE_WRITE (1ULL << 1)
#define PTE_USER (1ULL << 2)
#define PTE_LARGE (1ULL << 7)
#define PTE_NO_EXECUTE (1ULL << 63)
#define PTE_ADDRESS 0x000ffffffffff000ULL

/* What the levels so far allow: all of them must allow an access. */
struct rights {
	bool user, write, execute;
};

static void narrow(struct rights *rights, uint64_t entry, bool has_nx)
{
	rights->user &= !!(entry & PTE_USER);
	rights->write &= !!(entry & PTE_WRITE);
	if (has_nx)
		rights->execute &= !(entry & PTE_NO_EXECUTE);
}

static enum arch_walk found(uint64_t frame, uint64_t page_bytes, struct gva address,
			    const struct rights *rights, struct arch_mapping *ret)
{
	uint64_t in_page = address.value & (page_bytes - 1);

	*ret = (struct arch_mapping){ .gpa = GPA((frame & ~(page_bytes - 1)) | in_page),
				      .page_bytes = page_bytes,
				      .user = rights->user,
				      .writable = rights->write,
				      .executable = rights->execute };
	return ARCH_WALK_OK;
}

/* Walks tables of 512 8-byte entries from LEVEL (5 to 2) down to 1, the last. */
static enum arch_walk walk_long(const struct arch_memory *memory, uint64_t table, int level,
				struct gva address, struct arch_mapping *ret)
{
	struct rights rights = { true, true, true };

	for (; level >= 1; level--) {
		int shift = 12 + 9 * (level - 1);
		uint64_t index = address.value >> shift & 511;
		uint64_t entry;

		if (!memory->read(memory->context, GPA(table + 8 * index), &entry, sizeof(entry)))
			return ARCH_WALK_UNREADABLE;
		if (!(entry & PTE_PRESENT))
			return ARCH_WALK_NOT_MAPPED;
		narrow(&rights, entry, true);
		if (level == 1 || (level <= 3 && entry & PTE_LARGE))
			return found(entry & PTE_ADDRESS, 1ULL << shift, address, &rights, ret);
		table = entry & PTE_ADDRESS;
	}
	return ARCH_WALK_NOT_MAPPED;
}

static bool is_canonical(uint64_t address, int bits)
{
	int unused = 64 - bits;

	return (uint64_t)((int64_t)(address << unused) >> unused) == address;
}

/* 32-bit mode without PAE: 4 MiB pages keep bits 39:32 of their frame in bits 20:13. */
static enum arch_walk walk_two_levels(const struct arch_mmu *mmu, const struct arch_memory *memory,
				      struct gva address, struct arch_mapping *ret)
{
	struct rights rights = { true, true, true };
	uint64_t table = mmu->x86.cr3 & 0xfffff000;
	uint32_t entry;

	if (!memory->read(memory->context, GPA(table + 4 * (address.value >> 22)), &entry,
			  sizeof(entry)))
		return ARCH_WALK_UNREADABLE;
	if (!(entry & PTE_PRESENT))
		return ARCH_WALK_NOT_MAPPED;
	narrow(&rights, entry, false);
	if (mmu->x86.cr4 & CR4_PSE && entry & PTE_LARGE)
		return found((entry & 0xffc00000) | (uint64_t)(entry >> 13 & 0xff) << 32, 1 << 22,
			     address, &rights, ret);
	table = entry & 0xfffff000;
	if (!memory->read(memory->context, GPA(table + 4 * (address.value >> 12 & 1023)), &entry,
			  sizeof(entry)))
		return ARCH_WALK_UNREADABLE;
	if (!(entry & PTE_PRESENT))
		return ARCH_WALK_NOT_MAPPED;
	narrow(&rights, entry, false);
	return found(entry & 0xfffff000, 1 << 12, address, &rights, ret);
}

/* PAE: four entries at CR3 (32-byte aligned, without permissions of their own), then two levels. */
static enum arch_walk walk_pae(const struct arch_mmu *mmu, const struct arch_memory *memory,
			       struct gva address, struct arch_mapping *ret)
{
	uint64_t table = mmu->x86.cr3 & 0xffffffe0;
	uint64_t entry;

	if (!memory->read(memory->context, GPA(table + 8 * (address.value >> 30)), &entry,
			  sizeof(entry)))
		return ARCH_WALK_UNREADABLE;
	if (!(entry & PTE_PRESENT))
		return ARCH_WALK_NOT_MAPPED;
	return walk_long(memory, entry & PTE_ADDRESS, 2, address, ret);
}

static enum arch_walk walk_i386(const struct arch_mmu *mmu, const struct arch_memory *memory,
				struct gva address, struct arch_mapping *ret)
{
	struct rights all = { true, true, true };

	if (address.value > UINT32_MAX)
		return ARCH_WALK_BAD_ADDRESS;
	if (!(mmu->x86.cr0 & CR0_PG))
		return found(address.value, 1 << 12, address, &all, ret);
	if (mmu->x86.cr4 & CR4_PAE)
		return walk_pae(mmu, memory, address, ret);
	return walk_two_levels(mmu, memory, address, ret);
}

/* A 64-bit CPU may run a 32-bit kernel: the registers give the current mode. */
static enum arch_walk walk_x86_64(const struct arch_mmu *mmu, const struct arch_memory *memory,
				  struct gva address, struct arch_mapping *ret)
{
	int levels = mmu->x86.cr4 & CR4_LA57 ? 5 : 4;

	if (!(mmu->x86.efer & EFER_LMA))
		return walk_i386(mmu, memory, address, ret);
	if (!is_canonical(address.value, 12 + 9 * levels))
		return ARCH_WALK_BAD_ADDRESS;
	return walk_long(memory, mmu->x86.cr3 & PTE_ADDRESS, levels, address, ret);
}

static bool is_kernel_x86_64(struct gva address)
{
	return address.value >> 63;
}

/* CONFIG_VMSPLIT can change this; distributions give user space 3 GiB. */
static bool is_kernel_i386(struct gva address)
{
	return address.value >= 0xc0000000;
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.walk = walk_x86_64,
	.is_kernel_address = is_kernel_x86_64,
};

const struct arch arch_i386 = {
	.name = "i686",
	.elf_machine = EM_386,
	.walk = walk_i386,
	.is_kernel_address = is_kernel_i386,
};
