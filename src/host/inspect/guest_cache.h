/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found of guests, kept between runs: finding a guest's kernel and symbols costs a tenth
 * of a second, using what was found before a fifth of that. A cache only: every failure is a miss,
 * and whatever is there may go.
 *
 * An entry is of one VM, which is one file of one process of one boot of this host, so that no
 * guest has a part in what is said of another. That it still holds, the guest's memory has to say
 * (guest_recall.h).
 */
#ifndef HOST_INSPECT_GUEST_CACHE_H
#define HOST_INSPECT_GUEST_CACHE_H

#include <stdbool.h>

#include "base/file.h"

enum guest_cache_part {
	GUEST_CACHE_KERNEL,  /* an answer to GUEST_ASK_KEEP (guest/wire.h) */
	GUEST_CACHE_SYMBOLS, /* an encoded symbol table */
	GUEST_CACHE_UNWIND,  /* an encoded table of unwind data */
	GUEST_CACHE_PARTS
};

/* Whose entries. */
struct guest_cache_vm {
	const char *folder; /* borrowed; NULL: there is no cache for it */
	uint32_t pid, fd;
	uint64_t start_ticks, pid_namespace;
	char host_boot[40];
};

/* FOLDER is made if its parent is there, and used if none but this process's user can change it. */
void guest_cache_vm_init(struct guest_cache_vm *vm, const char *folder, uint32_t pid, uint32_t fd);

struct guest_cache_entry {
	struct mapped_file file;
	uint64_t key; /* the caller's */
	const uint8_t *data;
	size_t size;
};

/* False: there is none; RET is then empty, and may be released all the same. */
bool guest_cache_load(const struct guest_cache_vm *vm, enum guest_cache_part part,
		      struct guest_cache_entry *ret);
void guest_cache_entry_deinit(struct guest_cache_entry *entry);
/*
 * Replaces that part of the VM's. Entries of VMs that are gone go, and the oldest of too many
 * bytes.
 */
void guest_cache_store(const struct guest_cache_vm *vm, enum guest_cache_part part, uint64_t key,
		       const void *data, size_t size);

#define _cleanup_guest_cache_entry_ _cleanup_(guest_cache_entry_deinit)

#endif
