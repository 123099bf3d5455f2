/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel call chains of a guest's tasks, with names, as its caged parser finds them. */
#ifndef HOST_GUEST_STACKS_H
#define HOST_GUEST_STACKS_H

#include "base/intern.h"
#include "base/vector.h"
#include "host/guest_view.h"
#include "unwind/task_stack.h"

/* Code of the guest, as its own backtraces would name it. */
struct guest_place {
	uint64_t address;
	uint64_t offset, bytes;    /* in the function, and of it */
	uint32_t function, module; /* interned; "": no name is known, or the kernel itself */
};

struct guest_stack_frame {
	struct guest_place place;
	bool call;    /* a return address; else where the task was interrupted */
	bool guessed; /* not found by unwind data */
	bool waiting; /* scheduler or lock code: /proc/PID/stack leaves it out */
};

struct guest_stack {
	enum unwind_task_kind kind;
	char state; /* as in /proc/PID/stat */
	/* If it is asleep: */
	enum unwind_end end;
	struct guest_place end_at;
	size_t first_frame, frame_count; /* innermost first */
};

struct guest_stacks {
	VECTOR(struct guest_stack) items; /* in the order of the tasks */
	VECTOR(struct guest_stack_frame) frames;
};

/*
 * Looks at TASKS, each as it is when its turn comes; names go to STRINGS. ERROR_UNSUPPORTED: the
 * guest's kernel has no unwind data, or does not describe its tasks.
 */
struct error *guest_stacks_read(struct guest_view *view, const struct guest_task *tasks,
				size_t count, struct intern *strings,
				struct guest_stacks *ret) MUST_CHECK;
/*
 * Adds what an answer to GUEST_ASK_STACKS says of COUNT tasks. False: it is malformed; RET then holds
 * some of it.
 */
bool guest_stacks_decode(const struct buffer *answer, size_t count, struct intern *strings,
			 struct guest_stacks *ret);
void guest_stacks_deinit(struct guest_stacks *stacks);

#endif
