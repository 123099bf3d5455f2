/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the small guest as the fuzz target guest_image takes it: tests/fuzz/corpus/guest_image/small. */
#include "small_guest.h"

int main(int argc, char **argv)
{
	static struct small_guest guest;
	FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
	uint16_t cr3 = SMALL_GUEST_CR3 / GUEST_PAGE_BYTES;

	if (!file)
		return 1;
	small_guest_build(&guest);
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
