/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest kernel's own name for an address: the name, offset and size used in its backtraces. */
#ifndef GUEST_KERNEL_NAME_H
#define GUEST_KERNEL_NAME_H

#include "guest/kernel/kernel.h"
#include "guest/kernel/module.h"

struct guest_name {
	const char *function;   /* valid as long as the object it was found in */
	const char *module;     /* NULL: the kernel itself */
	uint64_t offset, bytes; /* of the address in the function, and of the function */
};

/* MODULES may be NULL. False: the kernel has no name for it, and would print the number. */
bool guest_name_find(const struct guest_kernel *kernel, const struct guest_modules *modules,
		     struct gva address, struct guest_name *ret);

#endif
