/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call chains of a guest's tasks and vCPUs, with names, as its caged parser finds them. */
#ifndef HOST_INSPECT_GUEST_STACKS_H
#define HOST_INSPECT_GUEST_STACKS_H

#include "base/intern.h"
#include "base/vector.h"
#include "host/capture/capture.h"
#include "host/inspect/guest_view.h"
#include "unwind/walk/task_stack.h"

/* Code of the guest, as its own backtraces would name it. */
struct guest_place {
	uint64_t address;
	uint64_t offset, bytes;    /* in the function, and of it */
	/*
	 * Interned; "": no name is known, or the kernel itself. User code's function is demangled,
	 * its module is its file's path.
	 */
	uint32_t function, module;
};

struct guest_stack_frame {
	struct guest_place place;
	bool call;    /* a return address; else where the task was interrupted */
	bool guessed; /* not found by unwind data */
	bool waiting; /* scheduler or lock code: /proc/PID/stack leaves it out */
	bool user;
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
 * Adds what an answer to GUEST_ASK_STACKS says of COUNT tasks. False: it is malformed; RET then
 * holds some of it.
 */
bool guest_stacks_decode(const struct buffer *answer, size_t count, struct intern *strings,
			 struct guest_stacks *ret);

/* What a vCPU was met at. */
struct guest_vcpu_state {
	bool user;
	struct unwind_registers registers; /* all of them, by number */
	struct gva task;  /* its task_struct; 0: not known, found by GS_BASE */
	uint64_t gs_base; /* of the kernel */
	struct arch_mmu mmu;
	const struct capture_stacks *stacks; /* NULL: it stands still, they are read from memory */
};

/*
 * Its chain, the kernel's and below it the user's, is added to STACKS as that of a task asleep.
 * *RET_TASK is the task that it ran, all 0 if that is not known. Errors as above.
 */
struct error *guest_stacks_read_vcpu(struct guest_view *view, const struct guest_vcpu_state *state,
				     struct intern *strings, struct guest_stacks *stacks,
				     struct guest_task *ret_task) MUST_CHECK;
/* Likewise by an answer to GUEST_ASK_VCPU. */
bool guest_stacks_decode_vcpu(const struct buffer *answer, struct intern *strings,
			      struct guest_stacks *stacks, struct guest_task *ret_task);
void guest_stacks_deinit(struct guest_stacks *stacks);

#endif
