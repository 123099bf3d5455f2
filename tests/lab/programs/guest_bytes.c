/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_bytes VM (FILE START END)…: the guest's kernel memory between two addresses, as it is now,
 * to FILE; zeros where nothing is. What check_chains.py looks for calls in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "guest/memory/space.h"
#include "host/vm/vm_memory.h"

#define MAX_BYTES ((uint64_t)1 << 30)

static void die(const char *what, const struct error *error)
{
	fprintf(stderr, "guest_bytes: %s: %s\n", what, error ? error_message(error) : "");
	exit(1);
}

static void open_space(const char *name, struct host_vm_memory *memory, struct guest_space *ret)
{
	struct guest_memory_source source = host_vm_memory_source(memory);
	VECTOR(struct guest_slot) slots = { 0 };
	struct vm_memory_finder *finder;
	const struct host_vm *vm;
	struct host_vms vms;
	struct error *error = host_vms_find(&vms);

	if (!error)
		error = host_vms_select(&vms, name, &vm);
	finder = vm_memory_finder_create();
	if (!error)
		error = vm_memory_find(finder, vm, memory);
	if (error || !memory->registers.count)
		die("no guest", error);
	for (size_t i = 0; i < memory->slots.count; i++)
		vector_append(&slots, (struct guest_slot){ memory->slots.items[i].start,
							   memory->slots.items[i].bytes });
	guest_space_init(ret, guest_memory_create(&source, slots.items, slots.count, MAX_BYTES),
			 &memory->registers.items[0].mmu);
}

static void save(struct guest_space *space, const char *path, uint64_t start, uint64_t end)
{
	FILE *file = fopen(path, "we");

	if (!file)
		die(path, NULL);
	for (uint64_t at = start; at < end; at += GUEST_PAGE_BYTES) {
		uint8_t page[GUEST_PAGE_BYTES];

		if (!guest_space_read(space, GVA(at), page, sizeof(page)))
			memset(page, 0, sizeof(page));
		fwrite(page, sizeof(page), 1, file);
	}
	if (ferror(file) | fclose(file))
		die(path, NULL);
}

int main(int argc, char **argv)
{
	struct host_vm_memory memory = { 0 };
	struct guest_space space;

	if (argc < 5 || (argc - 2) % 3)
		die("VM (FILE START END)...", NULL);
	open_space(argv[1], &memory, &space);
	for (char **range = argv + 2; *range; range += 3)
		save(&space, range[0], strtoull(range[1], NULL, 16), strtoull(range[2], NULL, 16));
	return 0;
}
