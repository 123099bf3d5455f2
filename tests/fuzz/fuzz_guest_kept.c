/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kept data of a kernel, as read from a damaged file: from the small guest, so that it is not
 * recognised at once as another kernel's. If it can be opened, it can be searched, and is kept
 * again.
 */
#include <assert.h>
#include <string.h>

#include "../unit/guest/small_guest.h"
#include "base/memory.h"
#include "fuzz.h"
#include "guest/kernel/kernel.h"

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	const struct small_guest *guest = context;

	for (size_t i = 0; i < count; i++)
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, guest->memory + from[i].value,
		       GUEST_PAGE_BYTES);
	return true;
}

static void use(const struct guest_kernel *kernel)
{
	const struct guest_symbol *symbols = guest_kernel_symbols(kernel);
	_cleanup_buffer_ struct buffer kept;
	struct guest_btf_field field;
	struct gva address;

	buffer_init(&kept, 1 << 28);
	for (size_t i = 0; i < guest_kernel_symbol_count(kernel); i++)
		guest_kernel_find_symbol(kernel, symbols[i].name, &address);
	if (guest_kernel_btf(kernel))
		guest_btf_find_field(guest_kernel_btf(kernel), "task_struct", "pid", &field);
	assert(guest_kernel_identity(kernel));
	guest_kernel_keep(kernel, &kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct guest_slot slot = { { 0 }, SMALL_GUEST_BYTES };
	static struct small_guest guest;
	const struct arch_mmu mmu = { .arch = &arch_x86_64,
				      .x86 = { .cr3 = SMALL_GUEST_CR3, .efer = 1 << 10 } };
	_cleanup_guest_memory_ struct guest_memory *memory = NULL;
	_cleanup_guest_kernel_ struct guest_kernel *kernel = NULL;
	_cleanup_free_ uint8_t *kept = memory_dup(data, size); /* aligned, like a message */
	struct guest_space space;

	if (!guest.btf_at)
		small_guest_build(&guest);
	memory = guest_memory_create(&(struct guest_memory_source){ read_pages, &guest }, &slot, 1,
				     1 << 24);
	guest_space_init(&space, memory, &mmu);
	error_destroy(guest_kernel_recall(&space, kept, size, &kernel));
	if (kernel)
		use(kernel);
	return 0;
}
