/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call chains of a guest's tasks and vCPUs, with names, as found by its caged parser. */
#ifndef HOST_INSPECT_GUEST_STACKS_H
#define HOST_INSPECT_GUEST_STACKS_H

#include "base/intern.h"
#include "base/vector.h"
#include "host/capture/capture.h"
#include "host/inspect/guest_view.h"
#include "unwind/walk/task_stack.h"

/* Code of the guest, named as in its own backtraces. */
struct guest_place {
	uint64_t address;
	uint64_t offset, bytes;    /* offset in the function, and the function's size */
	/*
	 * Interned; "": no name is known, or the module is the kernel itself. In user code,
	 * function is demangled and module is the file's path.
	 */
	uint32_t function, module;
};

struct guest_stack_frame {
	struct guest_place place;
	bool call;    /* a return address; otherwise where the task was interrupted */
	bool guessed; /* not found with unwind data */
	bool waiting; /* scheduler or lock code, which /proc/PID/stack hides */
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
 * Reads the stacks of TASKS, each in its state at that moment. Names go to STRINGS.
 * ERROR_UNSUPPORTED: the guest's kernel has no unwind data, or does not describe its tasks.
 */
struct error *guest_stacks_read(struct guest_view *view, const struct guest_task *tasks,
				size_t count, struct intern *strings,
				struct guest_stacks *ret) MUST_CHECK;
/*
 * Adds the stacks of COUNT tasks from an answer to GUEST_ASK_STACKS. False: the answer is
 * malformed, and RET holds part of it.
 */
bool guest_stacks_decode(const struct buffer *answer, size_t count, struct intern *strings,
			 struct guest_stacks *ret);

/* The state in which a vCPU was seen. */
struct guest_vcpu_state {
	bool user;
	struct unwind_registers registers; /* all of them, by number */
	struct gva task;  /* its task_struct; 0: not known, to be found by GS_BASE */
	uint64_t gs_base; /* the kernel's */
	struct arch_mmu mmu;
	/* NULL: the vCPU is stopped, and its stacks are read from memory */
	const struct capture_stacks *stacks;
};

/*
 * Adds its chain, the kernel's part followed by the user's, to STACKS, like that of a sleeping
 * task. *RET_TASK is the task that it ran, all 0 if not known. Errors as above.
 */
struct error *guest_stacks_read_vcpu(struct guest_view *view, const struct guest_vcpu_state *state,
				     struct intern *strings, struct guest_stacks *stacks,
				     struct guest_task *ret_task) MUST_CHECK;
/* The same, from an answer to GUEST_ASK_VCPU. */
bool guest_stacks_decode_vcpu(const struct buffer *answer, struct intern *strings,
			      struct guest_stacks *stacks, struct guest_task *ret_task);
void guest_stacks_deinit(struct guest_stacks *stacks);

#endif
