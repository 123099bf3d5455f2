/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a guest's kernel is mapped, found from its page tables alone: the range of the kernel image
 * and its pages of read-only data. Everything else is found from there.
 */
#ifndef GUEST_KERNEL_KERNEL_IMAGE_H
#define GUEST_KERNEL_KERNEL_IMAGE_H

#include <stdbool.h>

#include "base/vector.h"
#include "guest/memory/space.h"

enum guest_region_kind {
	GUEST_REGION_TEXT,	/* executable */
	GUEST_REGION_READ_ONLY, /* not writable, not executable */
	GUEST_REGION_DATA,	/* writable */
};

struct guest_region {
	struct gva start, end; /* page-aligned; end is exclusive */
	enum guest_region_kind kind;
};

struct guest_kernel_image {
	struct gva start, end;
	VECTOR(struct guest_region) regions; /* ascending, no overlaps; at most 64 */
};

/*
 * Looks for the image in SPACE, whose tables must map the kernel (not the user half of PTI). False:
 * nothing is mapped where this ISA puts kernels. On success, release it with _deinit.
 */
bool guest_kernel_image_find(struct guest_space *space, struct guest_kernel_image *ret);
/* Finds only its start, which takes the fewest reads. */
bool guest_kernel_image_find_start(struct guest_space *space, struct gva *ret);
void guest_kernel_image_deinit(struct guest_kernel_image *image);

#endif
