/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this process has allocated, as its allocator counts it: glibc's, or that of ASan. */
#ifndef TEST_ALLOCATED_H
#define TEST_ALLOCATED_H

#include <malloc.h>
#include <stddef.h>

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static inline size_t allocated_bytes(void)
{
	struct mallinfo2 info;

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

#endif
