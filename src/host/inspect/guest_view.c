/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a guest: finds its memory slots and a vCPU whose page tables map a kernel, and starts a
 * caged parser. If the host cannot report CR3, a vCPU in long mode is enough: the parser then
 * searches for page tables. Most questions that follow are in guest_view_answers.c.
 */
#include "host/inspect/guest_view_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "base/memory.h"
#include "guest/kernel/kernel_search.h"
#include "host/inspect/guest_answers.h"
#include "host/inspect/guest_recall.h"

/*
 * Not below /run: an entry takes about 20 MB per guest, and memory is scarce on a host of guests.
 * Not in root's home, which other users' settings can redirect (sudo -E).
 */
#define CACHE_FOLDER "/var/cache/perfvisor"
#define MAX_VCPUS_TRIED 8

/* A kernel with all its modules and 10,000 processes takes about 20 MB. */
static const struct guest_client_limits limits = { .bytes_per_call = 64 << 20,
						   .seconds_per_call = 60 };
/*
 * The page tables of a kernel image and 16 MB of it. Takes ten milliseconds if nothing else runs.
 */
static const struct guest_client_limits names_limits = { .bytes_per_call = 24 << 20,
							 .seconds_per_call = 10 };

/* A question that says which registers to use to look at the guest, and receives the answer. */
typedef struct error *open_question(struct guest_view *view, const struct arch_mmu *mmu);

static struct error *open_kernel(struct guest_view *view, const struct arch_mmu *mmu)
{
	struct error *error = guest_client_open(view->client, mmu, &view->answer);

	if (!error && !guest_answer_opened(&view->answer, &view->kernel))
		error = guest_client_malformed();
	return error;
}

static struct error *ask_names(struct guest_view *view, const struct arch_mmu *mmu)
{
	struct error *error = guest_client_ask_names(view->client, mmu, &view->answer);

	if (!error && !guest_answer_names(&view->answer, &view->kernel.names))
		error = guest_client_malformed();
	return error;
}

/*
 * With PTI, the user half of the page tables maps next to nothing of the kernel, so the other half
 * is tried first.
 */
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

/*
 * A nested guest's page tables are not this guest's. Page tables of guests on Intel hosts can be
 * searched for.
 */
bool guest_view_has_page_tables(const struct host_vm_registers *registers)
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

		if (!guest_view_has_page_tables(registers) || (searched && !registers->mmu.x86.cr3))
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
		if (guest_view_has_page_tables(&ret->registers.items[i]))
			return NULL;
	return error_create(ERROR_NOT_FOUND, "no vCPU of VM '%s' has known page tables", vm->name);
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

/* Starts a parser for a guest whose memory can be read. */
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

/* About the program of MAPPING. */
static struct error *ask_of_program(struct guest_view *view, enum guest_message question,
				    const struct guest_mapping *mapping, struct buffer *ret)
{
	const struct guest_program *program = &mapping->program;
	_cleanup_buffer_ struct buffer request;

	buffer_init(&request, 4096);
	buffer_append_u32(&request, program->kind);
	buffer_append_u32(&request, program->generation);
	buffer_append_u64(&request, program->contents.value);
	buffer_append_u64(&request, program->inode);
	buffer_append_u32(&request, mapping->build_id.bytes);
	buffer_append(&request, mapping->build_id.data, mapping->build_id.bytes);
	return guest_client_ask(view->client, question, request.data, request.size, ret);
}

struct error *guest_view_file_symbols(struct guest_view *view, const struct guest_mapping *mapping,
				      struct buffer *ret)
{
	return ask_of_program(view, GUEST_ASK_FILE_SYMBOLS, mapping, ret);
}

/* A table is decoded from the answer, which is not needed any more and may be large. */
static struct error *decode_unwind_table(struct guest_view *view, struct unwind_table **ret)
{
	struct error *error = unwind_table_decode(view->answer.data, view->answer.size, ret);

	buffer_deinit(&view->answer);
	return error;
}

struct error *guest_view_file_unwind_table(struct guest_view *view,
					   const struct guest_mapping *mapping,
					   struct unwind_table **ret)
{
	struct error *error =
		ask_of_program(view, GUEST_ASK_FILE_UNWIND, mapping, &view->answer);

	return error ? error : decode_unwind_table(view, ret);
}

struct error *guest_view_unwind_table(struct guest_view *view, struct unwind_table **ret)
{
	struct error *error = guest_recall_table(view->client, &view->cache, GUEST_ASK_UNWIND,
						 GUEST_CACHE_UNWIND, &view->answer);

	return error ? error : decode_unwind_table(view, ret);
}

struct error *guest_view_calls(struct guest_view *view, struct unwind_calls **ret)
{
	struct error *error =
		guest_client_ask(view->client, GUEST_ASK_CALLS, NULL, 0, &view->answer);

	if (!error)
		error = unwind_calls_decode(view->answer.data, view->answer.size, ret);
	buffer_deinit(&view->answer);
	return error;
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
		error = guest_view_ask_state(view, &now, ret);
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
