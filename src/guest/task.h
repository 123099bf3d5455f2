/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads and processes of a guest, from init_task on.
 */
#ifndef GUEST_TASK_H
#define GUEST_TASK_H

#include <stdbool.h>

#include "base/vector.h"
#include "guest/kernel.h"

#define GUEST_COMM_BYTES 16 /* TASK_COMM_LEN */

struct guest_task {
	struct gva at;	       /* its task_struct: what names it at a sample */
	uint32_t pid, tgid;    /* pid is the thread's, tgid the process's, as ps and /proc have them */
	uint32_t namespace_pid; /* in the innermost pid namespace it is in; pid outside of containers */
	uint32_t namespace_level; /* 0: in the first namespace */
	bool kernel_thread;
	char comm[GUEST_COMM_BYTES];
	struct gva mm;		/* mm_struct; 0: none (kernel threads, zombies) */
	struct gpa page_tables; /* of the mm: what CR3 holds, without its flag bits; 0: none */
	struct gva stack;	/* lowest address of its kernel stack */
};

struct guest_tasks {
	VECTOR(struct guest_task) items; /* the idle task first; threads behind their process */
};

enum guest_task_scope { GUEST_PROCESSES, GUEST_THREADS };

/*
 * At most 65,536 tasks. The lists change while they are read: what is read is what was linked
 * when it was passed. ERROR_UNSUPPORTED: no BTF, or no data symbols.
 */
struct error *guest_tasks_read(const struct guest_kernel *kernel, enum guest_task_scope scope,
			       struct guest_tasks *ret) MUST_CHECK;
void guest_tasks_deinit(struct guest_tasks *tasks);
const struct guest_task *guest_tasks_find(const struct guest_tasks *tasks, uint32_t pid);

#endif
