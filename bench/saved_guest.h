/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest saved as files in a folder: memory (a sparse file, in which offsets are guest physical
 * addresses; zeros after its end), slots (a line for each: address and bytes, in hexadecimal) and
 * registers (a line for each vCPU: cr0 cr3 cr4 efer, in hexadecimal).
 */
#ifndef BENCH_SAVED_GUEST_H
#define BENCH_SAVED_GUEST_H

#include <stdio.h>

#include "base/error.h"
#include "base/vector.h"
#include "guest/memory/memory.h"

struct saved_guest {
	int fd; /* of its memory; -1: not loaded */
	VECTOR(struct guest_slot) slots;
	VECTOR(struct arch_mmu) vcpus;
};

/* Call saved_guest_deinit() even after an error. */
struct error *saved_guest_load(const char *folder, struct saved_guest *ret) MUST_CHECK;
void saved_guest_deinit(struct saved_guest *guest);
struct guest_memory_source saved_guest_source(struct saved_guest *guest); /* borrows it */

struct error *saved_guest_open_file(const char *folder, const char *name, int flags,
				    int *ret) MUST_CHECK;
struct error *saved_guest_open_text(const char *folder, const char *name, const char *mode,
				    FILE **ret) MUST_CHECK;

#define _cleanup_saved_guest_ _cleanup_(saved_guest_deinit)

#endif
