/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads and processes of a guest, starting from init_task. */
#ifndef GUEST_PROCESS_TASK_H
#define GUEST_PROCESS_TASK_H

#include <stdbool.h>

#include "base/vector.h"
#include "guest/kernel/kernel.h"

#define GUEST_COMM_BYTES 16 /* TASK_COMM_LEN */
#define GUEST_TASK_NAME_BYTES 64

struct guest_task {
	struct gva at;	       /* its task_struct, which identifies it in a sample */
	/* pid is the thread's, tgid the process's, as in ps and /proc */
	uint32_t pid, tgid;
	/* in its innermost pid namespace; same as pid outside of containers */
	uint32_t namespace_pid;
	uint32_t namespace_level; /* 0: in the first namespace */
	bool kernel_thread;
	char comm[GUEST_COMM_BYTES];
	char name[GUEST_TASK_NAME_BYTES]; /* comm, or the longer name of a kernel thread */
	struct gva mm;		/* mm_struct; 0: none (kernel threads, zombies) */
	struct gpa page_tables; /* of the mm: the contents of CR3 without its flag bits; 0: none */
	struct gva stack;	/* lowest address of its kernel stack */
};

struct guest_tasks {
	VECTOR(struct guest_task) items; /* the idle task first; threads follow their process */
};

enum guest_task_scope { GUEST_PROCESSES, GUEST_THREADS };

struct guest_task_reader;

/* Looks up the layouts once. KERNEL is borrowed. ERROR_UNSUPPORTED: no BTF, or no data symbols. */
struct error *guest_task_reader_create(const struct guest_kernel *kernel,
				       struct guest_task_reader **ret) MUST_CHECK;
void guest_task_reader_destroy(struct guest_task_reader *reader); /* takes NULL */

/*
 * The task whose task_struct is AT, without walking any list: some ten reads. False: there cannot
 * be a task at AT (unreadable, or with a pid or a kernel stack that no task has).
 */
bool guest_task_read(struct guest_task_reader *reader, struct gva at, struct guest_task *ret);
/*
 * At most 65,536 tasks. The lists change while they are being read: each task listed was linked
 * when the walk passed it.
 */
void guest_tasks_read(struct guest_task_reader *reader, enum guest_task_scope scope,
		      struct guest_tasks *ret);
void guest_tasks_deinit(struct guest_tasks *tasks);
const struct guest_task *guest_tasks_find(const struct guest_tasks *tasks, uint32_t pid);

DEFINE_CLEANUP(cleanup_guest_task_reader, struct guest_task_reader *, guest_task_reader_destroy)
#define _cleanup_guest_task_reader_ _cleanup_(cleanup_guest_task_reader)

#endif
