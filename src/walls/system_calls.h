/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which system calls a process may make: a seccomp filter, made with libseccomp. */
#ifndef WALLS_SYSTEM_CALLS_H
#define WALLS_SYSTEM_CALLS_H

#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/error.h"

/* A system call that is admitted if all its TESTS of arguments are true; without tests, always. */
struct system_call {
	int number; /* SCMP_SYS(…) */
	unsigned int tests; /* how many */
	struct scmp_arg_cmp test[2];
};

/* Argument INDEX, of 32 bits, is VALUE; is NULL; has, of the bits in MASK, exactly BITS. */
#define ARGUMENT_IS(index, value) { index, SCMP_CMP_MASKED_EQ, UINT32_MAX, (uint32_t)(value) }
#define ARGUMENT_IS_NULL(index) { index, SCMP_CMP_EQ, 0, 0 }
#define ARGUMENT_HAS(index, mask, bits) { index, SCMP_CMP_MASKED_EQ, mask, bits }

/* Memory whose contents cannot be run: for processes that load no more code. */
#define SYSTEM_CALLS_OF_MEMORY                                                                     \
	{ SCMP_SYS(mmap), 1, { ARGUMENT_HAS(2, PROT_EXEC, 0) } },                                  \
	{ SCMP_SYS(mprotect), 1, { ARGUMENT_HAS(2, PROT_EXEC, 0) } },                              \
	{ SCMP_SYS(munmap) }, { SCMP_SYS(mremap) }, { SCMP_SYS(madvise) }, { SCMP_SYS(brk) }

/* The rules that are being collected; the first failure stays. */
struct system_calls {
	scmp_filter_ctx filter;
	int failure; /* negative errno; 0: none */
};

/* OTHERWISE, a SCMP_ACT_…, is what happens at a system call that is not admitted. */
void system_calls_init(struct system_calls *calls, uint32_t otherwise);
/* ACTION, a SCMP_ACT_…, is what happens at these. */
void system_calls_add(struct system_calls *calls, uint32_t action, const struct system_call *added,
		      size_t count);
/*
 * From now on, this thread and those that it starts may only make these system calls. Frees the
 * rules. Requires PR_SET_NO_NEW_PRIVS.
 */
struct error *system_calls_restrict(struct system_calls *calls) MUST_CHECK;

/* Whether the kernel has such filters. */
bool system_calls_can_restrict(void);
/*
 * Admits what reading files takes, with threads; WRITES: files are made and renamed, too; TERMINAL:
 * the modes of terminals are changed.
 */
struct error *system_calls_restrict_reader(bool writes, bool terminal) MUST_CHECK;

#endif
