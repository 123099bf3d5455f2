/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the cage, as a compromised one could send them, except those about stacks
 * (fuzz_guest_stacks.c) and tables. The first byte says to which question.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "fuzz.h"
#include "host/inspect/guest_answers.h"

static void check_task(const struct guest_task *task)
{
	assert(strlen(task->comm) < sizeof(task->comm));
	assert(strlen(task->name) < sizeof(task->name));
}

static void read_tasks(const struct buffer *answer)
{
	struct guest_tasks tasks = { 0 };

	if (guest_answer_tasks(answer, &tasks))
		for (size_t i = 0; i < tasks.items.count; i++)
			check_task(&tasks.items.items[i]);
	guest_tasks_deinit(&tasks);
}

static void read_mappings(const struct buffer *answer)
{
	_cleanup_intern_ struct intern *strings = intern_create();
	struct guest_mappings mappings = { 0 };

	if (guest_answer_mappings(answer, strings, &mappings))
		for (size_t i = 0; i < mappings.items.count; i++) {
			const struct guest_mapping *mapping = &mappings.items.items[i];

			assert(mapping->start.value < mapping->end.value);
			assert(mapping->kind <= GUEST_MAPPING_SPECIAL);
			assert(mapping->program.kind <= GUEST_PROGRAM_VDSO);
			assert(mapping->path < intern_count(strings));
			assert(mapping->build_id.bytes <= sizeof(mapping->build_id.data));
		}
	guest_mappings_deinit(&mappings);
}

static void read_current(const struct buffer *answer)
{
	struct guest_current current;
	struct guest_cpus cpus = { 0 };

	if (guest_answer_current(answer, &current, &cpus))
		assert(cpus.items.count <= GUEST_CPUS_MAX);
	guest_cpus_deinit(&cpus);
}

static void read_names(const struct buffer *answer, bool opened)
{
	struct guest_view_kernel kernel = { 0 };

	if (opened)
		guest_answer_opened(answer, &kernel);
	else
		guest_answer_names(answer, &kernel.names);
	assert(memchr(kernel.names.release, 0, sizeof(kernel.names.release)));
	assert(memchr(kernel.names.host_name, 0, sizeof(kernel.names.host_name)));
	assert(kernel.build_id_bytes <= sizeof(kernel.build_id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer answer = { .size = size - 1 };
	struct guest_state state;
	struct guest_task task;

	if (!size)
		return 0;
	/* ASan sees a read past its end. */
	answer.data = memory_dup(data + 1, size - 1);
	switch (*data % 7) {
	case 0:
		read_tasks(&answer);
		break;
	case 1:
		if (guest_answer_task(&answer, &task))
			check_task(&task);
		break;
	case 2:
		read_mappings(&answer);
		break;
	case 3:
		read_current(&answer);
		break;
	case 4:
		guest_answer_state(&answer, &state);
		break;
	default:
		read_names(&answer, *data % 7 == 5);
	}
	free(answer.data);
	return 0;
}
