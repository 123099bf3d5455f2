/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source lines of an ELF file's addresses: every sixteenth of its first 64 KiB. */
#include "fuzz.h"
#include "lines/dwarf_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_lines *lines = dwarf_lines_open_memory(data, size);
	struct dwarf_frames frames;

	for (uint64_t address = 0; lines && address < 65536; address += 16)
		dwarf_lines_find(lines, address, &frames);
	dwarf_lines_close(lines);
	return 0;
}
