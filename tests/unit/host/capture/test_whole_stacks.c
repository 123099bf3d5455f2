/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which kernel stacks a sampler copies whole if SP is not known, depending on the words in guest
 * memory that show which stack is in use: none if it is not certain, for example while the kernel
 * switches tasks.
 */
#include <stdbool.h>
#include <string.h>

#include "test.h"

#define MEMORY_BYTES (1 << 20)

static uint8_t memory[MEMORY_BYTES]; /* the guest's, from gpa 0 on; hva is gpa + 1 page */

struct sampler_vm;
static bool read_hva(struct sampler_vm *vm, uint64_t hva, void *data, uint32_t size);

static bool knows_sp_and_cr3(void)
{
	return false;
}

static bool copies_whole_stacks(void)
{
	return true;
}

static uint32_t max_user_bytes(struct sampler_vm *vm)
{
	(void)vm;
	return 0;
}

#define __noinline static
#include "bpf/stacks_in_use.h"

#define HVA_BASE PAGE_BYTES
#define KERNEL 0xffffc90000000000ULL /* maps all memory, with a single page of 1 GiB */
#define TABLES 0x1000
#define GS_BASE (KERNEL + 0x10000)
#define TASK (KERNEL + 0x20000)
#define NEXT_TASK (KERNEL + 0x21000)
#define TASK_STACK (KERNEL + 0x40000)
#define IRQ_STACK (KERNEL + 0x50000)
#define STACK_BYTES 0x4000
enum { IRQ_END = 0x10, RUN_QUEUE_TASK = 0x18, PREEMPT = 0x20, IRQ_USE = 0x24, STACK = 0x30 };

static struct sampler_vm vm;
static struct sampler_thread thread;
static struct scratch scratch;
static struct sampler_record record;

static bool read_hva(struct sampler_vm *of, uint64_t hva, void *data, uint32_t size)
{
	(void)of;
	if (hva < HVA_BASE || hva - HVA_BASE > MEMORY_BYTES - size)
		return false;
	memcpy(data, memory + (hva - HVA_BASE), size);
	return true;
}

static void put(uint64_t gva, uint64_t value, size_t bytes)
{
	memcpy(memory + (gva - KERNEL), &value, bytes);
}

static void begin(void)
{
	memset(memory, 0, sizeof(memory));
	put(KERNEL + TABLES + 8 * (KERNEL >> 39 & 511), (TABLES + 0x1000) | PAGE_PRESENT, 8);
	put(KERNEL + TABLES + 0x1000, PAGE_LARGE | PAGE_PRESENT, 8);
	vm = (struct sampler_vm){ .version = 1,
				  .current.page_tables = TABLES,
				  .current.levels = 4,
				  .slot_count = 1,
				  .current.task_stack = STACK,
				  .current.stack_bytes = STACK_BYTES,
				  .current.irq_stack_offset = IRQ_END,
				  .current.run_queue_task_offset = RUN_QUEUE_TASK,
				  .current.preempt_count_offset = PREEMPT,
				  .current.irq_use_offset = IRQ_USE,
				  .current.irq_use_bytes = 1,
				  .slots = { { 0, MEMORY_BYTES, HVA_BASE } },
				  .version_again = 1 };
	put(GS_BASE + IRQ_END, IRQ_STACK + STACK_BYTES - 8, 8);
	put(GS_BASE + RUN_QUEUE_TASK, TASK, 8);
	put(TASK + STACK, TASK_STACK, 8);
	put(TASK_STACK + 0x100, 0x1111, 8);
	put(IRQ_STACK + 0x100, 0x2222, 8);
}

/* Stack NUMBER is copied whole, from GVA on; 0: nothing is copied. */
static void expect(uint32_t number, uint64_t gva, uint64_t at, uint64_t word)
{
	const struct sampler_stack *stack = &scratch.stacks.stacks[number];
	uint64_t found;

	assert_int_equal(stack->bytes, gva ? STACK_BYTES : 0);
	if (!gva)
		return;
	assert_int_equal(stack->gva, gva);
	assert_int_equal(stack->end, gva + STACK_BYTES);
	memcpy(&found, scratch.data + at + 0x100, sizeof(found));
	assert_int_equal(found, word);
}

static void copy(bool whole)
{
	scratch.used = 0;
	memset(&scratch.stacks, 0, sizeof(scratch.stacks));
	record = (struct sampler_record){ .flags = SAMPLER_TASK, .task = TASK };
	copy_stacks(&scratch, &thread, &vm, GS_BASE, &record);
	assert_int_equal(!!(record.flags & SAMPLER_WHOLE_STACKS), whole);
	if (!whole)
		assert_int_equal(scratch.used, 0);
}

static void test_task_stack(void **state)
{
	(void)state;
	begin();
	copy(true);
	expect(0, TASK_STACK, 0, 0x1111);
	expect(1, 0, 0, 0);
}

static void test_irq_stack(void **state)
{
	(void)state;
	begin();
	put(GS_BASE + IRQ_USE, 1, 1);
	copy(true);
	expect(0, IRQ_STACK, 0, 0x2222);
	expect(1, TASK_STACK, STACK_BYTES, 0x1111);
}

/* Until 5.11 it was a counter that is -1 while the stack is not in use. */
static void test_counted_use(void **state)
{
	(void)state;
	begin();
	vm.current.irq_use_bytes = 4;
	vm.current.irq_unused = UINT32_MAX;
	copy(true);
	expect(0, IRQ_STACK, 0, 0x2222);
	put(GS_BASE + IRQ_USE, UINT32_MAX, 4);
	copy(true);
	expect(0, TASK_STACK, 0, 0x1111);
}

static void test_task_switch(void **state)
{
	(void)state;
	begin();
	put(GS_BASE + RUN_QUEUE_TASK, NEXT_TASK, 8);
	copy(false);
}

static void test_nmi(void **state)
{
	(void)state;
	begin();
	put(GS_BASE + PREEMPT, 0x110001, 4);
	copy(false);
	put(GS_BASE + PREEMPT, 0x10101, 4); /* interrupts alone do not matter */
	copy(true);
}

static void test_unknown(void **state)
{
	(void)state;
	begin();
	vm.current.irq_use_bytes = 0;
	copy(false);
	begin();
	vm.current.preempt_count_offset = MEMORY_BYTES; /* not in memory */
	copy(false);
	begin();
	/* continues where there is no memory */
	put(TASK + STACK, KERNEL + MEMORY_BYTES - PAGE_BYTES, 8);
	copy(false);
	expect(0, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_task_stack),  cmocka_unit_test(test_irq_stack),
		cmocka_unit_test(test_counted_use), cmocka_unit_test(test_task_switch),
		cmocka_unit_test(test_nmi),         cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
