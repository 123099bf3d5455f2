/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks about stacks, some tasks at a time, and checks the answers. */
#include "host/inspect/guest_stacks.h"

#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "guest/wire.h"
#include "host/inspect/guest_answers.h"
#include "host/inspect/guest_client.h"

_Static_assert(CAPTURE_KERNEL_STACKS + 1 == GUEST_VCPU_STACKS, "there is room for all stacks");

static uint32_t decode_text(struct cursor *cursor, struct intern *strings)
{
	uint32_t length = cursor_u32(cursor);
	const char *text =
		cursor_bytes(cursor, length <= GUEST_PLACE_NAME_BYTES ? length : SIZE_MAX);

	return text ? intern_bytes(strings, text, length) : 0;
}

static void decode_place(struct cursor *cursor, struct intern *strings, struct guest_place *ret)
{
	ret->address = cursor_u64(cursor);
	ret->offset = cursor_u64(cursor);
	ret->bytes = cursor_u64(cursor);
	ret->function = decode_text(cursor, strings);
	ret->module = decode_text(cursor, strings);
}

static void decode_frame(struct cursor *cursor, struct intern *strings,
			 struct guest_stack_frame *ret)
{
	uint32_t flags = cursor_u32(cursor);

	ret->call = flags & GUEST_FRAME_CALL;
	ret->guessed = flags & GUEST_FRAME_GUESSED;
	ret->waiting = flags & GUEST_FRAME_WAITING;
	ret->user = flags & GUEST_FRAME_USER;
	decode_place(cursor, strings, &ret->place);
}

static void decode_chain(struct cursor *cursor, struct intern *strings, struct guest_stack *stack,
			 struct guest_stacks *stacks)
{
	uint32_t end = cursor_u32(cursor), count;

	decode_place(cursor, strings, &stack->end_at);
	count = cursor_u32(cursor);
	if (end >= UNWIND_ENDS || count > GUEST_STACK_FRAMES) {
		cursor->failed = true;
		return;
	}
	stack->end = end;
	stack->first_frame = stacks->frames.count;
	for (; stack->frame_count < count && !cursor->failed; stack->frame_count++) {
		struct guest_stack_frame frame;

		decode_frame(cursor, strings, &frame);
		vector_append(&stacks->frames, frame);
	}
}

static void decode_stack(struct cursor *cursor, struct intern *strings, struct guest_stacks *stacks)
{
	uint32_t kind = cursor_u32(cursor), state = cursor_u32(cursor);
	struct guest_stack stack = { .kind = kind, .state = (char)state };

	if (kind >= UNWIND_TASK_KINDS || !state || state > 127 || !strchr("RSDTtXZPI", (int)state))
		cursor->failed = true;
	else if (kind == UNWIND_TASK_ASLEEP)
		decode_chain(cursor, strings, &stack, stacks);
	vector_append(&stacks->items, stack);
}

bool guest_stacks_decode(const struct buffer *answer, size_t count, struct intern *strings,
			 struct guest_stacks *ret)
{
	struct cursor cursor = cursor_make(answer->data, answer->size, false);

	for (size_t i = 0; i < count && !cursor.failed; i++)
		decode_stack(&cursor, strings, ret);
	return !cursor.failed && !cursor_left(&cursor);
}

/* COUNT is at most GUEST_STACK_TASKS. */
static struct error *read_some(struct guest_view *view, const struct guest_task *tasks,
			       size_t count, struct intern *strings, struct buffer *answer,
			       struct guest_stacks *stacks)
{
	uint64_t request[GUEST_STACK_TASKS];
	struct error *error;

	for (size_t i = 0; i < count; i++)
		request[i] = tasks[i].at.value;
	error = guest_view_ask(view, GUEST_ASK_STACKS, request, count * sizeof(*request), answer);
	if (error)
		return error;
	if (!guest_stacks_decode(answer, count, strings, stacks))
		return guest_client_malformed();
	return NULL;
}

struct error *guest_stacks_read(struct guest_view *view, const struct guest_task *tasks,
				size_t count, struct intern *strings, struct guest_stacks *ret)
{
	_cleanup_buffer_ struct buffer answer;
	struct guest_stacks stacks = { 0 };
	struct error *error = NULL;

	buffer_init(&answer, GUEST_MESSAGE_MAX);
	for (size_t done = 0; done < count && !error; done += GUEST_STACK_TASKS)
		error = read_some(view, tasks + done,
				  count - done < GUEST_STACK_TASKS ? count - done
								   : GUEST_STACK_TASKS,
				  strings, &answer, &stacks);
	if (error) {
		guest_stacks_deinit(&stacks);
		return error;
	}
	*ret = stacks;
	return NULL;
}

bool guest_stacks_decode_vcpu(const struct buffer *answer, struct intern *strings,
			      struct guest_stacks *stacks, struct guest_task *ret_task)
{
	struct cursor cursor = cursor_make(answer->data, answer->size, false);
	struct guest_stack stack = { .kind = UNWIND_TASK_ASLEEP, .state = 'R' };
	bool has_task = cursor_u32(&cursor);
	struct guest_task task;

	guest_answer_read_task(&cursor, &task);
	decode_chain(&cursor, strings, &stack, stacks);
	vector_append(&stacks->items, stack);
	*ret_task = has_task ? task : (struct guest_task){ 0 };
	return !cursor.failed && !cursor_left(&cursor);
}

static void append_stack(struct buffer *request, const struct capture_stack *stack)
{
	buffer_append_u64(request, stack->start.value);
	buffer_append_u64(request, stack->end.value);
	buffer_append_u32(request, stack->bytes);
	buffer_append(request, stack->data, stack->bytes);
}

static void append_state(struct buffer *request, const struct guest_vcpu_state *state)
{
	const struct unwind_registers *registers = &state->registers;
	const uint64_t words[] = {
		state->task.value,  state->gs_base,	state->mmu.x86.cr0,
		state->mmu.x86.cr3, state->mmu.x86.cr4, state->mmu.x86.efer,
	};

	buffer_append_u32(request, state->user);
	buffer_append_u64(request, registers->ip);
	buffer_append_u64(request, registers->sp);
	buffer_append_u64(request, registers->bp);
	buffer_append(request, registers->others, UNWIND_GENERAL_REGISTERS * sizeof(uint64_t));
	buffer_append(request, words, sizeof(words));
	buffer_append_u32(request, state->stacks ? GUEST_VCPU_STACKS : 0);
	if (!state->stacks)
		return;
	for (size_t i = 0; i < CAPTURE_KERNEL_STACKS; i++)
		append_stack(request, &state->stacks->kernel[i]);
	append_stack(request, &state->stacks->user);
}

struct error *guest_stacks_read_vcpu(struct guest_view *view, const struct guest_vcpu_state *state,
				     struct intern *strings, struct guest_stacks *stacks,
				     struct guest_task *ret_task)
{
	_cleanup_buffer_ struct buffer request, answer;
	struct error *error;

	buffer_init(&request, GUEST_MESSAGE_MAX);
	buffer_init(&answer, GUEST_MESSAGE_MAX);
	append_state(&request, state);
	error = guest_view_ask(view, GUEST_ASK_VCPU, request.data, request.size, &answer);
	if (error)
		return error;
	if (!guest_stacks_decode_vcpu(&answer, strings, stacks, ret_task))
		return guest_client_malformed();
	return NULL;
}

void guest_stacks_deinit(struct guest_stacks *stacks)
{
	vector_deinit(&stacks->items);
	vector_deinit(&stacks->frames);
}
