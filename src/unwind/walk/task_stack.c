/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For a task that is switched out, thread.sp points to what __switch_to_asm() pushed (struct
 * inactive_task_frame): its BP, and the address where it continues, in __schedule() (or
 * ret_from_fork if it has never run). From there its stack extends up to task->stack + THREAD_SIZE.
 *
 * The guest keeps running while this is read. The stack matches task_struct if the task was not
 * switched to in between: if thread.sp and its switch counts are the same after reading the stack
 * as before.
 *
 * Source: __unwind_start() (arch/x86/kernel/unwind_orc.c), arch/x86/include/asm/switch_to.h,
 * task_state_index() (include/linux/sched.h).
 */
#include "unwind/walk/task_stack.h"

#include <string.h>

#include "base/memory.h"

#define ATTEMPTS 4
#define MAX_STACK_BYTES 65536
#define USUAL_STACK_BYTES 16384
#define MAX_TASK_STRUCT_BYTES ((uint64_t)32 << 10)

/* Bits of task->state and exit_state, the same since 4.14. */
#define TASK_REPORT 0x7f
#define TASK_IDLE 0x402    /* uninterruptible, not counted as load */
#define TASK_FROZEN 0x8000 /* since 6.1; shown as uninterruptible */

struct layout {
	struct guest_btf_field state, old_state, exit_state, on_cpu, stack, thread_sp;
	struct guest_btf_field voluntary, involuntary;
	struct guest_btf_field frame_bp, frame_return;
};

#define ROW(structure, path, field)                                                                \
	{                                                                                          \
		structure, path, offsetof(struct layout, field), false                             \
	}
#define MAYBE(structure, path, field)                                                              \
	{                                                                                          \
		structure, path, offsetof(struct layout, field), true                              \
	}

static const struct guest_layout_row layout_rows[] = {
	MAYBE("task_struct", "__state", state),
	MAYBE("task_struct", "state", old_state), /* until 5.13 */
	ROW("task_struct", "exit_state", exit_state),
	MAYBE("task_struct", "on_cpu", on_cpu), /* CONFIG_SMP */
	ROW("task_struct", "stack", stack),
	ROW("task_struct", "thread.sp", thread_sp),
	ROW("task_struct", "nvcsw", voluntary),
	ROW("task_struct", "nivcsw", involuntary),
	ROW("inactive_task_frame", "bp", frame_bp),
	ROW("inactive_task_frame", "ret_addr", frame_return),
	{ 0 },
};

struct unwind_task_reader {
	struct guest_space *space;
	struct layout layout;
	uint64_t task_bytes, frame_bytes, stack_bytes;
	uint64_t new_task; /* where new tasks start; 0: unknown */
	uint8_t task[MAX_TASK_STRUCT_BYTES];
	uint8_t copy[MAX_STACK_BYTES];
};

/* Fields that change when a task is switched to. */
struct look {
	uint64_t state, exit_state, on_cpu, stack, sp, voluntary, involuntary;
};

static struct error *find_layout(struct unwind_task_reader *reader,
				 const struct guest_kernel *kernel)
{
	const struct guest_btf *btf = guest_kernel_btf(kernel);
	struct error *error = guest_kernel_layout(kernel, layout_rows, &reader->layout);

	if (error)
		return error;
	if (!reader->layout.state.size)
		reader->layout.state = reader->layout.old_state;
	reader->task_bytes = guest_btf_size(btf, guest_btf_find_struct(btf, "task_struct"));
	reader->frame_bytes =
		guest_btf_size(btf, guest_btf_find_struct(btf, "inactive_task_frame"));
	reader->stack_bytes = guest_btf_size(btf, guest_btf_find_struct(btf, "thread_union"));
	if (!reader->stack_bytes || reader->stack_bytes > MAX_STACK_BYTES)
		reader->stack_bytes = USUAL_STACK_BYTES;
	if (!reader->layout.state.size || !reader->task_bytes || !reader->frame_bytes ||
	    reader->task_bytes > MAX_TASK_STRUCT_BYTES)
		return error_create(
			ERROR_UNSUPPORTED,
			"the guest's kernel has an unknown layout of struct task_struct");
	return NULL;
}

struct error *unwind_task_reader_create(const struct guest_kernel *kernel,
					struct unwind_task_reader **ret)
{
	_cleanup_unwind_task_reader_ struct unwind_task_reader *reader =
		memory_calloc(1, sizeof(*reader));
	struct error *error = find_layout(reader, kernel);
	struct gva at;

	if (error)
		return error_prefix(error, "could not read the stacks of the guest's tasks");
	if (guest_kernel_find_symbol(kernel, "ret_from_fork_asm", &at) || /* since 6.6 */
	    guest_kernel_find_symbol(kernel, "ret_from_fork", &at))
		reader->new_task = at.value;
	reader->space = guest_kernel_space(kernel);
	*ret = take_pointer(reader);
	return NULL;
}

void unwind_task_reader_destroy(struct unwind_task_reader *reader)
{
	free(reader);
}

/* A field of at most 8 bytes in the copy of a structure of SIZE bytes; 0 if there is none. */
static uint64_t number(const uint8_t *copy, uint64_t size, const struct guest_btf_field *field)
{
	uint64_t value = 0;

	if (field->size <= sizeof(value) && field->offset <= size &&
	    field->size <= size - field->offset)
		memcpy(&value, copy + field->offset, field->size);
	return value;
}

static bool look_at(struct unwind_task_reader *reader, struct gva at, struct look *ret)
{
	const struct layout *layout = &reader->layout;
	const uint8_t *task = reader->task;
	uint64_t size = reader->task_bytes;

	if (!guest_space_read_now(reader->space, at, reader->task, size))
		return false;
	*ret = (struct look){
		.state = number(task, size, &layout->state),
		.exit_state = number(task, size, &layout->exit_state),
		.on_cpu = number(task, size, &layout->on_cpu),
		.stack = number(task, size, &layout->stack),
		.sp = number(task, size, &layout->thread_sp),
		.voluntary = number(task, size, &layout->voluntary),
		.involuntary = number(task, size, &layout->involuntary),
	};
	return true;
}

static char state_letter(const struct look *look)
{
	uint64_t bits = (look->state | look->exit_state) & TASK_REPORT;

	if ((look->state & TASK_IDLE) == TASK_IDLE)
		return 'I';
	if (look->state & TASK_FROZEN)
		return 'D';
	return "RSDTtXZP"[bits ? 64 - __builtin_clzll(bits) : 0];
}

/* The stack from thread.sp up. */
static bool copy_stack(struct unwind_task_reader *reader, const struct look *look,
		       struct unwind_stack *ret)
{
	uint64_t offset = look->sp - look->stack;
	struct unwind_stack stack = { .start = GVA(look->sp),
				      .data = reader->copy,
				      .end = GVA(look->stack + reader->stack_bytes) };

	if (!look->stack || offset > reader->stack_bytes - reader->frame_bytes)
		return false;
	stack.bytes = reader->stack_bytes - offset;
	if (!guest_space_read_now(reader->space, stack.start, reader->copy, stack.bytes))
		return false;
	*ret = stack;
	return true;
}

/* Where the task goes on when it is switched to. */
static struct unwind_registers registers_of(const struct unwind_task_reader *reader,
					    const struct unwind_stack *stack)
{
	const struct layout *layout = &reader->layout;
	struct unwind_registers registers = {
		.ip = number(stack->data, reader->frame_bytes, &layout->frame_return),
		.bp = number(stack->data, reader->frame_bytes, &layout->frame_bp),
		.sp = stack->start.value + reader->frame_bytes,
	};

	registers.ip_is_return_address = registers.ip != reader->new_task;
	return registers;
}

/* One attempt; false: the task ran in the meantime. */
static bool try_task(struct unwind_task_reader *reader, struct gva at, struct unwind_task *ret)
{
	struct look before, after;

	*ret = (struct unwind_task){ .kind = UNWIND_TASK_DEAD, .state = 'X' };
	if (!look_at(reader, at, &before))
		return true;
	ret->state = state_letter(&before);
	/* A kernel for one CPU has no on_cpu: a task that is ready is assumed to be running. */
	if (before.on_cpu || (!reader->layout.on_cpu.size && ret->state == 'R')) {
		ret->kind = UNWIND_TASK_RUNNING;
		return true;
	}
	/* The cached mapping of a stack may be from an earlier task at the same address. */
	guest_space_forget(reader->space);
	if (!copy_stack(reader, &before, &ret->stack))
		return true;
	if (!look_at(reader, at, &after) || memcmp(&before, &after, sizeof(before)) != 0) {
		ret->kind = UNWIND_TASK_RESTLESS;
		return false;
	}
	ret->kind = UNWIND_TASK_ASLEEP;
	ret->registers = registers_of(reader, &ret->stack);
	return true;
}

void unwind_task_read(struct unwind_task_reader *reader, struct gva at, struct unwind_task *ret)
{
	for (int i = 0; i < ATTEMPTS; i++)
		if (try_task(reader, at, ret))
			return;
}
