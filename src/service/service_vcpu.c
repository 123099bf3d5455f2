/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a vCPU runs: the chain from its registers, through the kernel and the user program, with
 * names. The stacks are in the request, copied together with the registers; or the vCPU is stopped,
 * and they are read from memory.
 *
 * Of the files that a process has mapped, only those that the chain passes through are read.
 */
#include <string.h>

#include "base/memory.h"
#include "guest/process/running.h"
#include "service/service_private.h"
#include "symbol/table.h"
#include "unwind/program/program_table.h"
#include "unwind/program/user.h"

#define PAGE_BYTES 4096
#define MAX_USER_STACK_BYTES (32 << 10) /* read from memory */
#define MAX_USER_FILES 64               /* in one chain */

struct vcpu {
	bool user, still;
	struct unwind_registers registers;
	struct guest_task task;
	bool has_task;
	uint64_t gs_base;
	struct arch_mmu mmu;
	struct unwind_stack stacks[GUEST_VCPU_STACKS]; /* the kernel's, with the user's last */
	uint8_t *kernel_copy, *user_copy;              /* from memory; owned */
};

/* A file or vDSO that the process has mapped. */
struct code_file {
	bool tried;
	struct unwind_table *unwind; /* NULL: none */
	struct symbol_table *symbols;
};

struct user_code {
	struct service *service;
	struct gva mm;
	struct guest_mappings mappings;
	VECTOR(struct unwind_mapping) code;
	VECTOR(size_t) mapping;         /* for each code, its index in MAPPINGS */
	VECTOR(struct code_file) files; /* for each code */
	size_t read;
};

static void take_registers(struct cursor *request, struct unwind_registers *ret)
{
	ret->ip = cursor_u64(request);
	ret->sp = cursor_u64(request);
	ret->bp = cursor_u64(request);
	ret->others = cursor_bytes(request, UNWIND_GENERAL_REGISTERS * sizeof(uint64_t));
}

static void take_stack(struct cursor *request, struct unwind_stack *ret)
{
	ret->start = GVA(cursor_u64(request));
	ret->end = GVA(cursor_u64(request));
	ret->bytes = cursor_u32(request);
	ret->data = cursor_bytes(request, ret->bytes);
	if (!ret->data)
		ret->bytes = 0;
}

/* *RET_TASK: its task_struct; 0: unknown. */
static bool take_vcpu(const struct service *service, struct cursor *request, struct vcpu *vcpu,
		      struct gva *ret_task)
{
	uint32_t count;

	vcpu->user = cursor_u32(request);
	take_registers(request, &vcpu->registers);
	*ret_task = GVA(cursor_u64(request));
	vcpu->gs_base = cursor_u64(request);
	service_take_registers(request, service->space.mmu.arch, &vcpu->mmu);
	count = cursor_u32(request);
	vcpu->still = !count;
	for (uint32_t i = 0; i < count && i < GUEST_VCPU_STACKS; i++)
		take_stack(request, &vcpu->stacks[i]);
	return !request->failed && !cursor_left(request) && (!count || count == GUEST_VCPU_STACKS);
}

static void find_task(struct service *service, const struct guest_current *current, struct gva task,
		      struct vcpu *vcpu)
{
	struct gva pointer = GVA(vcpu->gs_base + current->task_offset);

	if (!task.value && !guest_space_read_u64(&service->space, pointer, &task.value))
		return;
	vcpu->has_task = task.value && guest_task_read(service->tasks, task, &vcpu->task);
}

/* For a stopped vCPU. A kernel stack is aligned to its size. */
static void read_kernel_stack(struct service *service, const struct guest_current *current,
			      struct vcpu *vcpu)
{
	uint64_t sp = vcpu->registers.sp, bytes = current->stack_bytes;
	struct unwind_stack *stack = &vcpu->stacks[0];

	if (!bytes || bytes & (bytes - 1))
		return;
	bytes -= sp & (bytes - 1);
	vcpu->kernel_copy = guest_space_copy(&service->space, GVA(sp), bytes, bytes);
	if (vcpu->kernel_copy)
		*stack = (struct unwind_stack){ .start = GVA(sp),
						.bytes = bytes,
						.data = vcpu->kernel_copy,
						.end = GVA(sp + bytes) };
}

/* Reads what is mapped, and not more than a sampler would copy. */
static void read_user_stack(struct service *service, uint64_t sp, struct vcpu *vcpu)
{
	struct unwind_stack *stack = &vcpu->stacks[GUEST_VCPU_STACKS - 1];
	struct guest_space space;

	guest_space_init(&space, service->memory, &vcpu->mmu);
	vcpu->user_copy = memory_calloc(1, MAX_USER_STACK_BYTES);
	*stack = (struct unwind_stack){ .start = GVA(sp), .data = vcpu->user_copy };
	while (stack->bytes < MAX_USER_STACK_BYTES) {
		uint64_t at = sp + stack->bytes, bytes = PAGE_BYTES - at % PAGE_BYTES;

		if (bytes > MAX_USER_STACK_BYTES - stack->bytes)
			bytes = MAX_USER_STACK_BYTES - stack->bytes;
		if (!guest_space_read(&space, GVA(at), vcpu->user_copy + stack->bytes, bytes))
			break;
		stack->bytes += bytes;
	}
	stack->end = GVA(sp + MAX_USER_STACK_BYTES);
}

static void open_code(struct service *service, const struct vcpu *vcpu, struct user_code *ret)
{
	*ret = (struct user_code){ .service = service, .mm = vcpu->task.mm };
	if (!service->mappings || !vcpu->has_task || !vcpu->task.mm.value)
		return;
	guest_mappings_read(service->mappings, ret->mm, &ret->mappings);
	for (size_t i = 0; i < ret->mappings.items.count; i++) {
		const struct guest_mapping *mapping = &ret->mappings.items.items[i];

		if (!mapping->execute)
			continue;
		vector_append(&ret->code,
			      ((struct unwind_mapping){ .start = mapping->start,
							.end = mapping->end,
							.offset = mapping->file_offset }));
		vector_append(&ret->mapping, i);
		vector_append(&ret->files, (struct code_file){ 0 });
	}
}

static void close_code(struct user_code *code)
{
	for (size_t i = 0; i < code->files.count; i++) {
		unwind_table_destroy(code->files.items[i].unwind);
		symbol_table_destroy(code->files.items[i].symbols);
	}
	guest_mappings_deinit(&code->mappings);
	vector_deinit(&code->code);
	vector_deinit(&code->mapping);
	vector_deinit(&code->files);
}

/* The index of the code that contains ADDRESS; SIZE_MAX: none. */
static size_t find_code(const struct user_code *code, uint64_t address)
{
	for (size_t i = 0; i < code->code.count; i++)
		if (address >= code->code.items[i].start.value &&
		    address < code->code.items[i].end.value)
			return i;
	return SIZE_MAX;
}

/* Reads the file of the code at ADDRESS; false: already read, or there is none. */
static bool read_file(struct user_code *code, uint64_t address)
{
	struct service *service = code->service;
	size_t number = find_code(code, address);
	struct guest_program program;
	struct code_file *file;

	if (number == SIZE_MAX || code->files.items[number].tried || code->read == MAX_USER_FILES)
		return false;
	code->read++;
	file = &code->files.items[number];
	file->tried = true;
	if (!service->programs ||
	    !guest_mapping_find_program(service->mappings, code->mm, code->code.items[number].start,
					&program))
		return false;
	/* A failure is visible: the chain ends there, or its frames have no names. */
	error_destroy(unwind_table_read_program(service->programs, &program, &file->unwind));
	error_destroy(guest_program_symbols(service->programs, &program, &file->symbols));
	code->code.items[number].table = file->unwind;
	return file->unwind;
}

/* Walks again with one more file, as long as a file was missing. */
static void run_user(struct user_code *code, const struct unwind_registers *start,
		     const struct unwind_stack *stack, struct unwind_chain *chain)
{
	struct unwind_program program = { .mappings = code->code.items, .count = code->code.count };
	const struct unwind_frame *last;

	do {
		unwind_run_user(&program, start, stack, 1, chain);
		last = &chain->frames[chain->count - 1];
	} while (chain->end == UNWIND_NO_DATA &&
		 read_file(code, last->address - (last->kind == UNWIND_FRAME_CALL)));
}

static void append_user_place(const struct user_code *code, uint64_t address, unsigned int back)
{
	size_t number = find_code(code, address - back);
	struct guest_name name = { .function = "" };
	const struct symbol_table *symbols;
	const struct symbol *symbol;
	uint64_t offset;

	if (number != SIZE_MAX) {
		const struct unwind_mapping *mapping = &code->code.items[number];

		name.module =
			intern_string(code->service->strings,
				      code->mappings.items.items[code->mapping.items[number]].path);
		offset = address - back - mapping->start.value + mapping->offset;
		symbols = code->files.items[number].symbols;
		symbol = symbols ? symbol_table_find(symbols, offset) : NULL;
		if (symbol) {
			name.function = symbol_name(symbols, symbol);
			name.offset = offset + back - symbol->start;
			name.bytes = symbol->end - symbol->start;
		}
	}
	service_append_user_named(code->service, address, &name);
}

static void append_user_frame(const struct user_code *code, const struct unwind_frame *frame)
{
	bool call = frame->kind == UNWIND_FRAME_CALL;

	buffer_append_u32(&code->service->answer,
			  GUEST_FRAME_USER | (call ? GUEST_FRAME_CALL : 0) |
				  (frame->guessed ? GUEST_FRAME_GUESSED : 0));
	append_user_place(code, frame->address, call);
}

/* The kernel's chain, if the vCPU was in the kernel, and then the user's. */
static void append_chains(struct service *service, const struct user_code *code,
			  const struct unwind_chain *kernel, const struct unwind_chain *user)
{
	const struct unwind_chain *last = user->count ? user : kernel;

	buffer_append_u32(&service->answer, last->end);
	if (user->count)
		append_user_place(code, user->end_at, 0);
	else
		service_append_place(service, kernel->end_at, 0);
	buffer_append_u32(&service->answer, kernel->count + user->count);
	for (size_t i = 0; i < kernel->count; i++)
		service_append_frame(service, &kernel->frames[i]);
	for (size_t i = 0; i < user->count; i++)
		append_user_frame(code, &user->frames[i]);
}

static void answer_chain(struct service *service, struct vcpu *vcpu)
{
	struct unwind_frame frames[GUEST_STACK_FRAMES];
	struct unwind_chain kernel = { .frames = frames, .capacity = GUEST_STACK_FRAMES / 2 };
	struct unwind_chain user = { .frames = frames + GUEST_STACK_FRAMES / 2,
				     .capacity = GUEST_STACK_FRAMES / 2 };
	const struct unwind_registers *user_start = vcpu->user ? &vcpu->registers : NULL;
	struct user_code code;

	open_code(service, vcpu, &code);
	if (!vcpu->user) {
		unwind_run(service_kernel_unwind(service), &vcpu->registers, vcpu->stacks,
			   GUEST_VCPU_STACKS - 1, &kernel);
		if (kernel.has_user && kernel.end == UNWIND_COMPLETE)
			user_start = &kernel.user;
	}
	if (user_start) {
		if (vcpu->still)
			read_user_stack(service, user_start->sp, vcpu);
		run_user(&code, user_start, &vcpu->stacks[GUEST_VCPU_STACKS - 1], &user);
	}
	append_chains(service, &code, &kernel, &user);
	close_code(&code);
}

struct error *service_answer_vcpu(struct service *service, struct cursor *request)
{
	struct guest_current current;
	struct vcpu vcpu = { 0 };
	struct gva task;
	struct error *error;

	if (!take_vcpu(service, request, &vcpu, &task))
		return error_create(ERROR_BAD_DATA, "malformed request");
	error = service_open_tasks(service);
	if (!error)
		error = service_open_stacks(service);
	if (!error)
		error = guest_current_find(service->kernel, &current);
	if (error)
		return error;
	/* Without mappings, the kernel's chain is still available. */
	error_destroy(service_open_mappings(service));
	guest_space_forget(&service->space);
	service_forget_processes(service);
	find_task(service, &current, task, &vcpu);
	buffer_append_u32(&service->answer, vcpu.has_task);
	service_append_task(service, &vcpu.task);
	if (vcpu.still && !vcpu.user)
		read_kernel_stack(service, &current, &vcpu);
	answer_chain(service, &vcpu);
	free(vcpu.kernel_copy);
	free(vcpu.user_copy);
	return NULL;
}
