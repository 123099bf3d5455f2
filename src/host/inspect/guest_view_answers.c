/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the caged parser about a guest. The parser has read what the guest wrote and may be
 * under the guest's control by now, so answers are checked like files.
 */
#include "host/inspect/guest_view_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

#define MAX_TASKS 65536
#define MAX_MAPPINGS 65537 /* and the vsyscall page */
#define MAX_PATH_BYTES 4097

/* RET is positioned at the start of the answer. */
static struct error *ask(struct guest_view *view, enum guest_message question, const void *data,
			 size_t size, struct cursor *ret)
{
	struct error *error = guest_client_ask(view->client, question, data, size, &view->answer);

	if (!error)
		*ret = cursor_make(view->answer.data, view->answer.size, false);
	return error;
}

/* Whether the answer was read completely, with nothing left over. */
static struct error *check_whole(const struct cursor *cursor)
{
	return cursor->failed || cursor_left(cursor) ? guest_client_malformed() : NULL;
}

void guest_view_decode_task(struct cursor *cursor, struct guest_task *ret)
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

struct error *guest_view_tasks(struct guest_view *view, enum guest_task_scope scope,
			       struct guest_tasks *ret)
{
	uint32_t threads = scope == GUEST_THREADS;
	struct guest_tasks tasks = { 0 };
	struct cursor cursor;
	uint32_t count;
	struct error *error = ask(view, GUEST_ASK_TASKS, &threads, sizeof(threads), &cursor);
	if (error)
		return error;
	count = cursor_u32(&cursor);
	for (uint32_t i = 0; i < count && i < MAX_TASKS && !cursor.failed; i++) {
		struct guest_task task;

		guest_view_decode_task(&cursor, &task);
		vector_append(&tasks.items, task);
	}
	error = check_whole(&cursor);
	if (error) {
		guest_tasks_deinit(&tasks);
		return error;
	}
	*ret = tasks;
	return NULL;
}

struct error *guest_view_task(struct guest_view *view, struct gva at, struct guest_task *ret)
{
	struct guest_task task;
	struct cursor cursor;
	struct error *error = ask(view, GUEST_ASK_TASK, &at.value, sizeof(at.value), &cursor);
	if (error)
		return error;
	guest_view_decode_task(&cursor, &task);
	error = check_whole(&cursor);
	if (error)
		return error;
	*ret = task;
	return NULL;
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
	decode_build_id(cursor, &ret->build_id);
	if (ret->kind > GUEST_MAPPING_SPECIAL || ret->end.value <= ret->start.value)
		cursor->failed = true;
}

struct error *guest_view_mappings(struct guest_view *view, struct gva mm, struct intern *strings,
				  struct guest_mappings *ret)
{
	struct guest_mappings mappings = { 0 };
	struct cursor cursor;
	uint32_t count;
	struct error *error = ask(view, GUEST_ASK_MAPPINGS, &mm.value, sizeof(mm.value), &cursor);
	if (error)
		return error;
	mappings.cut = cursor_u32(&cursor);
	count = cursor_u32(&cursor);
	for (uint32_t i = 0; i < count && i < MAX_MAPPINGS && !cursor.failed; i++) {
		struct guest_mapping mapping;

		decode_mapping(&cursor, strings, &mapping);
		vector_append(&mappings.items, mapping);
	}
	error = check_whole(&cursor);
	buffer_deinit(&view->answer); /* which may be large, and there is one for each guest */
	if (error) {
		guest_mappings_deinit(&mappings);
		return error;
	}
	*ret = mappings;
	return NULL;
}

static int compare_sizes(const void *left, const void *right)
{
	const struct sampler_slot *a = left, *b = right;

	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

void guest_view_describe_slots(const struct host_vm_memory *memory, struct sampler_vm *ret)
{
	VECTOR(struct sampler_slot) slots = { 0 };

	for (size_t i = 0; i < memory->slots.count; i++) {
		const struct host_vm_slot *slot = &memory->slots.items[i];

		vector_append(&slots,
			      (struct sampler_slot){ slot->start.value, slot->bytes, slot->hva });
	}
	if (slots.count)
		qsort(slots.items, slots.count, sizeof(*slots.items), compare_sizes);
	ret->slot_count = slots.count < SAMPLER_MAX_SLOTS ? slots.count : SAMPLER_MAX_SLOTS;
	for (size_t i = 0; i < ret->slot_count; i++)
		ret->slots[i] = slots.items[i];
	vector_deinit(&slots);
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

struct error *guest_view_describe(struct guest_view *view, uint64_t version,
				  struct sampler_vm *ret, struct guest_cpus *ret_cpus)
{
	struct sampler_vm vm = { .version = version, .version_again = version };
	struct guest_cpus cpus = { 0 };
	const void *current;
	struct cursor cursor;
	struct error *error = ask(view, GUEST_ASK_CURRENT, NULL, 0, &cursor);

	if (error)
		return error;
	current = cursor_bytes(&cursor, sizeof(vm.current));
	if (current)
		memcpy(&vm.current, current, sizeof(vm.current));
	decode_cpus(&cursor, &cpus);
	error = check_whole(&cursor);
	if (error) {
		guest_cpus_deinit(&cpus);
		return error;
	}
	guest_view_describe_slots(&view->memory, &vm);
	*ret = vm;
	*ret_cpus = cpus;
	return NULL;
}

static void put_registers(const struct arch_mmu *mmu, uint64_t cr3, uint64_t *ret)
{
	ret[0] = mmu->x86.cr0;
	ret[1] = cr3;
	ret[2] = mmu->x86.cr4;
	ret[3] = mmu->x86.efer;
}

/*
 * The registers of vCPUs that run the guest's own kernel. The bit selects the half of the page
 * tables that maps the kernel, but only with PTI; without PTI, page tables may be at any page
 * (Linux 7.2). Both readings are tried.
 */
static size_t gather_registers(const struct host_vm_memory *memory,
			       uint64_t (*ret)[GUEST_WIRE_REGISTERS])
{
	size_t count = 0;

	for (size_t i = 0; i < memory->registers.count && count + 2 <= GUEST_STATE_MMUS; i++) {
		const struct host_vm_registers *registers = &memory->registers.items[i];
		uint64_t cr3 = registers->mmu.x86.cr3;

		if (!guest_view_has_page_tables(registers))
			continue;
		put_registers(&registers->mmu, cr3, ret[count++]);
		if (cr3 & PTI_USER_HALF)
			put_registers(&registers->mmu, cr3 & ~PTI_USER_HALF, ret[count++]);
	}
	return count;
}

struct error *guest_view_ask_state(struct guest_view *view, const struct host_vm_memory *memory,
				   struct guest_state *ret)
{
	uint64_t registers[GUEST_STATE_MMUS][GUEST_WIRE_REGISTERS];
	size_t count = gather_registers(memory, registers);
	struct guest_state state;
	struct cursor cursor;
	struct error *error = ask(view, GUEST_ASK_STATE, registers, count * sizeof(*registers),
				  &cursor);
	if (error)
		return error;
	state.kernel = cursor_u64(&cursor);
	state.modules = cursor_u64(&cursor);
	error = check_whole(&cursor);
	if (error)
		return error;
	*ret = state;
	return NULL;
}
