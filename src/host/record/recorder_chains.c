/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains of guests, from the registers and stacks in a sample. The kernel's part, after
 * PERF_CONTEXT_KERNEL, uses the unwind data that were read from guest memory; the user's part
 * follows after PERF_CONTEXT_USER.
 *
 * A chain ends where the caller is not known for certain, and records why. If requested, possible
 * callers (unwind_scan()) are added after a second mark of the same kind: see profile/chain.h.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "bpf/guest_sampler.h"
#include "host/record/recorder_state.h"
#include "host/system/kvm.h"
#include "host/system/kvm_registers.h"
#include "unwind/kernel/find_sp.h"
#include "unwind/program/scan.h"
#include "unwind/walk/unwind.h"

#define MAX_FRAMES 512
#define MAX_PROGRAM_MAPPINGS ((size_t)1 << 18) /* of a guest's processes: 15 MB */

struct recorder_chain {
	struct unwind_piece pieces[SAMPLER_LINKS];
	struct unwind_frame frames[MAX_FRAMES];
	struct unwind_frame compared[MAX_FRAMES]; /* found without using the SP that is known */
	uint64_t addresses[2 * MAX_FRAMES + 4]; /* kernel and user frames, and two marks for each */
	size_t count;
};

struct recorder_chain *recorder_chain_create(void)
{
	return memory_calloc(1, sizeof(struct recorder_chain));
}

static void add(struct recorder_chain *chain, uint64_t address)
{
	chain->addresses[chain->count++] = address;
}

static enum perfdata_chain_end end_of(enum unwind_end end)
{
	switch (end) {
	case UNWIND_COMPLETE:
		return PERFDATA_CHAIN_COMPLETE;
	case UNWIND_CUT:
		return PERFDATA_CHAIN_CUT;
	case UNWIND_NO_DATA:
		return PERFDATA_CHAIN_NO_DATA;
	case UNWIND_UNREADABLE:
		return PERFDATA_CHAIN_UNREADABLE;
	case UNWIND_NO_REGISTERS:
		return PERFDATA_CHAIN_NO_REGISTERS;
	case UNWIND_REPLACED:
		return PERFDATA_CHAIN_REPLACED;
	case UNWIND_BAD:
	case UNWIND_TOO_DEEP:
	case UNWIND_ENDS:
		break;
	}
	return PERFDATA_CHAIN_BAD;
}

static struct unwind_registers registers_of(const struct capture_guest *guest, uint64_t ip)
{
	struct unwind_registers registers = kvm_registers_for_unwind(guest->stacks->registers, ip);

	registers.sp_unknown = guest->stacks->sp_unknown;
	return registers;
}

static struct unwind_stack stack_of(const struct capture_stack *stack)
{
	return (struct unwind_stack){
		.start = stack->start, .bytes = stack->bytes, .data = stack->data, .end = stack->end
	};
}

/* Uses the pairs up to the first one that is not above the previous one. */
static size_t list_links(const struct capture_links *links, struct unwind_piece *ret)
{
	struct gva at = links->first, next;
	size_t count = 0;

	for (; count < links->count && count < SAMPLER_LINKS; at = next) {
		const uint8_t *data = links->data + count * SAMPLER_LINK_BYTES;

		ret[count++] = (struct unwind_piece){ at, SAMPLER_LINK_BYTES, data };
		memcpy(&next, data, sizeof(next));
		if (next.value < at.value + SAMPLER_LINK_BYTES)
			break;
	}
	if (count && count == links->count)
		ret[count - 1].bytes += links->above_bytes;
	return count;
}

/* The user's stack. */
static struct unwind_stack user_stack_of(struct recorder_chain *chain,
					 const struct capture_guest *guest)
{
	struct unwind_stack stack = stack_of(&guest->stacks->user);

	if (stack.bytes && stack.start.value + stack.bytes == stack.end.value)
		stack.end = GVA(UINT64_MAX); /* the copy is full, so the stack continues */
	stack.piece_count = list_links(&guest->stacks->links, chain->pieces);
	stack.pieces = chain->pieces;
	return stack;
}

/* Adds the certain frames after MARK. */
static enum perfdata_chain_end add_frames(struct recorder_chain *chain, uint64_t mark,
					  const struct unwind_chain *found)
{
	add(chain, mark);
	for (size_t i = 0; i < found->count; i++) {
		if (found->frames[i].guessed)
			return PERFDATA_CHAIN_NO_DATA;
		add(chain, found->frames[i].address);
	}
	return end_of(found->end);
}

/* Adds the guessed frames, which come last, after a second MARK. */
static void add_guesses(struct recorder_chain *chain, uint64_t mark,
			const struct unwind_chain *found)
{
	size_t at = found->count;

	while (at && found->frames[at - 1].guessed)
		at--;
	if (at < found->count)
		add(chain, mark);
	while (at < found->count)
		add(chain, found->frames[at++].address);
}

/* Unwinds from START with the unwind data and frame pointers of PROGRAM; adds frames after MARK. */
static enum perfdata_chain_end add_program(struct recorder *recorder,
					   const struct unwind_program *program,
					   const struct unwind_registers *start,
					   const struct capture_guest *guest, uint64_t mark)
{
	struct recorder_chain *chain = recorder->chain;
	struct unwind_stack copy = user_stack_of(chain, guest);
	struct unwind_chain found = { .frames = chain->frames, .capacity = MAX_FRAMES };
	enum perfdata_chain_end end;

	unwind_run_user(program, start, &copy, 1, &found);
	end = add_frames(chain, mark, &found);
	if (recorder->config.scan) {
		unwind_scan_user(program, &copy, 1, &found);
		add_guesses(chain, mark, &found);
	}
	return end;
}

/* Adds the chain of user code, from where it was sampled or entered the kernel. */
static enum perfdata_chain_end add_user(struct recorder *recorder,
					const struct capture_guest *guest,
					const struct recorder_process *process,
					const struct unwind_registers *start)
{
	struct unwind_program program = { 0 };

	if (process) {
		program.mappings = process->mappings.items;
		program.count = process->mappings.count;
		program.entry_sp = process->entry_sp;
	}
	return add_program(recorder, &program, start, guest, PERF_CONTEXT_USER);
}

/* Adds the chain of a guest that is not Linux, using the image that it runs. */
static enum perfdata_chain_end add_image(struct recorder *recorder, size_t vm,
					 const struct capture_guest *guest, uint64_t ip)
{
	struct unwind_registers start = registers_of(guest, ip);
	const struct guest_image_code *code = &recorder->vms.items[vm].image;
	struct unwind_program program = { .mappings = code->items, .count = code->count };

	return add_program(recorder, &program, &start, guest, PERF_CONTEXT_KERNEL);
}

/* Unwinds a kernel stack without SP. If whole stacks were copied, searches them for SP. */
static void run_without_sp(struct recorder_sp_counts *counts, const struct unwind_table *table,
			   const struct unwind_registers *start, const struct unwind_stack *stacks,
			   bool whole, struct unwind_chain *found)
{
	struct unwind_registers with_sp = *start;

	counts->samples++;
	unwind_run(table, start, stacks, CAPTURE_KERNEL_STACKS, found);
	if (found->count > 1) {
		counts->by_bp++;
		return;
	}
	with_sp.sp_unknown = false;
	switch (whole ? unwind_find_sp(table, start, stacks, CAPTURE_KERNEL_STACKS, &with_sp.sp)
		      : UNWIND_SP_NOT_SOUGHT) {
	case UNWIND_SP_FOUND:
		counts->found++;
		unwind_run(table, &with_sp, stacks, CAPTURE_KERNEL_STACKS, found);
		return;
	case UNWIND_SP_NONE:
		counts->none++;
		return;
	case UNWIND_SP_SEVERAL:
		counts->several++;
		return;
	case UNWIND_SP_UNSURE:
		counts->unsure++;
		return;
	default:
		counts->not_certain++;
	}
}

static bool is_same(const struct unwind_chain *left, const struct unwind_chain *right)
{
	for (size_t i = 0; i < left->count && i < right->count; i++)
		if (left->frames[i].address != right->frames[i].address)
			return false;
	return left->count == right->count && left->end == right->end;
}

/* For tests: checks whether the chain found without SP equals the TRUE one or has no callers. */
static void compare(struct recorder *recorder, const struct unwind_table *table,
		    const struct unwind_registers *start, const struct unwind_stack *stacks,
		    const struct unwind_chain *true_chain)
{
	struct unwind_registers without_sp = *start;
	struct unwind_chain found = { .frames = recorder->chain->compared, .capacity = MAX_FRAMES };

	without_sp.sp_unknown = true;
	run_without_sp(&recorder->sp_counts, table, &without_sp, stacks, true, &found);
	recorder->sp_counts.wrong += found.count > 1 && !is_same(&found, true_chain);
}

/*
 * Reduces whole stacks to what is above BP, if BP is in one. If SP was not found, callers can only
 * be there; what is below SP is never a caller.
 */
static void leave_above_bp(struct unwind_stack *stacks, uint64_t bp)
{
	for (size_t i = 0; i < CAPTURE_KERNEL_STACKS; i++) {
		uint64_t below = bp - stacks[i].start.value;

		if (below > stacks[i].bytes)
			below = stacks[i].bytes;
		stacks[i].start = GVA(stacks[i].start.value + below);
		stacks[i].data += below;
		stacks[i].bytes -= below;
	}
}

/*
 * Not while a task's program is being loaded, nor after it has given up its memory at its end: what
 * called the kernel is not there any more.
 */
static bool has_user_code(const struct capture_guest *guest)
{
	return !guest->loading && (!guest->has_task || guest->mm.value);
}

static enum perfdata_chain_end add_kernel(struct recorder *recorder, size_t vm,
					  const struct capture_guest *guest,
					  const struct recorder_process *process, uint64_t ip,
					  uint64_t *ret_user_ip)
{
	struct unwind_registers start = registers_of(guest, ip);
	const struct unwind_table *table = recorder->vms.items[vm].unwind;
	struct recorder_chain *chain = recorder->chain;
	struct unwind_stack copies[CAPTURE_KERNEL_STACKS];
	struct unwind_chain found = { .frames = chain->frames, .capacity = MAX_FRAMES };
	enum perfdata_chain_end end;

	/* The place of a Linux kernel's stack; without SP only Linux guests have one. */
	if (!start.sp_unknown && !guest->stacks->kernel[0].end.value)
		return add_image(recorder, vm, guest, ip);
	for (size_t i = 0; i < CAPTURE_KERNEL_STACKS; i++)
		copies[i] = stack_of(&guest->stacks->kernel[i]);
	if (!table || recorder->vms.items[vm].unwind_version != guest->version) {
		add(chain, PERF_CONTEXT_KERNEL);
		add(chain, ip);
		return PERFDATA_CHAIN_NO_DATA;
	}
	if (start.sp_unknown)
		run_without_sp(&recorder->sp_counts, table, &start, copies, guest->stacks->whole,
			       &found);
	else
		unwind_run(table, &start, copies, CAPTURE_KERNEL_STACKS, &found);
	if (host_kvm_compares() && guest->stacks->whole && !start.sp_unknown)
		compare(recorder, table, &start, copies, &found);
	end = add_frames(chain, PERF_CONTEXT_KERNEL, &found);
	if (recorder->config.scan) {
		if (guest->stacks->whole && start.sp_unknown)
			leave_above_bp(copies, start.bp);
		unwind_scan(table, copies, CAPTURE_KERNEL_STACKS, &found);
		add_guesses(chain, PERF_CONTEXT_KERNEL, &found);
	}
	if (end != PERFDATA_CHAIN_COMPLETE || !found.has_user || !has_user_code(guest) ||
	    recorder->config.kernel_only)
		return end;
	/* While the kernel switches tasks, the user stack belongs to a different task. */
	if (found.user.sp != guest->stacks->user.start.value)
		return PERFDATA_CHAIN_UNREADABLE;
	*ret_user_ip = found.user.ip;
	return add_user(recorder, guest, process, &found.user);
}

static void forget_program(struct recorder_vm *vm, struct recorder_process *process)
{
	vm->program_mappings -= process->mappings.count;
	vector_deinit(&process->mappings);
	vector_deinit(&process->files);
}

/* Makes room for COUNT more mappings. What is sampled again is asked for again. */
static void make_room(struct recorder_vm *vm, size_t count)
{
	if (vm->program_mappings + count <= MAX_PROGRAM_MAPPINGS)
		return;
	for (size_t i = 0; i < vm->processes.count; i++) {
		forget_program(vm, &vm->processes.items[i]);
		vm->processes.items[i].code.count = 0;
	}
}

void recorder_set_program(struct recorder_vm *vm, struct recorder_process *process,
			  const struct guest_reader_process *answer)
{
	forget_program(vm, process);
	if (answer->entry_sp)
		process->entry_sp = answer->entry_sp;
	make_room(vm, answer->mappings.items.count);
	vm->program_mappings += answer->mappings.items.count;
	for (size_t i = 0; i < answer->mappings.items.count; i++) {
		const struct guest_mapping *mapping = &answer->mappings.items.items[i];
		uint32_t file = answer->files[i];
		struct unwind_mapping added = { .start = mapping->start,
						.end = mapping->end,
						.offset = mapping->file_offset };

		if (file < vm->file_unwind.count)
			added.table = vm->file_unwind.items[file];
		vector_append(&process->mappings, added);
		vector_append(&process->files, file);
	}
}

bool recorder_knows_file(const struct recorder_vm *vm, uint32_t file)
{
	return file < vm->file_known.count && vm->file_known.items[file];
}

/* Processes that have the file mapped get the table, too. TABLE NULL: there is none. */
static void take_file(struct recorder_vm *vm, uint32_t file, struct unwind_table *table)
{
	while (vm->file_unwind.count <= file) {
		vector_append(&vm->file_unwind, NULL);
		vector_append(&vm->file_known, false);
	}
	vm->file_unwind.items[file] = table;
	vm->file_known.items[file] = true;
	for (size_t i = 0; i < vm->processes.count; i++) {
		struct recorder_process *process = &vm->processes.items[i];

		for (size_t j = 0; j < process->files.count; j++)
			if (process->files.items[j] == file)
				process->mappings.items[j].table = table;
	}
}

void recorder_take_unwind_tables(struct recorder *recorder)
{
	struct unwind_table *table;
	struct guest_image_code code;
	uint32_t of, number;

	if (!recorder->reader)
		return;
	while (guest_reader_take_image_code(recorder->reader, &of, &code)) {
		vector_deinit(&recorder->vms.items[of].image);
		recorder->vms.items[of].image = code;
	}
	while (guest_reader_take_unwind_table(recorder->reader, &of, &number, &table)) {
		struct recorder_vm *vm = &recorder->vms.items[of];

		guest_reader_drop_unwind_table(recorder->reader, of, vm->unwind);
		vm->unwind = table;
		vm->unwind_version = number;
	}
	while (guest_reader_take_file_unwind_table(recorder->reader, &of, &number, &table)) {
		if (recorder->vms.items[of].alive)
			take_file(&recorder->vms.items[of], number, table);
		else
			guest_reader_drop_unwind_table(recorder->reader, of, table);
	}
}

void recorder_forget_unwind_tables(struct recorder *recorder, size_t vm)
{
	struct recorder_vm *its = &recorder->vms.items[vm];

	guest_reader_drop_unwind_table(recorder->reader, vm, its->unwind);
	its->unwind = NULL;
	vector_deinit(&its->image);
	for (size_t i = 0; i < its->file_unwind.count; i++)
		guest_reader_drop_unwind_table(recorder->reader, vm, its->file_unwind.items[i]);
	vector_deinit(&its->file_unwind);
	vector_deinit(&its->file_known);
}

enum perfdata_chain_end recorder_chain(struct recorder *recorder, size_t vm,
				       const struct capture_guest *guest,
				       const struct recorder_process *process,
				       struct perfdata_sample *sample, uint64_t *ret_user_ip)
{
	struct recorder_chain *chain = recorder->chain;
	bool user = (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_GUEST_USER;
	enum perfdata_chain_end end;

	chain->count = 0;
	if (!guest || !guest->stacks) {
		add(chain, user ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL);
		add(chain, sample->ip);
		end = guest ? PERFDATA_CHAIN_UNREADABLE : PERFDATA_CHAIN_NO_REGISTERS;
	} else if (user) {
		struct unwind_registers start = registers_of(guest, sample->ip);

		*ret_user_ip = sample->ip;
		end = add_user(recorder, guest, process, &start);
	} else {
		end = add_kernel(recorder, vm, guest, process, sample->ip, ret_user_ip);
	}
	sample->callchain = chain->addresses;
	sample->callchain_count = chain->count;
	return end;
}
