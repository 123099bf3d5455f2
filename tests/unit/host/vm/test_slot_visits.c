/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk through a VM's memory slots ends, and soon: with more slots than it may visit, and with
 * lists that changed under it so that they have no end.
 */
#include <stdbool.h>
#include <string.h>

#include "test.h"

#include "bpf/vm_files.h"

#define HELPER static __attribute__((unused))

HELPER long bpf_probe_read_kernel(void *data, uint32_t size, const void *from)
{
	if (!from)
		return -1;
	memcpy(data, from, size);
	return 0;
}

HELPER long bpf_loop(uint32_t count, void *function, void *context, uint64_t flags)
{
	long (*step)(uint32_t, void *) = (long (*)(uint32_t, void *))function;
	uint32_t i = 0;

	(void)flags;
	while (i < count && !step(i, context))
		i++;
	return i;
}

#include "bpf/kvm_slots.bpf.h"

#define BUCKETS 128
#define SLOTS 20000

struct slot {
	uint64_t nodes[2][2]; /* struct hlist_node of both tables */
	uint64_t pages;
};

static struct {
	uint64_t memslots; /* of struct kvm */
	uint64_t generation, node_idx, buckets[BUCKETS];
} kvm;
static struct slot slots[SLOTS];

const volatile struct vm_files_layout layout = {
	.kvm_memslots = 0,
	.slots_generation = 8,
	.slots_node_idx = 16,
	.slots_id_hash = 24,
	.id_hash_buckets = BUCKETS,
	.slot_id_node = 0,
};
static size_t visits;

static void visit_slot(struct walk *walk, __u64 slot)
{
	walk->pages += ((const struct slot *)(uintptr_t)slot)->pages;
	visits++;
}

/* COUNT slots of one page, spread over the buckets. */
static void begin(size_t count)
{
	memset(&kvm, 0, sizeof(kvm));
	kvm.memslots = (uintptr_t)&kvm;
	visits = 0;
	for (size_t i = 0; i < count; i++) {
		slots[i] = (struct slot){ .nodes = { { kvm.buckets[i % BUCKETS] } }, .pages = 1 };
		kvm.buckets[i % BUCKETS] = (uintptr_t)&slots[i];
	}
}

static bool visit(uint32_t left, struct walk *ret)
{
	*ret = (struct walk){ 0 };
	slots_left = left;
	return visit_slots((uintptr_t)&kvm, true, ret);
}

static void test_few_slots(void **state)
{
	struct walk walk;

	(void)state;
	begin(500);
	assert_true(visit(501, &walk));
	assert_int_equal(walk.pages, 500);
	assert_int_equal(slots_left, 1);
	assert_false(visit(500, &walk)); /* there may be more */
	begin(0);
	assert_true(visit(1, &walk));
	assert_false(visit(0, &walk));
}

static void test_many_slots(void **state)
{
	struct walk walk;

	(void)state;
	begin(SLOTS);
	assert_false(visit(VM_FILES_MAX_SLOTS + 1, &walk));
	assert_int_equal(visits, VM_FILES_MAX_SLOTS + 1);
}

static void test_lists_without_end(void **state)
{
	struct walk walk;

	(void)state;
	begin(BUCKETS);
	for (size_t i = 0; i < BUCKETS; i++)
		slots[i].nodes[0][0] = (uintptr_t)&slots[i];
	assert_false(visit(VM_FILES_MAX_SLOTS + 1, &walk));
	assert_int_equal(visits, VM_FILES_MAX_SLOTS + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_slots),
		cmocka_unit_test(test_many_slots),
		cmocka_unit_test(test_lists_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
