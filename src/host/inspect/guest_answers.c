/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every decoder reads the whole answer, with nothing left over; counts and lengths are limited. */
#include "host/inspect/guest_answers.h"

#include <string.h>

#define MAX_TASKS 65536
#define MAX_MAPPINGS 65537 /* and the vsyscall page */
#define MAX_PATH_BYTES 4097

static struct cursor start(const struct buffer *answer)
{
	return cursor_make(answer->data, answer->size, false);
}

static bool is_whole(const struct cursor *cursor)
{
	return !cursor->failed && !cursor_left(cursor);
}

static bool decode_text(struct cursor *cursor, char *text, size_t size)
{
	uint32_t length = cursor_u32(cursor);
	const void *bytes = cursor_bytes(cursor, length);

	if (!bytes || length >= size)
		return false;
	memcpy(text, bytes, length);
	text[length] = 0;
	return true;
}

static bool decode_names(struct cursor *cursor, struct guest_uts *ret)
{
	return decode_text(cursor, ret->release, sizeof(ret->release)) &&
	       decode_text(cursor, ret->host_name, sizeof(ret->host_name));
}

bool guest_answer_names(const struct buffer *answer, struct guest_uts *ret)
{
	struct cursor cursor = start(answer);

	return decode_names(&cursor, ret) && is_whole(&cursor);
}

bool guest_answer_opened(const struct buffer *answer, struct guest_view_kernel *ret)
{
	struct cursor cursor = start(answer);
	struct guest_view_kernel kernel = { 0 };
	const void *bytes;

	kernel.recalled = cursor_u32(&cursor);
	kernel.start = cursor_u64(&cursor);
	kernel.end = cursor_u64(&cursor);
	kernel.has_types = cursor_u32(&cursor);
	kernel.has_data_symbols = cursor_u32(&cursor);
	kernel.build_id_bytes = cursor_u32(&cursor);
	bytes = cursor_bytes(&cursor, kernel.build_id_bytes);
	if (!bytes || kernel.build_id_bytes > sizeof(kernel.build_id))
		return false;
	memcpy(kernel.build_id, bytes, kernel.build_id_bytes);
	if (!decode_names(&cursor, &kernel.names) || !is_whole(&cursor))
		return false;
	*ret = kernel;
	return true;
}

void guest_answer_read_task(struct cursor *cursor, struct guest_task *ret)
{
	const char *comm, *name;

	*ret = (struct guest_task){ .at = GVA(cursor_u64(cursor)) };
	ret->mm = GVA(cursor_u64(cursor));
	ret->page_tables = GPA(cursor_u64(cursor));
	ret->stack = GVA(cursor_u64(cursor));
	ret->pid = cursor_u32(cursor);
	ret->tgid = cursor_u32(cursor);
	ret->namespace_pid = cursor_u32(cursor);
	ret->namespace_level = cursor_u32(cursor);
	ret->kernel_thread = cursor_u32(cursor);
	comm = cursor_string_field(cursor, sizeof(ret->comm));
	name = cursor_string_field(cursor, sizeof(ret->name));
	if (!comm || !name)
		return;
	memcpy(ret->comm, comm, sizeof(ret->comm));
	memcpy(ret->name, name, sizeof(ret->name));
}

bool guest_answer_task(const struct buffer *answer, struct guest_task *ret)
{
	struct cursor cursor = start(answer);
	struct guest_task task;

	guest_answer_read_task(&cursor, &task);
	if (!is_whole(&cursor))
		return false;
	*ret = task;
	return true;
}

bool guest_answer_tasks(const struct buffer *answer, struct guest_tasks *ret)
{
	struct cursor cursor = start(answer);
	uint32_t count = cursor_u32(&cursor);
	struct guest_tasks tasks = { 0 };

	for (uint32_t i = 0; i < count && i < MAX_TASKS && !cursor.failed; i++) {
		struct guest_task task;

		guest_answer_read_task(&cursor, &task);
		vector_append(&tasks.items, task);
	}
	if (!is_whole(&cursor)) {
		guest_tasks_deinit(&tasks);
		return false;
	}
	*ret = tasks;
	return true;
}

static void decode_build_id(struct cursor *cursor, struct guest_build_id *ret)
{
	uint32_t bytes = cursor_u32(cursor);
	const void *data = cursor_bytes(cursor, bytes);

	if (!data || bytes > sizeof(ret->data)) {
		cursor->failed = true;
		return;
	}
	memcpy(ret->data, data, bytes);
	ret->bytes = bytes;
}

static void decode_mapping(struct cursor *cursor, struct intern *strings,
			   struct guest_mapping *ret)
{
	uint32_t flags, length;
	const char *path;

	*ret = (struct guest_mapping){ .start = GVA(cursor_u64(cursor)) };
	ret->end = GVA(cursor_u64(cursor));
	ret->file_offset = cursor_u64(cursor);
	ret->inode = cursor_u64(cursor);
	ret->device_major = cursor_u32(cursor);
	ret->device_minor = cursor_u32(cursor);
	flags = cursor_u32(cursor);
	ret->read = flags & 1;
	ret->write = flags & 2;
	ret->execute = flags & 4;
	ret->shared = flags & 8;
	ret->kind = cursor_u32(cursor);
	length = cursor_u32(cursor);
	path = cursor_string_field(cursor, length <= MAX_PATH_BYTES ? length : 0);
	ret->path = intern_text(strings, path ? path : "");
	ret->program.kind = cursor_u32(cursor);
	ret->program.generation = cursor_u32(cursor);
	ret->program.contents = GVA(cursor_u64(cursor));
	ret->program.inode = cursor_u64(cursor);
	decode_build_id(cursor, &ret->build_id);
	if (ret->program.kind > GUEST_PROGRAM_VDSO || ret->kind > GUEST_MAPPING_SPECIAL ||
	    ret->end.value <= ret->start.value)
		cursor->failed = true;
}

bool guest_answer_mappings(const struct buffer *answer, struct intern *strings,
			   struct guest_mappings *ret)
{
	struct cursor cursor = start(answer);
	struct guest_mappings mappings = { .cut = cursor_u32(&cursor) };
	uint32_t count = cursor_u32(&cursor);

	for (uint32_t i = 0; i < count && i < MAX_MAPPINGS && !cursor.failed; i++) {
		struct guest_mapping mapping;

		decode_mapping(&cursor, strings, &mapping);
		vector_append(&mappings.items, mapping);
	}
	if (!is_whole(&cursor)) {
		guest_mappings_deinit(&mappings);
		return false;
	}
	*ret = mappings;
	return true;
}

static void decode_cpus(struct cursor *cursor, struct guest_cpus *ret)
{
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count && i < GUEST_CPUS_MAX && !cursor->failed; i++) {
		struct guest_cpu cpu = { .apic_id = cursor_u32(cursor) };

		cpu.base = GVA(cursor_u64(cursor));
		vector_append(&ret->items, cpu);
	}
}

bool guest_answer_current(const struct buffer *answer, struct guest_current *ret,
			  struct guest_cpus *ret_cpus)
{
	struct cursor cursor = start(answer);
	const void *current = cursor_bytes(&cursor, sizeof(*ret));
	struct guest_cpus cpus = { 0 };

	decode_cpus(&cursor, &cpus);
	if (!is_whole(&cursor)) {
		guest_cpus_deinit(&cpus);
		return false;
	}
	memcpy(ret, current, sizeof(*ret));
	*ret_cpus = cpus;
	return true;
}

bool guest_answer_state(const struct buffer *answer, struct guest_state *ret)
{
	struct cursor cursor = start(answer);
	struct guest_state state = { .kernel = cursor_u64(&cursor) };

	state.modules = cursor_u64(&cursor);
	if (!is_whole(&cursor))
		return false;
	*ret = state;
	return true;
}
