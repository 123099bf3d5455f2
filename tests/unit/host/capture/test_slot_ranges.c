/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sampler reads nothing of the VMM but the guest's memory slots, whatever offsets, addresses and
 * page tables the guest presents: what lies before and after a slot in the VMM never gets into a
 * sample, and is not even looked at.
 */
#include <stdbool.h>
#include <string.h>

#include "test.h"

#define SLOT_BYTES (1 << 20)
#define AROUND_BYTES (64 << 10)
#define SECRET 'S'

/* The VMM's memory, from address VMM on: its own, the only slot (from gpa 0 on), its own. */
static uint8_t vmm[AROUND_BYTES + SLOT_BYTES + AROUND_BYTES];
static uint8_t *const guest = vmm + AROUND_BYTES;
static size_t strayed; /* reads that were not within the slot */

struct sampler_vm;
static bool read_hva(struct sampler_vm *vm, uint64_t hva, void *data, uint32_t size);

static bool knows_sp_and_cr3(void)
{
	return true;
}

static bool copies_whole_stacks(void)
{
	return false;
}

static uint32_t max_user_bytes(struct sampler_vm *vm)
{
	(void)vm;
	return 4096;
}

#define __noinline static
#include "bpf/stacks_in_use.h"

#define VMM 0x10000000ULL
#define KERNEL 0xffffc90000000000ULL /* maps all memory, with a single page of 1 GiB */
#define TABLES 0x1000
#define GS_BASE (KERNEL + 0x10000)
#define TASK (KERNEL + 0x20000)
#define TASK_STACK (KERNEL + 0x40000)
#define STACK_BYTES 0x4000
enum { PID = 0x10, TGID = 0x14, COMM = 0x18, MM = 0x28, STACK = 0x30 };

static struct sampler_vm vm;
static struct sampler_thread thread;
static struct scratch scratch;
static struct sampler_record record;

static bool read_hva(struct sampler_vm *of, uint64_t hva, void *data, uint32_t size)
{
	(void)of;
	if (!hva)
		return false;
	strayed += hva < VMM + AROUND_BYTES || hva + size > VMM + AROUND_BYTES + SLOT_BYTES;
	if (hva < VMM || hva - VMM > sizeof(vmm) - size)
		return false;
	memcpy(data, vmm + (hva - VMM), size);
	return true;
}

static void put(uint64_t gva, uint64_t value)
{
	memcpy(guest + (gva - KERNEL), &value, sizeof(value));
}

static int begin(void **state)
{
	(void)state;
	memset(vmm, SECRET, sizeof(vmm));
	memset(guest, 0, SLOT_BYTES);
	put(KERNEL + TABLES + 8 * (KERNEL >> 39 & 511), (TABLES + 0x1000) | PAGE_PRESENT);
	put(KERNEL + TABLES + 0x1000, PAGE_LARGE | PAGE_PRESENT);
	vm = (struct sampler_vm){ .version = 1,
				  .current.page_tables = TABLES,
				  .current.levels = 4,
				  .current.task_pid = PID,
				  .current.task_tgid = TGID,
				  .current.task_comm = COMM,
				  .current.task_mm = MM,
				  .current.task_stack = STACK,
				  .current.stack_bytes = STACK_BYTES,
				  .slot_count = 1,
				  .slots = { { 0, SLOT_BYTES, VMM + AROUND_BYTES } },
				  .version_again = 1 };
	thread = (struct sampler_thread){ 0 };
	record = (struct sampler_record){ 0 };
	put(GS_BASE, TASK);
	put(TASK + PID, 17);
	memcpy(guest + (TASK - KERNEL) + COMM, "honest", 7);
	put(TASK + MM, KERNEL + 0x30000);
	put(TASK + STACK, TASK_STACK);
	strayed = 0;
	return 0;
}

static void expect_no_secret(const void *data, size_t bytes)
{
	assert_int_equal(strayed, 0);
	assert_null(memmem(data, bytes, (const char[]){ SECRET, SECRET, SECRET, SECRET }, 4));
}

static void find(void)
{
	find_task(&thread, &vm, GS_BASE, &record);
}

static void test_honest_task(void **state)
{
	(void)state;
	find();
	assert_true(record.flags & SAMPLER_TASK);
	assert_string_equal(record.comm, "honest");
	assert_int_equal(record.pid, 17);
	expect_no_secret(&record, sizeof(record));
}

/* An offset of each field that ends a byte after the slot, or is far outside of it. */
static void test_offsets_of_fields(void **state)
{
	uint32_t *const offsets[] = { &vm.current.task_pid, &vm.current.task_tgid,
				      &vm.current.task_comm, &vm.current.task_mm };
	static const uint32_t sizes[] = { 4, 4, SAMPLER_COMM_BYTES, 8 };
	const uint64_t left = KERNEL + SLOT_BYTES - TASK;

	for (size_t i = 0; i < 4; i++) {
		const uint64_t outside[] = { left - sizes[i] + 1, left, left + 64, UINT32_MAX };

		for (size_t j = 0; j < 4; j++) {
			begin(state);
			*offsets[i] = outside[j];
			find();
			assert_false(record.flags & SAMPLER_TASK);
			expect_no_secret(&record, sizeof(record));
		}
		begin(state);
		*offsets[i] = left - sizes[i];
		find();
		assert_true(record.flags & SAMPLER_TASK);
		expect_no_secret(&record, sizeof(record));
	}
}

/* The pointer to the current task, a part of which is after the slot. */
static void test_pointer_at_end(void **state)
{
	(void)state;
	vm.current.task_offset = SLOT_BYTES - 0x10000 - 4;
	find();
	assert_false(record.flags & SAMPLER_TASK);
	expect_no_secret(&record, sizeof(record));
}

static void copy(uint64_t sp, uint64_t bp)
{
	scratch.used = 0;
	memset(&scratch.stacks, 0, sizeof(scratch.stacks));
	scratch.stacks.registers[SP] = sp;
	scratch.stacks.registers[BP] = bp;
	copy_stacks(&scratch, &thread, &vm, GS_BASE, &record);
	expect_no_secret(&scratch.stacks, sizeof(scratch.stacks));
	expect_no_secret(scratch.data, scratch.used);
}

/* The struct pt_regs at the end of the stack begins before the slot. */
static void test_stack_at_start(void **state)
{
	for (uint32_t bytes = 8; bytes <= 512; bytes += 8) {
		begin(state);
		find();
		put(TASK + STACK, KERNEL);
		vm.current.stack_bytes = bytes;
		copy(KERNEL, 0);
	}
}

/* Stacks and frame pointers that lead out of the slot. */
static void test_stack_at_end(void **state)
{
	for (uint64_t left = 1; left <= 3 * PAGE_BYTES; left += 61) {
		begin(state);
		find();
		put(TASK + STACK, KERNEL + SLOT_BYTES - left);
		copy(KERNEL + SLOT_BYTES - left, KERNEL + SLOT_BYTES - 8);
		assert_int_equal(scratch.used, left);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_honest_task, begin),
		cmocka_unit_test_setup(test_offsets_of_fields, begin),
		cmocka_unit_test_setup(test_pointer_at_end, begin),
		cmocka_unit_test_setup(test_stack_at_start, begin),
		cmocka_unit_test_setup(test_stack_at_end, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
