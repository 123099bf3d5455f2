/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding the stacks of a saved guest's sleeping tasks, over and over, as a recorder will the
 * copies that come with samples.
 *
 *	unwind_stacks FOLDER    prints: rows, milliseconds to read and build them, chains, the
 *				complete ones of these, frames of all, nanoseconds a frame,
 *				nanoseconds to find a row anywhere in the kernel's text; all
 *				in CPU time
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "cpu_time.h"
#include "guest/task.h"
#include "saved_guest.h"
#include "unwind/kernel_table.h"
#include "unwind/task_stack.h"

#define MAX_BYTES ((uint64_t)64 << 20)
#define MAX_FRAMES 128
#define FRAMES_WANTED ((uint64_t)20000000)
#define PLACES ((size_t)1 << 20)

struct sleeper {
	struct unwind_registers registers;
	struct unwind_stack stack; /* owns its data */
};

struct sleepers {
	VECTOR(struct sleeper) items;
};

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

struct totals {
	uint64_t frames, complete;
};

static struct totals unwind_all(const struct unwind_table *table, const struct sleepers *sleepers)
{
	struct unwind_frame frames[MAX_FRAMES];
	struct totals totals = { 0 };

	for (size_t i = 0; i < sleepers->items.count; i++) {
		const struct sleeper *sleeper = &sleepers->items.items[i];
		struct unwind_chain chain = { .frames = frames, .capacity = MAX_FRAMES };

		unwind_run(table, &sleeper->registers, &sleeper->stack, 1, &chain);
		totals.frames += chain.count;
		totals.complete += chain.end == UNWIND_COMPLETE;
	}
	return totals;
}

/* What sleeping tasks have in common stays in the first cache; this does not. */
static double measure_lookups(const struct guest_kernel *kernel, const struct unwind_table *table)
{
	const struct guest_region *text = guest_kernel_get_image(kernel)->regions.items;
	_cleanup_free_ uint64_t *places = memory_calloc(PLACES, sizeof(*places));
	uint64_t begin, random = 88172645463325252, found = 0;

	for (size_t i = 0; i < PLACES; i++) {
		random ^= random << 13; /* xorshift64 */
		random ^= random >> 7;
		random ^= random << 17;
		places[i] = text->start.value + random % (text->end.value - text->start.value);
	}
	begin = cpu_ns();
	for (size_t i = 0; i < PLACES; i++)
		found += unwind_table_find(table, places[i]) != NULL;
	return found ? (double)(cpu_ns() - begin) / (double)PLACES : 0;
}

static void measure(const struct guest_kernel *kernel, const struct unwind_table *table,
		    const struct sleepers *sleepers, double read_ms)
{
	struct totals once = unwind_all(table, sleepers);
	uint64_t begin, rounds = once.frames ? FRAMES_WANTED / once.frames : 0;
	double ns;

	begin = cpu_ns();
	for (uint64_t i = 0; i < rounds; i++)
		unwind_all(table, sleepers);
	ns = rounds ? (double)(cpu_ns() - begin) / (double)(rounds * once.frames) : 0;
	printf("%zu %.1f %zu %" PRIu64 " %" PRIu64 " %.2f %.2f\n", unwind_table_rows(table),
	       read_ms, sleepers->items.count, once.complete, once.frames, ns,
	       measure_lookups(kernel, table));
}

static struct error *run(const char *folder)
{
	_cleanup_saved_guest_ struct saved_guest saved = { .fd = -1 };
	_cleanup_guest_memory_ struct guest_memory *memory = NULL;
	_cleanup_guest_kernel_ struct guest_kernel *kernel = NULL;
	_cleanup_unwind_table_ struct unwind_table *table = NULL;
	struct sleepers sleepers = { 0 };
	struct guest_memory_source source = saved_guest_source(&saved);
	struct guest_space space;
	struct error *error = saved_guest_load(folder, &saved);
	uint64_t begin;

	if (error)
		return error;
	memory = guest_memory_create(&source, saved.slots.items, saved.slots.count, MAX_BYTES);
	error = open_kernel(memory, &saved, &space, &kernel);
	begin = cpu_ns();
	if (!error)
		error = read_table(kernel, &table);
	if (!error)
		error = read_sleepers(kernel, &sleepers);
	if (!error)
		measure(kernel, table, &sleepers, (double)(cpu_ns() - begin) * 1e-6);
	for (size_t i = 0; i < sleepers.items.count; i++)
		free((void *)sleepers.items.items[i].stack.data);
	vector_deinit(&sleepers.items);
	return error;
}

int main(int argc, char **argv)
{
	_cleanup_error_ struct error *error =
		argc == 2 ? run(argv[1]) : error_create(ERROR_USAGE, "unwind_stacks FOLDER");

	if (error)
		fprintf(stderr, "unwind_stacks: %s\n", error_message(error));
	return error != NULL;
}
