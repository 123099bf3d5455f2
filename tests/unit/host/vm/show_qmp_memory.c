/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests/cli/check_qmp.py: prints what QEMU process PID reports about its guest's memory, and 16
 * bytes of it.
 *
 *	show_qmp_memory PID [GPA…]
 *
 * Lines "slot START BYTES HVA", "vcpu NUMBER CR0 CR3 CR4 EFER", "bytes GPA HEX", all in
 * hexadecimal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/vm/vm_memory_qmp.h"

static void show(const struct host_vm_memory *memory)
{
	for (size_t i = 0; i < memory->slots.count; i++)
		printf("slot %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
		       memory->slots.items[i].start.value, memory->slots.items[i].bytes,
		       memory->slots.items[i].hva);
	for (size_t i = 0; i < memory->registers.count; i++) {
		const struct host_vm_registers *registers = &memory->registers.items[i];

		printf("vcpu %" PRIx32 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
		       registers->vcpu, registers->mmu.x86.cr0, registers->mmu.x86.cr3,
		       registers->mmu.x86.cr4, registers->mmu.x86.efer);
	}
}

static void show_bytes(struct host_vm_memory *memory, uint64_t gpa)
{
	struct guest_memory_source source = host_vm_memory_source(memory);
	struct gpa page = GPA(gpa - gpa % GUEST_PAGE_BYTES);
	uint8_t bytes[GUEST_PAGE_BYTES + 16] = { 0 };

	printf("bytes %" PRIx64 " ", gpa);
	if (!source.read_pages(source.context, &page, 1, bytes)) {
		puts("unreadable");
		return;
	}
	for (int i = 0; i < 16; i++)
		printf("%02x", bytes[gpa % GUEST_PAGE_BYTES + i]);
	puts("");
}

int main(int argc, char **argv)
{
	struct host_vm_memory memory;
	struct error *error = argc < 2 ? error_create(ERROR_USAGE, "no PID")
				       : vm_memory_qmp_find(strtoul(argv[1], NULL, 10), &memory);

	if (error) {
		fprintf(stderr, "error %d: %s\n", error_code(error), error_message(error));
		error_destroy(error);
		return 1;
	}
	memory.reader = memory_reader_create(0);
	show(&memory);
	for (int i = 2; i < argc; i++)
		show_bytes(&memory, strtoull(argv[i], NULL, 16));
	host_vm_memory_deinit(&memory);
	return 0;
}
