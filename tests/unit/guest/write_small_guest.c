/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the small guest in the format of the fuzz target guest_image, and the kept data of its
 * kernel, for guest_kept: write_small_guest tests/fuzz/corpus/guest_image/small
 * tests/fuzz/corpus/guest_kept/small
 */
#include "guest/kernel/kernel.h"
#include "guest/small_guest.h"

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	const struct small_guest *guest = context;

	for (size_t i = 0; i < count; i++)
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, guest->memory + from[i].value,
		       GUEST_PAGE_BYTES);
	return true;
}

static bool keep(struct small_guest *guest, struct buffer *ret)
{
	static const struct guest_slot slot = { { 0 }, SMALL_GUEST_BYTES };
	const struct arch_mmu mmu = { .arch = &arch_x86_64,
				      .x86 = { .cr3 = SMALL_GUEST_CR3, .efer = 1 << 10 } };
	struct guest_memory_source source = { read_pages, guest };
	_cleanup_guest_memory_ struct guest_memory *memory =
		guest_memory_create(&source, &slot, 1, 1 << 24);
	_cleanup_guest_kernel_ struct guest_kernel *kernel = NULL;
	struct guest_space space;

	guest_space_init(&space, memory, &mmu);
	error_destroy(guest_kernel_open(&space, &kernel));
	return kernel && guest_kernel_keep(kernel, ret);
}

static bool write_kept(struct small_guest *guest, const char *path)
{
	_cleanup_buffer_ struct buffer kept;
	FILE *file = fopen(path, "wb");

	buffer_init(&kept, 1 << 24);
	return file && keep(guest, &kept) &&
	       fwrite(kept.data, 1, kept.size, file) == kept.size && !fclose(file);
}

int main(int argc, char **argv)
{
	static struct small_guest guest;
	FILE *file = argc == 3 ? fopen(argv[1], "wb") : NULL;
	uint16_t cr3 = SMALL_GUEST_CR3 / GUEST_PAGE_BYTES;

	if (!file)
		return 1;
	small_guest_build(&guest);
	if (!write_kept(&guest, argv[2]))
		return 1;
	fputc(0, file);
	fwrite(&cr3, sizeof(cr3), 1, file);
	for (uint16_t page = 0; page < SMALL_GUEST_BYTES / GUEST_PAGE_BYTES; page++) {
		const uint8_t *bytes = guest.memory + page * GUEST_PAGE_BYTES;
		uint16_t used = GUEST_PAGE_BYTES;

		while (used && !bytes[used - 1])
			used--;
		if (!used)
			continue;
		fwrite(&page, sizeof(page), 1, file);
		fwrite(&used, sizeof(used), 1, file);
		fwrite(bytes, used, 1, file);
	}
	return fclose(file) != 0;
}
