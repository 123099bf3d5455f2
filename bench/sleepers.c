/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a saved guest in the same way as src/guest reads a running one. */
#include "sleepers.h"

#include "base/memory.h"
#include "cpu_time.h"
#include "guest/process/task.h"
#include "saved_guest.h"
#include "unwind/kernel/kernel_table.h"
#include "unwind/walk/task_stack.h"

#define MAX_BYTES ((uint64_t)64 << 20)

static struct error *open_kernel(struct guest_memory *memory, const struct saved_guest *saved,
				 struct guest_space *space, struct guest_kernel **ret)
{
	struct error *error = error_create(ERROR_NOT_FOUND, "no vCPU was saved");

	for (size_t i = 0; error && i < saved->vcpus.count; i++) {
		error_destroy(error);
		guest_space_init(space, memory, &saved->vcpus.items[i]);
		error = guest_kernel_open(space, ret);
	}
	return error;
}

static struct error *read_table(const struct guest_kernel *kernel, struct unwind_table **ret)
{
	struct guest_modules modules;
	size_t skipped;
	struct error *error = guest_modules_read(kernel, &modules, &skipped);

	if (error)
		return error;
	error = unwind_table_read(kernel, &modules, ret);
	guest_modules_deinit(&modules);
	return error;
}

static struct error *read_sleepers(const struct guest_kernel *kernel, struct sleepers *ret)
{
	_cleanup_guest_task_reader_ struct guest_task_reader *reader = NULL;
	_cleanup_unwind_task_reader_ struct unwind_task_reader *stack_reader = NULL;
	struct error *error = guest_task_reader_create(kernel, &reader);
	struct guest_tasks tasks;

	if (!error)
		error = unwind_task_reader_create(kernel, &stack_reader);
	if (error)
		return error;
	guest_tasks_read(reader, GUEST_THREADS, &tasks);
	for (size_t i = 0; i < tasks.items.count; i++) {
		struct sleeper sleeper;
		struct unwind_task task;

		unwind_task_read(stack_reader, tasks.items.items[i].at, &task);
		if (task.kind != UNWIND_TASK_ASLEEP)
			continue;
		sleeper.registers = task.registers;
		sleeper.stack = task.stack;
		sleeper.stack.data = memory_dup(task.stack.data, task.stack.bytes);
		vector_append(&ret->items, sleeper);
	}
	guest_tasks_deinit(&tasks);
	return NULL;
}

static struct error *read_kernel(const struct guest_kernel *kernel, struct sleepers *ret)
{
	uint64_t begin = cpu_ns();
	struct error *error = read_table(kernel, &ret->table);

	if (!error)
		error = read_sleepers(kernel, ret);
	ret->text = guest_kernel_get_image(kernel)->regions.items[0];
	ret->read_ms = (double)(cpu_ns() - begin) * 1e-6;
	return error;
}

struct error *sleepers_load(const char *folder, struct sleepers *ret)
{
	_cleanup_saved_guest_ struct saved_guest saved = { .fd = -1 };
	_cleanup_guest_memory_ struct guest_memory *memory = NULL;
	_cleanup_guest_kernel_ struct guest_kernel *kernel = NULL;
	struct guest_memory_source source = saved_guest_source(&saved);
	struct guest_space space;
	struct error *error = saved_guest_load(folder, &saved);

	if (error)
		return error;
	memory = guest_memory_create(&source, saved.slots.items, saved.slots.count, MAX_BYTES);
	error = open_kernel(memory, &saved, &space, &kernel);
	return error ? error : read_kernel(kernel, ret);
}

void sleepers_deinit(struct sleepers *sleepers)
{
	for (size_t i = 0; i < sleepers->items.count; i++)
		free((void *)sleepers->items.items[i].stack.data);
	vector_deinit(&sleepers->items);
	unwind_table_destroy(sleepers->table);
}
