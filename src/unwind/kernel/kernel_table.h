/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind data of a guest's kernel and modules, read from its memory. */
#ifndef UNWIND_KERNEL_KERNEL_TABLE_H
#define UNWIND_KERNEL_KERNEL_TABLE_H

#include "base/error.h"
#include "guest/kernel/kernel.h"
#include "guest/kernel/module.h"
#include "unwind/table/table.h"

/*
 * MODULES may be NULL. A module whose data cannot be read is left out: chains end at its frames.
 * For a kernel that keeps frame pointers instead, the table expects those. ERROR_UNSUPPORTED: the
 * kernel has neither; the message says so.
 */
struct error *unwind_table_read(const struct guest_kernel *kernel,
				const struct guest_modules *modules,
				struct unwind_table **ret) MUST_CHECK;

#endif
