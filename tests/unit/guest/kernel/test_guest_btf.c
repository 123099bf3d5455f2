/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF of this machine's kernel: every field of some hundred structures is compared with libbpf's
 * reading of the same bytes. Also damaged BTF, which must be handled.
 */
#include "test.h"

#include <bpf/btf.h>
#include <string.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "guest/kernel/guest_btf.h"

#define VMLINUX "/sys/kernel/btf/vmlinux"
#define MAX_BYTES (32u << 20)

static struct buffer bytes;

static int load(void **state)
{
	(void)state;
	buffer_init(&bytes, MAX_BYTES);
	error_destroy(file_read(VMLINUX, &bytes));
	return 0;
}

static int unload(void **state)
{
	(void)state;
	buffer_deinit(&bytes);
	return 0;
}

/* The words of bit-fields may be chosen differently: what counts is which bits they cover. */
static void check_member(const struct guest_btf *ours, const struct btf *theirs,
			 const struct btf_type *type, int number)
{
	const char *structure = btf__name_by_offset(theirs, type->name_off);
	const struct btf_member *member = btf_members(type) + number;
	const char *name = btf__name_by_offset(theirs, member->name_off);
	struct guest_btf_field field;

	if (!*name)
		return;
	if (!guest_btf_find_field(ours, structure, name, &field))
		fail_msg("%s.%s is not found", structure, name);
	assert_int_equal(8 * field.offset + field.bit_offset, btf_member_bit_offset(type, number));
	assert_int_equal(field.bit_count, btf_member_bitfield_size(type, number));
	assert_int_equal(field.size, (uint64_t)btf__resolve_size(theirs, member->type));
}

static void fields_are_where_libbpf_sees_them(void **state)
{
	struct guest_btf *ours;
	struct btf *theirs;
	size_t checked = 0;

	(void)state;
	if (!bytes.size)
		skip_because("this kernel has no BTF");
	ours = guest_btf_create(bytes.data, bytes.size);
	theirs = btf__new(bytes.data, bytes.size);
	assert_non_null(ours);
	assert_non_null(theirs);
	for (uint32_t id = 1; id < btf__type_cnt(theirs) && checked < 300; id++) {
		const struct btf_type *type = btf__type_by_id(theirs, id);
		const char *name = btf__name_by_offset(theirs, type->name_off);

		/* If several structures share a name, both find the first. */
		if (!btf_is_struct(type) || !*name ||
		    btf__find_by_name_kind(theirs, name, BTF_KIND_STRUCT) != (int)id ||
		    guest_btf_find_struct(ours, name) != id)
			continue;
		assert_int_equal(guest_btf_size(ours, id), type->size);
		for (int number = 0; number < btf_vlen(type); number++)
			check_member(ours, theirs, type, number);
		checked++;
	}
	assert_int_equal(checked, 300);
	btf__free(theirs);
	guest_btf_destroy(ours);
}

static void paths_go_through_structures(void **state)
{
	struct guest_btf_field path, file, mount;
	struct guest_btf *ours;

	(void)state;
	if (!bytes.size)
		skip_because("this kernel has no BTF");
	ours = guest_btf_create(bytes.data, bytes.size);
	assert_true(guest_btf_find_field(ours, "file", "f_path", &path));
	assert_true(guest_btf_find_field(ours, "path", "mnt", &mount));
	assert_true(guest_btf_find_field(ours, "file", "f_path.mnt", &file));
	assert_int_equal(file.offset, path.offset + mount.offset);
	assert_int_equal(file.size, 8);
	assert_false(guest_btf_find_field(ours, "file", "f_path.nothing", &file));
	assert_false(guest_btf_find_field(ours, "file", "f_path.mnt.nothing", &file));
	assert_false(guest_btf_find_field(ours, "no such structure", "x", &file));
	guest_btf_destroy(ours);
}

static void use(const struct guest_btf *btf)
{
	struct guest_btf_field field;
	uint32_t element, count;
	int64_t value;

	for (uint32_t type = 0; type < 40; type++) {
		guest_btf_size(btf, type);
		guest_btf_array(btf, type, &element, &count);
	}
	guest_btf_find_field(btf, "task_struct", "thread_pid.numbers", &field);
	guest_btf_find_enumerator(btf, "MOD_INIT_TEXT", &value);
}

static void damaged_bytes_are_survived(void **state)
{
	uint32_t seed = 1;

	(void)state;
	if (!bytes.size)
		skip_because("this kernel has no BTF");
	for (int round = 0; round < 60; round++) {
		size_t size = round % 3 ? bytes.size : bytes.size / 64 * (round + 1);
		uint8_t *copy = memory_dup(bytes.data, size);
		struct guest_btf *btf;

		for (int i = 0; i < 200; i++) {
			seed = seed * 1664525 + 1013904223;
			/* Rarely damage the header, so that the data after it is reached. */
			copy[round % 5 ? 24 + seed % (size - 24) : seed % 24] ^= 1 << seed % 8;
		}
		btf = guest_btf_create(copy, size);
		if (btf)
			use(btf);
		guest_btf_destroy(btf);
		free(copy);
	}
	assert_null(guest_btf_create(bytes.data, 0));
	assert_null(guest_btf_create(bytes.data, 23));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_where_libbpf_sees_them),
		cmocka_unit_test(paths_go_through_structures),
		cmocka_unit_test(damaged_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
