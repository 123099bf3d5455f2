/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers to requests about a guest's processes: tasks, mappings, and the mapped files. */
#include <string.h>

#include "service/service_private.h"
#include "symbol/table.h"
#include "unwind/program/program_table.h"

#define MAX_STRINGS 16384

struct error *service_open_tasks(struct service *service)
{
	return service->tasks ? NULL : guest_task_reader_create(service->kernel, &service->tasks);
}

static struct error *open_programs(struct service *service)
{
	return service->programs ? NULL
				 : guest_program_reader_create(service->kernel, &service->programs);
}

struct error *service_open_mappings(struct service *service)
{
	/* A guest may return new paths every time. */
	if (intern_count(service->strings) > MAX_STRINGS) {
		guest_mapping_reader_destroy(service->mappings);
		service->mappings = NULL;
		intern_destroy(service->strings);
		service->strings = intern_create();
	}
	if (service->mappings)
		return NULL;
	/* If files cannot be read, mappings have no build-ids. */
	error_destroy(open_programs(service));
	return guest_mapping_reader_create(service->kernel, service->strings, service->programs,
					   &service->mappings);
}

void service_forget_processes(struct service *service)
{
	if (service->programs)
		guest_program_reader_forget(service->programs);
}

void service_close_processes(struct service *service)
{
	guest_mapping_reader_destroy(service->mappings);
	service->mappings = NULL;
	guest_program_reader_destroy(service->programs);
	service->programs = NULL;
	guest_task_reader_destroy(service->tasks);
	service->tasks = NULL;
}

void service_append_task(struct service *service, const struct guest_task *task)
{
	buffer_append_u64(&service->answer, task->at.value);
	buffer_append_u64(&service->answer, task->mm.value);
	buffer_append_u64(&service->answer, task->page_tables.value);
	buffer_append_u64(&service->answer, task->stack.value);
	buffer_append_u32(&service->answer, task->pid);
	buffer_append_u32(&service->answer, task->tgid);
	buffer_append_u32(&service->answer, task->namespace_pid);
	buffer_append_u32(&service->answer, task->namespace_level);
	buffer_append_u32(&service->answer, task->kernel_thread);
	buffer_append(&service->answer, task->comm, sizeof(task->comm));
	buffer_append(&service->answer, task->name, sizeof(task->name));
}

struct error *service_answer_tasks(struct service *service, struct cursor *request)
{
	enum guest_task_scope scope = cursor_u32(request) ? GUEST_THREADS : GUEST_PROCESSES;
	struct error *error = service_open_tasks(service);
	struct guest_tasks tasks;

	if (error)
		return error;
	guest_tasks_read(service->tasks, scope, &tasks);
	buffer_append_u32(&service->answer, tasks.items.count);
	for (size_t i = 0; i < tasks.items.count; i++)
		service_append_task(service, &tasks.items.items[i]);
	guest_tasks_deinit(&tasks);
	return NULL;
}

struct error *service_answer_task(struct service *service, struct cursor *request)
{
	struct gva at = GVA(cursor_u64(request));
	struct error *error = service_open_tasks(service);
	struct guest_task task;

	if (error)
		return error;
	if (!guest_task_read(service->tasks, at, &task))
		return error_create(ERROR_NOT_FOUND, "the guest has no task at %#llx",
				    (unsigned long long)at.value);
	service_append_task(service, &task);
	return NULL;
}

static void append_mapping(struct service *service, const struct guest_mapping *mapping)
{
	const char *path = intern_string(service->strings, mapping->path);

	buffer_append_u64(&service->answer, mapping->start.value);
	buffer_append_u64(&service->answer, mapping->end.value);
	buffer_append_u64(&service->answer, mapping->file_offset);
	buffer_append_u64(&service->answer, mapping->inode);
	buffer_append_u32(&service->answer, mapping->device_major);
	buffer_append_u32(&service->answer, mapping->device_minor);
	buffer_append_u32(&service->answer, mapping->read | mapping->write << 1 |
						    mapping->execute << 2 | mapping->shared << 3);
	buffer_append_u32(&service->answer, mapping->kind);
	buffer_append_u32(&service->answer, strlen(path) + 1);
	buffer_append(&service->answer, path, strlen(path) + 1);
	buffer_append_u32(&service->answer, mapping->program.kind);
	buffer_append_u32(&service->answer, mapping->program.generation);
	buffer_append_u64(&service->answer, mapping->program.contents.value);
	buffer_append_u64(&service->answer, mapping->program.inode);
	buffer_append_u32(&service->answer, mapping->build_id.bytes);
	buffer_append(&service->answer, mapping->build_id.data, mapping->build_id.bytes);
}

static void append_mappings(struct service *service, const struct guest_mappings *mappings)
{
	buffer_append_u32(&service->answer, mappings->cut);
	buffer_append_u32(&service->answer, mappings->items.count);
	for (size_t i = 0; i < mappings->items.count; i++)
		append_mapping(service, &mappings->items.items[i]);
}

struct error *service_answer_mappings(struct service *service, struct cursor *request)
{
	struct gva mm = GVA(cursor_u64(request));
	struct error *error = service_open_mappings(service);
	struct guest_mappings mappings;

	if (error)
		return error;
	guest_mappings_read(service->mappings, mm, &mappings);
	append_mappings(service, &mappings);
	guest_mappings_deinit(&mappings);
	return NULL;
}

struct error *service_answer_areas(struct service *service, struct cursor *request)
{
	struct sampler_areas areas = { .count = cursor_u32(request) };
	struct guest_mappings mappings;
	struct error *error;
	const void *items;

	areas.vdso_image = cursor_u64(request);
	if (areas.count > SAMPLER_AREAS)
		return error_create(ERROR_BAD_DATA, "malformed request");
	items = cursor_bytes(request, areas.count * sizeof(*areas.items));
	if (!items || cursor_left(request))
		return error_create(ERROR_BAD_DATA, "malformed request");
	memcpy(areas.items, items, areas.count * sizeof(*areas.items));
	error = service_open_mappings(service);
	if (error)
		return error;
	guest_mappings_read_copied(service->mappings, &areas, &mappings);
	append_mappings(service, &mappings);
	guest_mappings_deinit(&mappings);
	return NULL;
}

struct error *service_find_program(struct service *service, struct gva mm, struct gva start,
				   struct guest_program *ret)
{
	struct error *error = open_programs(service);

	if (!error)
		error = service_open_mappings(service);
	if (error)
		return error;
	guest_space_forget(&service->space);
	if (!guest_mapping_find_program(service->mappings, mm, start, ret))
		return error_create(ERROR_NOT_FOUND, "no file is mapped at %#llx",
				    (unsigned long long)start.value);
	return NULL;
}

/* Reads a program in REQUEST, and opens ->programs. It may be another one by now: NOT_FOUND. */
static struct error *take_program(struct service *service, struct cursor *request,
				  struct guest_program *ret)
{
	struct guest_program program = { .kind = cursor_u32(request) };
	struct guest_build_id now;
	struct error *error;
	const void *build_id;
	uint32_t bytes;

	program.generation = cursor_u32(request);
	program.contents = GVA(cursor_u64(request));
	program.inode = cursor_u64(request);
	bytes = cursor_u32(request);
	build_id = cursor_bytes(request, bytes);
	if (!build_id)
		return error_create(ERROR_BAD_DATA, "malformed request");
	error = open_programs(service);
	if (error)
		return error;
	guest_space_forget(&service->space);
	service_forget_processes(service);
	now = guest_program_build_id(service->programs, &program);
	if (now.bytes != bytes || memcmp(now.data, build_id, bytes))
		return error_create(ERROR_NOT_FOUND, "another file has taken its place");
	*ret = program;
	return NULL;
}

struct error *service_answer_file_symbols(struct service *service, struct cursor *request)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	struct guest_program program;
	struct error *error = take_program(service, request, &program);

	if (!error)
		error = guest_program_symbols(service->programs, &program, &table);
	if (error)
		return error;
	symbol_table_encode(table, &service->answer);
	return NULL;
}

struct error *service_answer_file_unwind(struct service *service, struct cursor *request)
{
	_cleanup_unwind_table_ struct unwind_table *table = NULL;
	struct guest_program program;
	struct error *error = take_program(service, request, &program);

	if (!error)
		error = unwind_table_read_program(service->programs, &program, &table);
	if (error)
		return error;
	unwind_table_encode(table, &service->answer);
	return NULL;
}
