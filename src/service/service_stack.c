/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers to requests about the kernel stacks of a guest's tasks. */
#include <string.h>

#include "base/memory.h"
#include "guest/kernel/name.h"
#include "service/service_private.h"
#include "symbol/dso.h"
#include "unwind/kernel/kernel_table.h"
#include "unwind/walk/task_stack.h"

/* Code in which tasks wait, which /proc/PID/stack leaves out (in_sched_functions()). */
struct code_range {
	const char *start_name, *end_name;
};

static const struct code_range waiting_code[] = {
	{ "__sched_text_start", "__sched_text_end" },
	{ "__lock_text_start", "__lock_text_end" },
};
#define WAITING_RANGES (sizeof(waiting_code) / sizeof(*waiting_code))

struct service_stacks {
	const struct guest_kernel *kernel;
	struct guest_modules modules; /* empty if they cannot be read */
	struct unwind_table *table;
	struct unwind_task_reader *tasks;
	struct {
		uint64_t start, end;
	} waiting[WAITING_RANGES];
	struct unwind_frame frames[GUEST_STACK_FRAMES];
};

void service_close_stacks(struct service *service)
{
	struct service_stacks *stacks = service->stacks;

	service->stacks = NULL;
	if (!stacks)
		return;
	guest_modules_deinit(&stacks->modules);
	unwind_table_destroy(stacks->table);
	unwind_task_reader_destroy(stacks->tasks);
	free(stacks);
}

/* A range stays empty if the kernel has no symbols for it. */
static void find_waiting_code(struct service_stacks *stacks)
{
	for (size_t i = 0; i < WAITING_RANGES; i++) {
		struct gva start, end;

		if (!guest_kernel_find_symbol(stacks->kernel, waiting_code[i].start_name, &start) ||
		    !guest_kernel_find_symbol(stacks->kernel, waiting_code[i].end_name, &end))
			continue;
		stacks->waiting[i].start = start.value;
		stacks->waiting[i].end = end.value;
	}
}

struct error *service_open_stacks(struct service *service)
{
	_cleanup_error_ struct error *no_modules = NULL;
	struct service_stacks *stacks;
	struct error *error;
	size_t skipped;

	if (service->stacks)
		return NULL;
	stacks = memory_calloc(1, sizeof(*stacks));
	service->stacks = stacks;
	stacks->kernel = service->kernel;
	/* Without its modules, a kernel still has its own unwind data. */
	no_modules = guest_modules_read(service->kernel, &stacks->modules, &skipped);
	error = unwind_table_read(service->kernel, &stacks->modules, &stacks->table);
	if (!error)
		error = unwind_task_reader_create(service->kernel, &stacks->tasks);
	if (error)
		service_close_stacks(service);
	else
		find_waiting_code(stacks);
	return error;
}

static bool is_waiting_code(const struct service_stacks *stacks, uint64_t address)
{
	for (size_t i = 0; i < WAITING_RANGES; i++)
		if (address >= stacks->waiting[i].start && address < stacks->waiting[i].end)
			return true;
	return false;
}

const struct unwind_table *service_kernel_unwind(const struct service *service)
{
	return service->stacks->table;
}

static void append_name(struct service *service, const char *name)
{
	size_t bytes = strnlen(name, GUEST_PLACE_NAME_BYTES);

	buffer_append_u32(&service->answer, bytes);
	buffer_append(&service->answer, name, bytes);
}

void service_append_named(struct service *service, uint64_t address, const struct guest_name *name)
{
	buffer_append_u64(&service->answer, address);
	buffer_append_u64(&service->answer, name->offset);
	buffer_append_u64(&service->answer, name->bytes);
	append_name(service, name->function);
	append_name(service, name->module ? name->module : "");
}

/* Demangled here, in the cage: the name comes from the guest. */
void service_append_user_named(struct service *service, uint64_t address,
			       const struct guest_name *name)
{
	_cleanup_free_ char *function = dso_demangle(name->function);
	struct guest_name named = *name;

	named.function = function;
	service_append_named(service, address, &named);
}

/* The call before a return address may be a function's last instruction. */
void service_append_place(struct service *service, uint64_t address, unsigned int back)
{
	const struct service_stacks *stacks = service->stacks;
	struct guest_name name = { .function = "" };

	if (guest_name_find(stacks->kernel, &stacks->modules, GVA(address - back), &name))
		name.offset += back;
	service_append_named(service, address, &name);
}

void service_append_frame(struct service *service, const struct unwind_frame *frame)
{
	buffer_append_u32(&service->answer,
			  (frame->kind == UNWIND_FRAME_CALL ? GUEST_FRAME_CALL : 0) |
				  (frame->guessed ? GUEST_FRAME_GUESSED : 0) |
				  (is_waiting_code(service->stacks, frame->address)
					   ? GUEST_FRAME_WAITING
					   : 0));
	service_append_place(service, frame->address, frame->kind == UNWIND_FRAME_CALL);
}

static void append_chain(struct service *service, const struct unwind_chain *chain)
{
	buffer_append_u32(&service->answer, chain->end);
	service_append_place(service, chain->end_at, 0);
	buffer_append_u32(&service->answer, chain->count);
	for (size_t i = 0; i < chain->count; i++)
		service_append_frame(service, &chain->frames[i]);
}

static void append_task(struct service *service, struct gva at)
{
	struct service_stacks *stacks = service->stacks;
	struct unwind_chain chain = { .frames = stacks->frames, .capacity = GUEST_STACK_FRAMES };
	struct unwind_task task;

	unwind_task_read(stacks->tasks, at, &task);
	buffer_append_u32(&service->answer, task.kind);
	buffer_append_u32(&service->answer, task.state);
	if (task.kind != UNWIND_TASK_ASLEEP)
		return;
	unwind_run(stacks->table, &task.registers, &task.stack, 1, &chain);
	append_chain(service, &chain);
}

struct error *service_answer_stacks(struct service *service, struct cursor *request)
{
	size_t count = cursor_left(request) / sizeof(uint64_t);
	struct error *error;

	if (count > GUEST_STACK_TASKS || cursor_left(request) % sizeof(uint64_t))
		return error_create(ERROR_BAD_DATA, "malformed request");
	error = service_open_stacks(service);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		append_task(service, GVA(cursor_u64(request)));
	return NULL;
}
