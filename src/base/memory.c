/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation that never returns NULL; memory.h explains why. */
#include "base/memory.h"

#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static _Noreturn void out_of_memory(void)
{
	static const char message[] = "perfvisor: out of memory\n";

	/* Nothing that allocates may be called here. */
	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		_exit(1);
	_exit(1);
}

static void *checked(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

#define HUGE_PAGE_BYTES ((size_t)2 * 1024 * 1024)
#define HEAP_STEP_BYTES (128 << 20) /* of address space */

void memory_keep_freed(void)
{
	uintptr_t start = (uintptr_t)sbrk(0);

	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the largest value that glibc accepts */
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, HEAP_STEP_BYTES);
	free(memory_alloc(HUGE_PAGE_BYTES)); /* forces the first step */
	start = (start + HUGE_PAGE_BYTES - 1) & -HUGE_PAGE_BYTES;
	if (start < (uintptr_t)sbrk(0))
		madvise((void *)start, (uintptr_t)sbrk(0) - start, MADV_HUGEPAGE);
}

void *memory_alloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *memory_calloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *memory_calloc_table(size_t count, size_t size)
{
	size_t bytes;
	void *table;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes < HUGE_PAGE_BYTES ||
	    posix_memalign(&table, HUGE_PAGE_BYTES, bytes))
		return memory_calloc(count, size);
	madvise(table, bytes, MADV_HUGEPAGE);
	memset(table, 0, bytes);
	return table;
}

void *memory_resize(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory();
	return checked(realloc(old, bytes ? bytes : 1));
}

void *memory_dup(const void *data, size_t size)
{
	void *copy = memory_alloc(size);

	if (size)
		memcpy(copy, data, size);
	return copy;
}

char *memory_strdup(const char *text)
{
	return checked(strdup(text));
}

char *memory_strndup(const char *text, size_t length)
{
	return checked(strndup(text, length));
}

char *memory_vprintf(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		out_of_memory();
	return text;
}

char *memory_printf(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = memory_vprintf(format, arguments);
	va_end(arguments);
	return text;
}
