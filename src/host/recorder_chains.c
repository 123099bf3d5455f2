/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains of guests, from the registers and stacks that a sample brought: the kernel's by the
 * unwind data that were read of its memory, behind PERF_CONTEXT_GUEST_KERNEL; then the user's, behind
 * PERF_CONTEXT_GUEST_USER.
 *
 * Nothing is guessed: a chain ends where its caller is not known for certain, and says why.
 */
#include <linux/perf_event.h>

#include "host/recorder_state.h"
#include "unwind/unwind.h"

#define MAX_FRAMES 512

/* As KVM numbers them, enum kvm_reg of arch/x86/include/asm/kvm_host.h. */
enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9, R10, R11, R12, R13, R14, R15 };

struct recorder_chain {
	struct unwind_frame frames[MAX_FRAMES];
	uint64_t addresses[MAX_FRAMES + 3]; /* and two contexts, and the user's */
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

static struct unwind_stack stack_of(const struct capture_stack *stack)
{
	return (struct unwind_stack){
		.start = stack->start, .bytes = stack->bytes, .data = stack->data, .end = stack->end
	};
}

static enum perfdata_chain_end add_kernel(struct recorder_chain *chain,
					  const struct unwind_table *table,
					  const struct capture_stacks *stacks, uint64_t ip)
{
	const uint64_t *registers = stacks->registers;
	struct unwind_registers start = { .ip = ip,
					  .sp = registers[SP],
					  .bp = registers[BP],
					  .ax = registers[AX],
					  .dx = registers[DX],
					  .di = registers[DI],
					  .r10 = registers[R10],
					  .r13 = registers[R13],
					  .others_known = true };
	struct unwind_stack copies[CAPTURE_KERNEL_STACKS];
	struct unwind_chain found = { .frames = chain->frames, .capacity = MAX_FRAMES };

	for (size_t i = 0; i < CAPTURE_KERNEL_STACKS; i++)
		copies[i] = stack_of(&stacks->kernel[i]);
	unwind_run(table, &start, copies, CAPTURE_KERNEL_STACKS, &found);
	for (size_t i = 0; i < found.count; i++) {
		if (found.frames[i].guessed)
			return PERFDATA_CHAIN_NO_DATA;
		add(chain, found.frames[i].address);
	}
	if (!found.has_user)
		return end_of(found.end);
	/* Of a program nothing is known but where it is. */
	add(chain, PERF_CONTEXT_GUEST_USER);
	add(chain, found.user.ip);
	return PERFDATA_CHAIN_NO_DATA;
}

void recorder_take_unwind_tables(struct recorder *recorder)
{
	struct unwind_table *table;
	uint32_t vm;

	while (recorder->reader && guest_reader_take_unwind_table(recorder->reader, &vm, &table)) {
		unwind_table_destroy(recorder->vms.items[vm].unwind);
		recorder->vms.items[vm].unwind = table;
	}
}

enum perfdata_chain_end recorder_chain(struct recorder *recorder, size_t vm,
				       const struct capture_guest *guest,
				       struct perfdata_sample *sample)
{
	const struct unwind_table *table = recorder->vms.items[vm].unwind;
	struct recorder_chain *chain = recorder->chain;
	bool user = (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_GUEST_USER;
	enum perfdata_chain_end end;

	chain->count = 0;
	add(chain, user ? PERF_CONTEXT_GUEST_USER : PERF_CONTEXT_GUEST_KERNEL);
	if (!user && table && guest->stacks) {
		end = add_kernel(chain, table, guest->stacks, sample->ip);
	} else {
		add(chain, sample->ip);
		end = guest->stacks ? PERFDATA_CHAIN_NO_DATA : PERFDATA_CHAIN_UNREADABLE;
	}
	sample->callchain = chain->addresses;
	sample->callchain_count = chain->count;
	return end;
}
