/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by kernel.c and kernel_kept.c. */
#ifndef GUEST_KERNEL_KERNEL_PRIVATE_H
#define GUEST_KERNEL_KERNEL_PRIVATE_H

#include "base/arena.h"
#include "base/vector.h"
#include "guest/kernel/kallsyms.h"
#include "guest/kernel/kernel.h"

#define GUEST_KERNEL_NAMES_MAX_BYTES ((size_t)64 << 20)
#define GUEST_KERNEL_BTF_MAX_BYTES (32ULL << 20)
#define GUEST_KERNEL_BUILD_ID_MAX 20

/* Bytes of the image that distinguish this kernel from others and do not change while it runs. */
struct guest_witness {
	struct gva start;
	uint64_t bytes;
};

struct guest_name_key {
	uint32_t hash;	 /* of a symbol's name */
	uint32_t symbol; /* its number; may be out of range in recalled data */
};

#define GUEST_WITNESS_MAX_BYTES 4096
#define GUEST_KERNEL_WITNESSES 3

struct guest_kernel {
	struct guest_space *space;
	struct guest_kernel_image image;
	VECTOR(struct guest_block) blocks; /* read-only data; owned */
	struct arena *names;
	VECTOR(struct guest_symbol) symbols;
	const struct guest_name_key *by_name; /* as many as symbols, ascending */
	struct guest_name_key *by_name_copy;  /* NULL if they are borrowed */
	const uint8_t *btf_bytes;
	uint64_t btf_size;
	uint8_t *btf_copy; /* NULL if it is borrowed */
	struct guest_btf *btf;
	uint8_t build_id[GUEST_KERNEL_BUILD_ID_MAX];
	size_t build_id_bytes;
	struct guest_witness witnesses[GUEST_KERNEL_WITNESSES];
	size_t witness_count;
};

#endif
