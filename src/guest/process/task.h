/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads and processes of a guest, from init_task on.
 */
#ifndef GUEST_PROCESS_TASK_H
#define GUEST_PROCESS_TASK_H

#include <stdbool.h>

#include "base/vector.h"
#include "guest/kernel/kernel.h"

#define GUEST_COMM_BYTES 16 /* TASK_COMM_LEN */
#define GUEST_TASK_NAME_BYTES 64

struct guest_task {
	struct gva at;	       /* its task_struct: what names it at a sample */
	/* pid is the thread's, tgid the process's, as ps and /proc have them */
	uint32_t pid, tgid;
	/* in the innermost pid namespace it is in; pid outside of containers */
	uint32_t namespace_pid;
	uint32_t namespace_level; /* 0: in the first namespace */
	bool kernel_thread;
	char comm[GUEST_COMM_BYTES];
	char name[GUEST_TASK_NAME_BYTES]; /* comm, or the longer name that a kernel thread has */
	struct gva mm;		/* mm_struct; 0: none (kernel threads, zombies) */
	struct gpa page_tables; /* of the mm: what CR3 holds, without its flag bits; 0: none */
	struct gva stack;	/* lowest address of its kernel stack */
};

struct guest_tasks {
	VECTOR(struct guest_task) items; /* the idle task first; threads behind their process */
};

enum guest_task_scope { GUEST_PROCESSES, GUEST_THREADS };

struct guest_task_reader;

/* Finds the layouts once. KERNEL is borrowed. ERROR_UNSUPPORTED: no BTF, or no data symbols. */
struct error *guest_task_reader_create(const struct guest_kernel *kernel,
				       struct guest_task_reader **ret) MUST_CHECK;
void guest_task_reader_destroy(struct guest_task_reader *reader); /* takes NULL */

/*
 * The task whose task_struct is AT, without looking at any list: some ten reads. False: what is
 * there cannot be a task (unreadable, or with a pid or a kernel stack that no task has).
 */
bool guest_task_read(struct guest_task_reader *reader, struct gva at, struct guest_task *ret);
/*
 * At most 65,536 tasks. The lists change while they are read: what is read is what was linked
 * when it was passed.
 */
void guest_tasks_read(struct guest_task_reader *reader, enum guest_task_scope scope,
		      struct guest_tasks *ret);
void guest_tasks_deinit(struct guest_tasks *tasks);
const struct guest_task *guest_tasks_find(const struct guest_tasks *tasks, uint32_t pid);

DEFINE_CLEANUP(cleanup_guest_task_reader, struct guest_task_reader *, guest_task_reader_destroy)
#define _cleanup_guest_task_reader_ _cleanup_(cleanup_guest_task_reader)

#endif
