/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets from BTF made by the test, for both forms of memory slots, and without any. */
#include "test.h"

#include <bpf/btf.h>
#include <string.h>

#include "host/vm/vm_layout.h"

struct types {
	struct btf *btf;
	int word, u32, pointer;
};

static struct types make_types(void)
{
	struct types types = { .btf = btf__new_empty() };

	types.word = btf__add_int(types.btf, "unsigned long", 8, 0);
	types.u32 = btf__add_int(types.btf, "unsigned int", 4, 0);
	types.pointer = btf__add_ptr(types.btf, 0);
	return types;
}

static void add_field(const struct types *types, const char *name, int type, unsigned int offset)
{
	assert_return_code(btf__add_field(types->btf, name, type, offset * 8, 0), 0);
}

/* pid is in an unnamed structure at 32 in an unnamed union at 64, behind a typedef. */
static void add_vcpu(const struct types *types, const char *pid_name)
{
	int inner, outer;

	inner = btf__add_struct(types->btf, NULL, 40);
	add_field(types, pid_name, types->pointer, 32);
	inner = btf__add_typedef(types->btf, "hidden", inner);
	outer = btf__add_union(types->btf, NULL, 40);
	add_field(types, NULL, inner, 0);
	btf__add_struct(types->btf, "kvm_vcpu", 200);
	add_field(types, "kvm", types->pointer, 0);
	add_field(types, "vcpu_id", types->u32, 12);
	add_field(types, NULL, outer, 64);
}

static void add_kvm(const struct types *types)
{
	btf__add_struct(types->btf, "kvm", 300);
	add_field(types, "mm", types->pointer, 72);
	add_field(types, "memslots", types->pointer, 80);
	btf__add_struct(types->btf, "kvm_memory_slot", 120);
	add_field(types, "id_node", types->pointer, 8);
	add_field(types, "npages", types->word, 48);
	add_field(types, "flags", types->u32, 56);
}

static void add_slots(const struct types *types, bool hashed)
{
	int array = btf__add_array(types->btf, types->u32, types->pointer, 128);

	btf__add_struct(types->btf, "kvm_memslots", 2000);
	add_field(types, "generation", types->word, 0);
	add_field(types, hashed ? "id_hash" : "memslots", array, 40);
	add_field(types, hashed ? "node_idx" : "used_slots", types->u32, 1064);
}

static void finds_slots_in_a_table(void **state)
{
	struct types types = make_types();
	struct vm_files_layout layout;

	(void)state;
	add_vcpu(&types, "pid");
	add_kvm(&types);
	add_slots(&types, true);
	assert_no_error(vm_layout_from_btf(types.btf, &layout));
	assert_int_equal(layout.vcpu_kvm, 0);
	assert_int_equal(layout.vcpu_id, 12);
	assert_int_equal(layout.vcpu_pid, 64 + 32);
	assert_int_equal(layout.kvm_mm, 72);
	assert_int_equal(layout.kvm_memslots, 80);
	assert_true(layout.slots_hashed);
	assert_int_equal(layout.slots_id_hash, 40);
	assert_int_equal(layout.id_hash_buckets, 128);
	assert_int_equal(layout.slots_node_idx, 1064);
	assert_int_equal(layout.slot_id_node, 8);
	assert_int_equal(layout.slot_npages, 48);
	assert_int_equal(layout.slot_flags, 56);
	btf__free(types.btf);
}

static void finds_slots_in_an_array(void **state)
{
	struct types types = make_types();
	struct vm_files_layout layout;

	(void)state;
	add_vcpu(&types, "pid");
	add_kvm(&types);
	add_slots(&types, false);
	assert_no_error(vm_layout_from_btf(types.btf, &layout));
	assert_false(layout.slots_hashed);
	assert_int_equal(layout.slots_array, 40);
	assert_int_equal(layout.slots_used, 1064);
	assert_int_equal(layout.slot_size, 120);
	btf__free(types.btf);
}

static void says_what_is_missing(void **state)
{
	struct types types = make_types();
	struct vm_files_layout layout;
	struct error *error;

	(void)state;
	error = vm_layout_from_btf(types.btf, &layout);
	assert_string_equal(error_message(error), "the kernel's BTF has no struct kvm_vcpu");
	assert_error(error, ERROR_UNSUPPORTED);
	add_vcpu(&types, "renamed");
	add_kvm(&types);
	add_slots(&types, true);
	error = vm_layout_from_btf(types.btf, &layout);
	assert_string_equal(error_message(error),
			    "this kernel's struct kvm_vcpu has no field 'pid'");
	assert_error(error, ERROR_UNSUPPORTED);
	btf__free(types.btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_slots_in_a_table),
		cmocka_unit_test(finds_slots_in_an_array),
		cmocka_unit_test(says_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
