/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's maple tree: its pointers, in order. */
#ifndef GUEST_PROCESS_MAPLE_H
#define GUEST_PROCESS_MAPLE_H

#include <stdbool.h>

#include "base/vector.h"
#include "guest/kernel/kernel.h"

struct guest_maple_layout {
	struct guest_btf_field root; /* in struct maple_tree */
	struct guest_btf_field range_pivot, range_slot, arange_pivot, arange_slot;
};

/* Sizes stay 0 if the kernel has no maple tree (before 6.1). */
struct error *guest_maple_layout(const struct guest_kernel *kernel,
				 struct guest_maple_layout *ret) MUST_CHECK;

struct guest_pointers {
	VECTOR(struct gva) items;
};

/*
 * Adds the entries of the tree at TREE (a struct maple_tree), at most MAX of them, in ascending
 * order of their index. False: it could not be read to its end; what was read has been added.
 */
bool guest_maple_read(const struct guest_kernel *kernel, const struct guest_maple_layout *layout,
		      struct gva tree, size_t max, struct guest_pointers *entries);

#endif
