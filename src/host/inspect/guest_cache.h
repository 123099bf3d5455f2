/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps what was found of guests between runs. Finding a guest's kernel and symbols takes a tenth
 * of a second; using what was found before takes a fifth of that. This is only a cache: every
 * failure is a miss, and entries may disappear at any time.
 *
 * An entry belongs to one VM, which is one file of one process during one boot of this host, so no
 * guest can influence what is said about another. Whether an entry is still valid is checked
 * against guest memory (guest_recall.h).
 */
#ifndef HOST_INSPECT_GUEST_CACHE_H
#define HOST_INSPECT_GUEST_CACHE_H

#include <stdbool.h>

#include "base/files/file.h"

enum guest_cache_part {
	GUEST_CACHE_KERNEL,  /* an answer to GUEST_ASK_KEEP (guest/wire.h) */
	GUEST_CACHE_SYMBOLS, /* an encoded symbol table */
	GUEST_CACHE_UNWIND,  /* an encoded table of unwind data */
	GUEST_CACHE_PARTS
};

/* The VM that entries belong to. */
struct guest_cache_vm {
	const char *folder; /* borrowed; NULL: no cache for this VM */
	uint32_t pid, fd;
	uint64_t start_ticks, pid_namespace;
	char host_boot[40];
};

/*
 * FOLDER is created if its parent exists, and used if nobody but this process's user can change it.
 */
void guest_cache_vm_init(struct guest_cache_vm *vm, const char *folder, uint32_t pid, uint32_t fd);

struct guest_cache_entry {
	struct mapped_file file;
	uint64_t key; /* the caller's */
	const uint8_t *data;
	size_t size;
};

/* False: no entry; RET is then empty, and may still be released. */
bool guest_cache_load(const struct guest_cache_vm *vm, enum guest_cache_part part,
		      struct guest_cache_entry *ret);
void guest_cache_entry_deinit(struct guest_cache_entry *entry);
/*
 * Replaces that part of the VM's entry. Removes entries of VMs that are gone, and the oldest
 * entries if there are too many bytes.
 */
void guest_cache_store(const struct guest_cache_vm *vm, enum guest_cache_part part, uint64_t key,
		       const void *data, size_t size);

#define _cleanup_guest_cache_entry_ _cleanup_(guest_cache_entry_deinit)

#endif
