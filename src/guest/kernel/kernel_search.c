/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every x86-64 Linux keeps a page table below 1 MiB for as long as it runs: CPUs that start or wake
 * up in real mode use it to enter long mode (trampoline_pgd, arch/x86/realmode/init.c). Its last
 * entry is that of the kernel's own page tables, and so maps the kernel image.
 *
 * The image tells it apart from everything else there: the image is contiguous in physical memory,
 * and the table that the last entry points to is part of it (level3_kernel_pgt, or
 * level4_kernel_pgt with 5 levels; arch/x86/kernel/head_64.S). So the tables must map that very
 * table at its place in the image.
 *
 * A kernel that ran earlier may have left its own table elsewhere. Nothing here tells which of the
 * two is running, so neither is used. Kernels that need no trampoline have no such table: Xen PV
 * guests, and confidential guests, whose memory cannot be read anyway.
 */
#include "guest/kernel/kernel_search.h"

#include <string.h>

#include "guest/kernel/kernel_image.h"
#include "guest/memory/space.h"

#define CR0_PG (1ULL << 31)
#define EFER_LMA (1ULL << 10)

#define LOW_BYTES (1ULL << 20)
#define BATCH_PAGES 64
#define MAX_CANDIDATES 16

#define LAST_ENTRY 511
#define ENTRY_PRESENT (1ULL << 0)
#define ENTRY_LARGE (1ULL << 7) /* not allowed in a top-level table */
#define ENTRY_ADDRESS 0x000ffffffffff000ULL
#define IMAGE_ALIGN (2ULL << 20)     /* MIN_KERNEL_ALIGN */
#define MAX_IMAGE_BYTES (1ULL << 30) /* KERNEL_IMAGE_SIZE */

struct search {
	struct guest_memory *memory;
	struct arch_mmu mmu; /* with the CR3 that was found, else 0 */
	struct gva start;    /* of the image that it maps */
	struct gpa start_gpa;
	unsigned int candidates;
	bool several;
};

bool guest_kernel_search_wanted(const struct arch_mmu *mmu)
{
	return mmu->arch == &arch_x86_64 && !mmu->x86.cr3 && mmu->x86.cr0 & CR0_PG &&
	       mmu->x86.efer & EFER_LMA;
}

/*
 * Whether SPACE maps an image that contains TABLE. It starts at *RET, and physically at *RET_GPA.
 */
static bool maps_image_with(struct guest_space *space, struct gpa table, struct gva *ret,
			    struct gpa *ret_gpa)
{
	struct gpa start_gpa, table_gpa;
	struct gva start;

	if (!guest_kernel_image_find_start(space, &start) ||
	    !guest_space_translate(space, start, &start_gpa) || start_gpa.value % IMAGE_ALIGN ||
	    table.value <= start_gpa.value || table.value - start_gpa.value >= MAX_IMAGE_BYTES ||
	    !guest_space_translate(space, GVA(start.value + (table.value - start_gpa.value)),
				   &table_gpa) ||
	    table_gpa.value != table.value)
		return false;
	*ret = start;
	*ret_gpa = start_gpa;
	return true;
}

static void try_page(struct search *search, struct gpa page)
{
	const uint8_t *bytes = guest_memory_page(search->memory, page);
	struct arch_mmu mmu = search->mmu;
	struct guest_space space;
	struct gpa start_gpa;
	struct gva start;
	uint64_t entry;

	/* The trampoline never uses page 0; as a CR3 it would mean "not known". */
	if (!bytes || !page.value || search->candidates == MAX_CANDIDATES)
		return;
	memcpy(&entry, bytes + LAST_ENTRY * sizeof(entry), sizeof(entry));
	if ((entry & (ENTRY_PRESENT | ENTRY_LARGE)) != ENTRY_PRESENT ||
	    !guest_memory_page(search->memory, GPA(entry & ENTRY_ADDRESS)))
		return;
	search->candidates++;
	mmu.x86.cr3 = page.value;
	guest_space_init(&space, search->memory, &mmu);
	if (!maps_image_with(&space, GPA(entry & ENTRY_ADDRESS), &start, &start_gpa))
		return;
	if (search->mmu.x86.cr3 &&
	    (start.value != search->start.value || start_gpa.value != search->start_gpa.value))
		search->several = true;
	search->mmu = mmu;
	search->start = start;
	search->start_gpa = start_gpa;
}

struct error *guest_kernel_search(struct guest_memory *memory, struct arch_mmu *mmu)
{
	struct search search = { .memory = memory, .mmu = *mmu };

	for (uint64_t at = 0; at < LOW_BYTES; at += BATCH_PAGES * GUEST_PAGE_BYTES) {
		struct gpa pages[BATCH_PAGES];

		for (size_t i = 0; i < BATCH_PAGES; i++)
			pages[i] = GPA(at + i * GUEST_PAGE_BYTES);
		guest_memory_prefetch(memory, pages, BATCH_PAGES);
		for (size_t i = 0; i < BATCH_PAGES; i++)
			try_page(&search, pages[i]);
	}
	if (search.several)
		return error_create(ERROR_NOT_FOUND,
				    "the guest's memory holds page tables of several Linux "
				    "kernels, and no vCPU shows which one is running");
	if (!search.mmu.x86.cr3)
		return error_create(ERROR_NOT_FOUND,
				    "no vCPU shows where its page tables are, and the guest's "
				    "memory below 1 MiB holds no page tables of a Linux kernel");
	*mmu = search.mmu;
	return NULL;
}
