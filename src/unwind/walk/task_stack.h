/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel stacks of a guest's threads that are not running, read from its memory. */
#ifndef UNWIND_WALK_TASK_STACK_H
#define UNWIND_WALK_TASK_STACK_H

#include "base/error.h"
#include "guest/kernel/kernel.h"
#include "unwind/walk/unwind.h"

enum unwind_task_kind {
	UNWIND_TASK_ASLEEP,   /* or waiting for a CPU: it has a stack to unwind */
	UNWIND_TASK_RUNNING,  /* on a CPU: its registers are not in memory */
	UNWIND_TASK_RESTLESS, /* it ran again at every attempt */
	UNWIND_TASK_DEAD,     /* its stack is gone, or there is no task */
	UNWIND_TASK_KINDS,
};

struct unwind_task {
	enum unwind_task_kind kind;
	char state; /* as in /proc/PID/stat: R, S, D, T, t, X, Z, P, I */
	/*
	 * If it is asleep; the stack's data belongs to the reader and is valid until its next use.
	 */
	struct unwind_registers registers;
	struct unwind_stack stack;
};

struct unwind_task_reader;

/* KERNEL is borrowed. ERROR_UNSUPPORTED: no types, or a field is missing. */
struct error *unwind_task_reader_create(const struct guest_kernel *kernel,
					struct unwind_task_reader **ret) MUST_CHECK;
void unwind_task_reader_destroy(struct unwind_task_reader *reader); /* takes NULL */

/*
 * Reads the current state of the task whose task_struct is AT: some 20 pages, and again if it ran
 * in the meantime. Drops all cached guest memory.
 */
void unwind_task_read(struct unwind_task_reader *reader, struct gva at, struct unwind_task *ret);

DEFINE_CLEANUP(cleanup_unwind_task_reader, struct unwind_task_reader *, unwind_task_reader_destroy)
#define _cleanup_unwind_task_reader_ _cleanup_(cleanup_unwind_task_reader)

#endif
