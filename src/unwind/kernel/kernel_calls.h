/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of a guest's kernel and modules, read from its memory. */
#ifndef UNWIND_KERNEL_KERNEL_CALLS_H
#define UNWIND_KERNEL_KERNEL_CALLS_H

#include "base/error.h"
#include "guest/kernel/kernel.h"
#include "guest/kernel/module.h"
#include "unwind/table/calls.h"

/*
 * Appends the encoded calls to OUT. ERROR_UNSUPPORTED: the kernel is not built for IBT, has not
 * finished booting and may still change its code, or does not show which of it runs on other
 * stacks.
 */
struct error *unwind_calls_read(const struct guest_kernel *kernel,
				const struct guest_modules *modules, struct buffer *out) MUST_CHECK;

#endif
