/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening a guest: its memory slots, a vCPU whose page tables map a kernel (or one in long mode, where
 * the host cannot say CR3: the parser looks for page tables then), a caged parser; then questions and
 * their checked answers.
 */
#include "host/guest_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "base/memory.h"
#include "guest/kernel_search.h"
#include "host/guest_client.h"
#include "host/guest_recall.h"

/*
 * Not below /run: this is some 20 MB for each guest, and memory is what a host of guests has none to
 * spare of. Not root's home, which other users' settings can lead elsewhere (sudo -E).
 */
#define CACHE_FOLDER "/var/cache/perfvisor"
#define MAX_VCPUS_TRIED 8
#define PTI_USER_HALF (1ULL << 12) /* of CR3: the page tables that user code runs on */
#define MAX_TASKS 65536
#define MAX_MAPPINGS 65537 /* and the vsyscall page */
#define MAX_PATH_BYTES 4097

/* A kernel with all its modules and 10,000 processes takes about 20 MB. */
static const struct guest_client_limits limits = { .bytes_per_call = 64 << 20,
						   .seconds_per_call = 60 };
/* The page tables of a kernel image and 16 MB of it. Ten milliseconds, where nothing else runs. */
static const struct guest_client_limits names_limits = { .bytes_per_call = 24 << 20,
							 .seconds_per_call = 10 };

struct guest_view {
	struct host_vm_memory memory;
	struct guest_cache_vm cache;
	struct guest_client *client;
	struct buffer answer;
	struct guest_view_kernel kernel;
};

/* A question that says which registers to look at the guest by, and takes the answer. */
typedef struct error *open_question(struct guest_view *view, const struct arch_mmu *mmu);

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

static bool decode_opened(const struct buffer *answer, struct guest_view_kernel *ret)
{
	struct cursor cursor = cursor_make(answer->data, answer->size, false);
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
	if (!decode_names(&cursor, &kernel.names))
		return false;
	*ret = kernel;
	return true;
}

static struct error *open_kernel(struct guest_view *view, const struct arch_mmu *mmu)
{
	struct error *error = guest_client_open(view->client, mmu, &view->answer);

	if (!error && !decode_opened(&view->answer, &view->kernel))
		error = error_create(ERROR_BAD_DATA, "the guest parser gave a malformed answer");
	return error;
}

static struct error *ask_names(struct guest_view *view, const struct arch_mmu *mmu)
{
	struct error *error = guest_client_ask_names(view->client, mmu, &view->answer);
	struct cursor cursor;

	if (error)
		return error;
	cursor = cursor_make(view->answer.data, view->answer.size, false);
	if (!decode_names(&cursor, &view->kernel.names))
		return error_create(ERROR_BAD_DATA, "the guest parser gave a malformed answer");
	return NULL;
}

/* Of a kernel with PTI the user half maps no kernel to speak of: its other half goes first. */
static struct error *try_vcpu(struct guest_view *view, open_question *ask,
			      const struct arch_mmu *mmu)
{
	struct arch_mmu kernel_half = *mmu;
	struct error *error;

	if (!(mmu->x86.cr3 & PTI_USER_HALF))
		return ask(view, mmu);
	kernel_half.x86.cr3 &= ~PTI_USER_HALF;
	error = ask(view, &kernel_half);
	if (!error || error_code(error) != ERROR_NOT_FOUND)
		return error;
	error_destroy(error);
	return ask(view, mmu);
}

/* A nested guest's page tables are not this guest's; those of guests on Intel hosts can be looked for. */
static bool has_page_tables(const struct host_vm_registers *registers)
{
	return !registers->nested &&
	       (registers->mmu.x86.cr3 || guest_kernel_search_wanted(&registers->mmu));
}

/* At least one vCPU has page tables. */
static struct error *find_kernel(struct guest_view *view, open_question *ask)
{
	struct error *error = NULL;
	bool searched = false;
	size_t tried = 0;

	for (size_t i = 0; i < view->memory.registers.count && tried < MAX_VCPUS_TRIED; i++) {
		const struct host_vm_registers *registers = &view->memory.registers.items[i];

		if (!has_page_tables(registers) || (searched && !registers->mmu.x86.cr3))
			continue;
		searched |= !registers->mmu.x86.cr3;
		error_destroy(error);
		error = try_vcpu(view, ask, &registers->mmu);
		if (!error || error_code(error) != ERROR_NOT_FOUND)
			return error;
		tried++;
	}
	return error;
}

static struct error *find_memory(struct vm_memory_finder *finder, const struct host_vm *vm,
				 struct host_vm_memory *ret)
{
	struct error *error = vm_memory_find(finder, vm, ret);

	if (error)
		return error;
	for (size_t i = 0; i < ret->registers.count; i++)
		if (has_page_tables(&ret->registers.items[i]))
			return NULL;
	return error_create(ERROR_NOT_FOUND, "no vCPU of VM '%s' says where its page tables are",
			    vm->name);
}

struct error *guest_view_start_parser(struct host_vm_memory *memory,
				      const struct guest_client_limits *to,
				      struct guest_client **ret)
{
	struct guest_memory_source source = host_vm_memory_source(memory);
	VECTOR(struct guest_slot) slots = { 0 };
	struct error *error;

	for (size_t i = 0; i < memory->slots.count; i++)
		vector_append(&slots, (struct guest_slot){ memory->slots.items[i].start,
							   memory->slots.items[i].bytes });
	error = guest_client_start(&source, slots.items, slots.count, to, ret);
	vector_deinit(&slots);
	return error;
}

/* A parser that has a guest's memory to read. */
static struct error *start_view(struct vm_memory_finder *finder, const struct host_vm *vm,
				const struct guest_client_limits *to, struct guest_view **ret)
{
	_cleanup_guest_view_ struct guest_view *view = memory_calloc(1, sizeof(*view));
	struct error *error;

	buffer_init(&view->answer, GUEST_MESSAGE_MAX);
	error = find_memory(finder, vm, &view->memory);
	if (!error)
		error = guest_view_start_parser(&view->memory, to, &view->client);
	if (error)
		return error;
	*ret = take_pointer(view);
	return NULL;
}

struct error *guest_view_open(struct vm_memory_finder *finder, const struct host_vm *vm,
			      struct guest_view **ret)
{
	_cleanup_guest_view_ struct guest_view *view = NULL;
	struct error *error = start_view(finder, vm, &limits, &view);

	if (error)
		return error;
	guest_cache_vm_init(&view->cache, CACHE_FOLDER, vm->pid, vm->fd);
	error = guest_recall_kernel(view->client, &view->cache);
	if (!error)
		error = find_kernel(view, open_kernel);
	if (error)
		return error;
	if (!view->kernel.recalled)
		guest_recall_keep_kernel(view->client, &view->cache);
	*ret = take_pointer(view);
	return NULL;
}

struct error *guest_view_ask_names(struct vm_memory_finder *finder, const struct host_vm *vm,
				   struct guest_uts *ret)
{
	_cleanup_guest_view_ struct guest_view *view = NULL;
	struct error *error = start_view(finder, vm, &names_limits, &view);

	if (!error)
		error = find_kernel(view, ask_names);
	if (!error)
		*ret = view->kernel.names;
	return error;
}

void guest_view_close(struct guest_view *view)
{
	if (!view)
		return;
	guest_client_stop(view->client);
	host_vm_memory_deinit(&view->memory);
	buffer_deinit(&view->answer);
	free(view);
}

const struct guest_view_kernel *guest_view_get_kernel(const struct guest_view *view)
{
	return &view->kernel;
}

struct error *guest_view_refresh(struct guest_view *view)
{
	return guest_client_ask(view->client, GUEST_ASK_REFRESH, NULL, 0, &view->answer);
}

struct error *guest_view_kallsyms(struct guest_view *view, struct buffer *ret)
{
	return guest_client_ask(view->client, GUEST_ASK_KALLSYMS, NULL, 0, ret);
}

struct error *guest_view_modules(struct guest_view *view, struct buffer *ret)
{
	return guest_client_ask(view->client, GUEST_ASK_MODULES, NULL, 0, ret);
}

struct error *guest_view_symbols(struct guest_view *view, struct buffer *ret)
{
	return guest_recall_table(view->client, &view->cache, GUEST_ASK_SYMBOLS,
				  GUEST_CACHE_SYMBOLS, ret);
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
	struct error *error;

	error = guest_client_ask(view->client, GUEST_ASK_TASKS, &threads, sizeof(threads),
				 &view->answer);
	if (error)
		return error;
	cursor = cursor_make(view->answer.data, view->answer.size, false);
	count = cursor_u32(&cursor);
	for (uint32_t i = 0; i < count && i < MAX_TASKS && !cursor.failed; i++) {
		struct guest_task task;

		guest_view_decode_task(&cursor, &task);
		vector_append(&tasks.items, task);
	}
	if (cursor.failed || cursor_left(&cursor)) {
		guest_tasks_deinit(&tasks);
		return error_create(ERROR_BAD_DATA, "the guest parser gave a malformed answer");
	}
	*ret = tasks;
	return NULL;
}

struct error *guest_view_task(struct guest_view *view, struct gva at, struct guest_task *ret)
{
	struct guest_task task;
	struct cursor cursor;
	struct error *error;

	error = guest_client_ask(view->client, GUEST_ASK_TASK, &at.value, sizeof(at.value),
				 &view->answer);
	if (error)
		return error;
	cursor = cursor_make(view->answer.data, view->answer.size, false);
	guest_view_decode_task(&cursor, &task);
	if (cursor.failed || cursor_left(&cursor))
		return error_create(ERROR_BAD_DATA, "the guest parser gave a malformed answer");
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
	struct error *error;

	error = guest_client_ask(view->client, GUEST_ASK_MAPPINGS, &mm.value, sizeof(mm.value),
				 &view->answer);
	if (error)
		return error;
	cursor = cursor_make(view->answer.data, view->answer.size, false);
	mappings.cut = cursor_u32(&cursor);
	count = cursor_u32(&cursor);
	for (uint32_t i = 0; i < count && i < MAX_MAPPINGS && !cursor.failed; i++) {
		struct guest_mapping mapping;

		decode_mapping(&cursor, strings, &mapping);
		vector_append(&mappings.items, mapping);
	}
	if (cursor.failed || cursor_left(&cursor)) {
		guest_mappings_deinit(&mappings);
		return error_create(ERROR_BAD_DATA, "the guest parser gave a malformed answer");
	}
	*ret = mappings;
	return NULL;
}

struct error *guest_view_file_symbols(struct guest_view *view, struct gva mm, struct gva start,
				      struct buffer *ret)
{
	uint64_t request[] = { mm.value, start.value };

	return guest_client_ask(view->client, GUEST_ASK_FILE_SYMBOLS, request, sizeof(request), ret);
}

struct error *guest_view_file_unwind_table(struct guest_view *view, struct gva mm, struct gva start,
					   struct unwind_table **ret)
{
	uint64_t request[] = { mm.value, start.value };
	struct error *error = guest_client_ask(view->client, GUEST_ASK_FILE_UNWIND, request,
					       sizeof(request), &view->answer);

	return error ? error : unwind_table_decode(view->answer.data, view->answer.size, ret);
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

struct error *guest_view_unwind_table(struct guest_view *view, struct unwind_table **ret)
{
	struct error *error = guest_recall_table(view->client, &view->cache, GUEST_ASK_UNWIND,
						 GUEST_CACHE_UNWIND, &view->answer);

	return error ? error : unwind_table_decode(view->answer.data, view->answer.size, ret);
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
	struct cursor cursor;
	struct error *error;

	error = guest_client_ask(view->client, GUEST_ASK_CURRENT, NULL, 0, &view->answer);
	if (error)
		return error;
	cursor = cursor_make(view->answer.data, view->answer.size, false);
	vm.page_tables = cursor_u64(&cursor);
	vm.current_offset = cursor_u64(&cursor);
	vm.levels = cursor_u32(&cursor);
	vm.task_pid = cursor_u32(&cursor);
	vm.task_tgid = cursor_u32(&cursor);
	vm.task_comm = cursor_u32(&cursor);
	vm.task_mm = cursor_u32(&cursor);
	vm.mm_pgd = cursor_u32(&cursor);
	vm.task_stack = cursor_u32(&cursor);
	vm.stack_bytes = cursor_u32(&cursor);
	vm.irq_stack_offset = cursor_u64(&cursor);
	decode_cpus(&cursor, &cpus);
	if (cursor.failed || cursor_left(&cursor)) {
		guest_cpus_deinit(&cpus);
		return error_create(ERROR_BAD_DATA, "the guest parser gave a malformed answer");
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
 * The registers of vCPUs that run the guest's own kernel. Only with PTI does the bit mean that another
 * half maps the kernel; without it, page tables may be at any page (Linux 7.2). Both are tried.
 */
static size_t gather_registers(const struct host_vm_memory *memory,
			       uint64_t (*ret)[GUEST_WIRE_REGISTERS])
{
	size_t count = 0;

	for (size_t i = 0; i < memory->registers.count && count + 2 <= GUEST_STATE_MMUS; i++) {
		const struct host_vm_registers *registers = &memory->registers.items[i];
		uint64_t cr3 = registers->mmu.x86.cr3;

		if (!has_page_tables(registers))
			continue;
		put_registers(&registers->mmu, cr3, ret[count++]);
		if (cr3 & PTI_USER_HALF)
			put_registers(&registers->mmu, cr3 & ~PTI_USER_HALF, ret[count++]);
	}
	return count;
}

static struct error *ask_state(struct guest_view *view, const struct host_vm_memory *memory,
			       struct guest_state *ret)
{
	uint64_t registers[GUEST_STATE_MMUS][GUEST_WIRE_REGISTERS];
	size_t count = gather_registers(memory, registers);
	struct guest_state state;
	struct cursor cursor;
	struct error *error;

	error = guest_client_ask(view->client, GUEST_ASK_STATE, registers,
				 count * sizeof(*registers), &view->answer);
	if (error)
		return error;
	cursor = cursor_make(view->answer.data, view->answer.size, false);
	state.kernel = cursor_u64(&cursor);
	state.modules = cursor_u64(&cursor);
	if (cursor.failed || cursor_left(&cursor))
		return error_create(ERROR_BAD_DATA, "the guest parser gave a malformed answer");
	*ret = state;
	return NULL;
}

static bool same_slots(const struct host_vm_memory *left, const struct host_vm_memory *right)
{
	size_t count = left->slots.count;

	return count == right->slots.count &&
	       (!count || !memcmp(left->slots.items, right->slots.items,
				  count * sizeof(*left->slots.items)));
}

uint64_t guest_view_slots(const struct guest_view *view)
{
	return hash_bytes(view->memory.slots.items,
			  view->memory.slots.count * sizeof(*view->memory.slots.items));
}

struct error *guest_view_check(struct guest_view *view, struct vm_memory_finder *finder,
			       const struct host_vm *vm, struct guest_state *ret)
{
	struct host_vm_memory now = { 0 };
	struct error *error = vm_memory_find(finder, vm, &now);

	if (error)
		return error;
	if (same_slots(&now, &view->memory))
		error = ask_state(view, &now, ret);
	else
		error = error_create(ERROR_NOT_FOUND, "the memory slots of VM '%s' have changed",
				     vm->name);
	host_vm_memory_deinit(&now);
	return error;
}

struct error *guest_view_ask(struct guest_view *view, enum guest_message question, const void *data,
			     size_t size, struct buffer *ret)
{
	return guest_client_ask(view->client, question, data, size, ret);
}

uint64_t guest_view_bytes_read(const struct guest_view *view)
{
	return guest_client_bytes_read(view->client);
}
