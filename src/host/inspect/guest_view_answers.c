/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to the caged parser about a guest; guest_answers.h decodes the answers. */
#include "host/inspect/guest_view_private.h"

#include <stdlib.h>
#include <string.h>

#include "host/inspect/guest_answers.h"

/* The answer is in VIEW then. */
static struct error *ask(struct guest_view *view, enum guest_message question, const void *data,
			 size_t size)
{
	return guest_client_ask(view->client, question, data, size, &view->answer);
}

struct error *guest_view_tasks(struct guest_view *view, enum guest_task_scope scope,
			       struct guest_tasks *ret)
{
	uint32_t threads = scope == GUEST_THREADS;
	struct error *error = ask(view, GUEST_ASK_TASKS, &threads, sizeof(threads));

	if (!error && !guest_answer_tasks(&view->answer, ret))
		error = guest_client_malformed();
	return error;
}

struct error *guest_view_task(struct guest_view *view, struct gva at, struct guest_task *ret)
{
	struct error *error = ask(view, GUEST_ASK_TASK, &at.value, sizeof(at.value));

	if (!error && !guest_answer_task(&view->answer, ret))
		error = guest_client_malformed();
	return error;
}

struct error *guest_view_mappings(struct guest_view *view, struct gva mm, struct intern *strings,
				  struct guest_mappings *ret)
{
	struct error *error = ask(view, GUEST_ASK_MAPPINGS, &mm.value, sizeof(mm.value));

	if (!error && !guest_answer_mappings(&view->answer, strings, ret))
		error = guest_client_malformed();
	buffer_deinit(&view->answer); /* which may be large, and there is one for each guest */
	return error;
}

static int compare_starts(const void *left, const void *right)
{
	const struct guest_mapping *a = left, *b = right;

	return (a->start.value > b->start.value) - (a->start.value < b->start.value);
}

struct error *guest_view_copied_mappings(struct guest_view *view, const struct sampler_areas *areas,
					 struct intern *strings, struct guest_mappings *ret)
{
	_cleanup_buffer_ struct buffer request;
	struct error *error;

	buffer_init(&request, sizeof(*areas));
	buffer_append_u32(&request, areas->count);
	buffer_append_u64(&request, areas->vdso_image);
	buffer_append(&request, areas->items, areas->count * sizeof(*areas->items));
	error = ask(view, GUEST_ASK_AREAS, request.data, request.size);
	if (!error && !guest_answer_mappings(&view->answer, strings, ret))
		error = guest_client_malformed();
	buffer_deinit(&view->answer);
	if (!error && ret->items.count)
		qsort(ret->items.items, ret->items.count, sizeof(*ret->items.items),
		      compare_starts);
	return error;
}

struct error *guest_view_functions(struct guest_view *view, struct gva mm, struct gva start,
				   const uint64_t *addresses, size_t count, struct buffer *ret)
{
	uint64_t request[2 + GUEST_FUNCTION_ADDRESSES] = { mm.value, start.value };

	if (count > GUEST_FUNCTION_ADDRESSES)
		count = GUEST_FUNCTION_ADDRESSES;
	memcpy(request + 2, addresses, count * sizeof(*addresses));
	return guest_client_ask(view->client, GUEST_ASK_FUNCTIONS, request,
				(2 + count) * sizeof(*request), ret);
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

struct error *guest_view_describe(struct guest_view *view, uint64_t version,
				  struct sampler_vm *ret, struct guest_cpus *ret_cpus)
{
	struct sampler_vm vm = { .version = version, .version_again = version };
	struct error *error = ask(view, GUEST_ASK_CURRENT, NULL, 0);

	if (!error && !guest_answer_current(&view->answer, &vm.current, ret_cpus))
		error = guest_client_malformed();
	if (error)
		return error;
	guest_view_describe_slots(&view->memory, &vm);
	*ret = vm;
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
	struct error *error = ask(view, GUEST_ASK_STATE, registers, count * sizeof(*registers));

	if (!error && !guest_answer_state(&view->answer, ret))
		error = guest_client_malformed();
	return error;
}
