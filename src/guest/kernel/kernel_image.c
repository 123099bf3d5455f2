/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the kernel image in the page tables, by looking at mapped pages where the ISA links
 * kernels.
 *
 * x86-64 links the kernel at 0xffffffff80000000 and moves it (KASLR) by multiples of 2 MiB within 1
 * GiB; modules come after that (arch/x86/include/asm/page_64_types.h, KERNEL_IMAGE_SIZE). Unused
 * parts of the range are unmapped early in boot (cleanup_highmap), so the first mapped page is
 * _text. Text is executable, .rodata is neither executable nor writable (CONFIG_STRICT_KERNEL_RWX),
 * the rest is writable. Limits: there are no rows for other ISAs yet.
 */
#include "guest/kernel/kernel_image.h"

#include <elf.h>

#define MAX_REGIONS 64
#define MAX_STEPS (1u << 18) /* 4 KiB steps in 1 GiB */
#define MAX_GAP (64ULL << 20)

struct kernel_range {
	uint16_t elf_machine;
	uint64_t start, end, step;
};

static const struct kernel_range kernel_ranges[] = {
	{ EM_X86_64, 0xffffffff80000000, 0xffffffffc0000000, 2 << 20 },
};

static enum guest_region_kind kind_of(const struct arch_mapping *mapping)
{
	if (mapping->writable)
		return GUEST_REGION_DATA;
	return mapping->executable ? GUEST_REGION_TEXT : GUEST_REGION_READ_ONLY;
}

static bool add_page(struct guest_kernel_image *image, uint64_t start, uint64_t end,
		     enum guest_region_kind kind)
{
	struct guest_region *last =
		image->regions.count ? &image->regions.items[image->regions.count - 1] : NULL;

	if (last && last->kind == kind && last->end.value == start) {
		last->end = GVA(end);
		return true;
	}
	if (image->regions.count == MAX_REGIONS)
		return false;
	vector_append(&image->regions, (struct guest_region){ GVA(start), GVA(end), kind });
	return true;
}

static const struct kernel_range *find_range(const struct arch *arch)
{
	for (size_t i = 0; i < sizeof(kernel_ranges) / sizeof(*kernel_ranges); i++)
		if (kernel_ranges[i].elf_machine == arch->elf_machine)
			return &kernel_ranges[i];
	return NULL;
}

/* To find the start, only its alignment matters. */
bool guest_kernel_image_find_start(struct guest_space *space, struct gva *ret)
{
	struct arch_memory memory = guest_memory_for_walks(space->memory);
	const struct kernel_range *range = find_range(space->mmu.arch);
	struct arch_mapping mapping;

	for (uint64_t at = range ? range->start : 0; range && at < range->end; at += range->step) {
		if (arch_walk(&space->mmu, &memory, GVA(at), &mapping) != ARCH_WALK_OK)
			continue;
		*ret = GVA(at);
		return true;
	}
	return false;
}

/* Walks page by page from START until a gap marks the end of the image. */
static void collect(struct guest_space *space, struct gva start, struct guest_kernel_image *image)
{
	struct arch_memory memory = guest_memory_for_walks(space->memory);
	const struct kernel_range *range = find_range(space->mmu.arch);
	uint64_t at = start.value, last_mapped = at;

	for (unsigned int step = 0; step < MAX_STEPS && at < range->end; step++) {
		struct arch_mapping mapping;
		uint64_t next;

		if (at - last_mapped > MAX_GAP)
			return;
		if (arch_walk(&space->mmu, &memory, GVA(at), &mapping) != ARCH_WALK_OK) {
			at += GUEST_PAGE_BYTES;
			continue;
		}
		next = (at & ~(mapping.page_bytes - 1)) + mapping.page_bytes;
		if (next > range->end || next < at)
			next = range->end;
		if (!add_page(image, at, next, kind_of(&mapping)))
			return;
		last_mapped = at = next;
	}
}

bool guest_kernel_image_find(struct guest_space *space, struct guest_kernel_image *ret)
{
	struct guest_kernel_image image = { 0 };
	struct gva start;

	if (guest_kernel_image_find_start(space, &start))
		collect(space, start, &image);
	if (!image.regions.count)
		return false;
	image.start = image.regions.items[0].start;
	image.end = image.regions.items[image.regions.count - 1].end;
	*ret = image;
	return true;
}

void guest_kernel_image_deinit(struct guest_kernel_image *image)
{
	vector_deinit(&image->regions);
}
