/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers about stacks, as a compromised cage could send them: the first byte is the number of
 * tasks in the request, or 0xff for a vCPU.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "fuzz.h"
#include "guest/wire.h"
#include "host/inspect/guest_stacks.h"

static void check(const struct guest_stacks *stacks, const struct intern *strings)
{
	for (size_t i = 0; i < stacks->items.count; i++) {
		const struct guest_stack *stack = &stacks->items.items[i];

		assert(stack->kind < UNWIND_TASK_KINDS && stack->end < UNWIND_ENDS);
		assert(stack->frame_count <= GUEST_STACK_FRAMES);
		assert(stack->first_frame + stack->frame_count <= stacks->frames.count);
	}
	for (size_t i = 0; i < stacks->frames.count; i++) {
		const struct guest_place *place = &stacks->frames.items[i].place;

		assert(strlen(intern_string(strings, place->function)) <= GUEST_PLACE_NAME_BYTES);
		assert(strlen(intern_string(strings, place->module)) <= GUEST_PLACE_NAME_BYTES);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_intern_ struct intern *strings = intern_create();
	struct guest_stacks stacks = { 0 };
	struct buffer answer = { 0 };
	struct guest_task task;
	bool good;

	if (!size)
		return 0;
	answer.data = memory_dup(data, size);
	memmove(answer.data, data + 1, size - 1);
	answer.size = size - 1;
	if (*data == 0xff)
		good = guest_stacks_decode_vcpu(&answer, strings, &stacks, &task);
	else
		good = guest_stacks_decode(&answer, *data, strings, &stacks);
	if (good && *data == 0xff)
		assert(stacks.items.count == 1 && strlen(task.name) < sizeof(task.name));
	if (good)
		check(&stacks, strings);
	guest_stacks_deinit(&stacks);
	free(answer.data);
	return 0;
}
