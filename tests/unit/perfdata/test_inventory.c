/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VM inventory: the documented bytes, decoding them, and hostile bytes. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/inventory.h"

#define MAX_BYTES (4 << 20)

/* Positions of the parts of example(), according to docs/perfvisor-sections.md. */
#define VERSION_AT 8
#define HEAD_SIZE_AT 12
#define COUNTS_BYTES 64
#define CHOICE_LENGTH_AT (16 + 4 + COUNTS_BYTES)
#define VM_COUNT_AT (CHOICE_LENGTH_AT + 4 + 9)
#define FIRST_VM_AT (VM_COUNT_AT + 4)
#define NAME_LENGTH_AT (FIRST_VM_AT + 4 + 4 + 8 + 8 + COUNTS_BYTES)
#define RELEASE_LENGTH_AT (NAME_LENGTH_AT + 4 + 3 + 4 + 4)
#define VCPU_COUNT_AT (RELEASE_LENGTH_AT + 4 + 3 + 4 + 5)
/* At the end are their count, and 12 bytes for each of the three. */
#define SPECIAL_COUNT_AT(bytes) ((bytes)->size - 4 - 3 * 12)

static void add_vcpu(struct perfdata_vm *vm, uint32_t number, uint32_t tid)
{
	vector_append(&vm->vcpus, (struct perfdata_vcpu){ .number = number, .tid = tid });
}

static void set_text(char **field, const char *text)
{
	free(*field);
	*field = memory_strdup(text);
}

static void example(struct perfdata_inventory *ret)
{
	struct perfdata_vm *vm;

	perfdata_inventory_init(ret);
	ret->guest = true;
	ret->host_sampled = true;
	ret->guest_processes = true;
	ret->kernel_only = true;
	ret->guest_chains = true;
	set_text(&ret->event_choice, "no PMU: c");
	ret->other = (struct perfdata_vm_counts){ 1, 2, 3, 4, 5, 6, 7, 8 };
	vm = perfdata_inventory_add(ret, 4711, "web", "qemu");
	vm->memory_bytes = 1ULL << 40;
	vm->start_time_ns = 1753000000123456789;
	vm->counts = (struct perfdata_vm_counts){ UINT64_MAX, 8, 9, 10, 11, 12, 13, 14 };
	set_text(&vm->kernel_release, "6.1");
	set_text(&vm->host_name, "guest");
	add_vcpu(vm, 0, 4720);
	add_vcpu(vm, 1, 0);
	vm = perfdata_inventory_add(ret, 99, "", "firecracker");
	add_vcpu(vm, 7, 100);
	perfdata_inventory_add(ret, 4711, "web again", "qemu");
	perfdata_inventory_add_special(ret, 9, PERFDATA_AT_EXIT);
	perfdata_inventory_add_special(ret, 1ULL << 40, PERFDATA_NESTED);
	perfdata_inventory_add_special(ret, 3, PERFDATA_NESTED | PERFDATA_AT_EXIT |
						       PERFDATA_CHAIN_NO_DATA
							       << PERFDATA_CHAIN_END_SHIFT);
}

static void encode_example(struct buffer *ret)
{
	struct perfdata_inventory inventory;

	buffer_init(ret, MAX_BYTES);
	example(&inventory);
	perfdata_inventory_encode(&inventory, ret);
	assert_false(ret->overflow);
	perfdata_inventory_deinit(&inventory);
}

static void check_example(const struct perfdata_inventory *inventory)
{
	struct perfdata_inventory want;

	example(&want);
	assert_int_equal(inventory->guest, want.guest);
	assert_int_equal(inventory->host, want.host);
	assert_int_equal(inventory->host_sampled, want.host_sampled);
	assert_int_equal(inventory->guest_sampled, want.guest_sampled);
	assert_int_equal(inventory->guest_processes, want.guest_processes);
	assert_int_equal(inventory->no_memory, want.no_memory);
	assert_int_equal(inventory->kernel_only, want.kernel_only);
	assert_int_equal(inventory->guest_chains, want.guest_chains);
	assert_string_equal(inventory->event_choice, want.event_choice);
	assert_memory_equal(&inventory->other, &want.other, sizeof(want.other));
	assert_int_equal(inventory->vms.count, want.vms.count);
	for (size_t i = 0; i < want.vms.count; i++) {
		const struct perfdata_vm *got_vm = &inventory->vms.items[i];
		const struct perfdata_vm *vm = &want.vms.items[i];

		assert_int_equal(got_vm->pid, vm->pid);
		assert_string_equal(got_vm->name, vm->name);
		assert_string_equal(got_vm->vmm, vm->vmm);
		assert_string_equal(got_vm->kernel_release, vm->kernel_release);
		assert_string_equal(got_vm->host_name, vm->host_name);
		assert_true(got_vm->memory_bytes == vm->memory_bytes);
		assert_true(got_vm->start_time_ns == vm->start_time_ns);
		assert_memory_equal(&got_vm->counts, &vm->counts, sizeof(vm->counts));
		assert_int_equal(got_vm->vcpus.count, vm->vcpus.count);
		if (vm->vcpus.count)
			assert_memory_equal(got_vm->vcpus.items, vm->vcpus.items,
					    vm->vcpus.count * sizeof(*vm->vcpus.items));
	}
	assert_int_equal(inventory->special_ids.count, want.special_ids.count);
	for (size_t i = 0; i < want.special_ids.count; i++) {
		assert_true(inventory->special_ids.items[i].id == want.special_ids.items[i].id);
		assert_int_equal(inventory->special_ids.items[i].flags,
				 want.special_ids.items[i].flags);
	}
	perfdata_inventory_deinit(&want);
}

/* Decodes a copy of exactly SIZE bytes, so that ASan sees a read past the end. */
static struct error *decode_exactly(const void *data, size_t size, bool swap,
				    struct perfdata_inventory *ret)
{
	_cleanup_free_ void *copy = memory_dup(data, size);

	return perfdata_inventory_decode(copy, size, swap, ret);
}

static void assert_malformed(const struct buffer *bytes)
{
	struct perfdata_inventory inventory;

	assert_error(decode_exactly(bytes->data, bytes->size, false, &inventory), ERROR_BAD_DATA);
}

static void set_u32(struct buffer *bytes, size_t offset, uint32_t value)
{
	memcpy(bytes->data + offset, &value, sizeof(value));
}

static uint32_t get_u32(const struct buffer *bytes, size_t offset)
{
	uint32_t value;

	memcpy(&value, bytes->data + offset, sizeof(value));
	return value;
}

static void test_layout_is_as_documented(void **state)
{
	_cleanup_buffer_ struct buffer bytes;

	(void)state;
	encode_example(&bytes);
	assert_memory_equal(bytes.data, "pvvmlist", 8);
	assert_int_equal(get_u32(&bytes, VERSION_AT), 1);
	assert_int_equal(get_u32(&bytes, HEAD_SIZE_AT), 4 + COUNTS_BYTES + 4 + 9);
	assert_int_equal(get_u32(&bytes, 16), 1 | 4 | 16 | 64 | 128);
	assert_int_equal(get_u32(&bytes, 20), 1);
	assert_int_equal(get_u32(&bytes, 20 + 48), 7);
	assert_int_equal(get_u32(&bytes, 20 + 56), 8);
	assert_int_equal(get_u32(&bytes, CHOICE_LENGTH_AT), 9);
	assert_memory_equal(bytes.data + CHOICE_LENGTH_AT + 4, "no PMU: c", 9);
	assert_int_equal(get_u32(&bytes, VM_COUNT_AT), 3);
	assert_int_equal(get_u32(&bytes, FIRST_VM_AT + 4), 4711);
	assert_int_equal(get_u32(&bytes, NAME_LENGTH_AT), 3);
	assert_memory_equal(bytes.data + NAME_LENGTH_AT + 4, "web", 3);
	assert_int_equal(get_u32(&bytes, RELEASE_LENGTH_AT), 3);
	assert_memory_equal(bytes.data + RELEASE_LENGTH_AT + 4, "6.1", 3);
	assert_memory_equal(bytes.data + RELEASE_LENGTH_AT + 7 + 4, "guest", 5);
	assert_int_equal(get_u32(&bytes, VCPU_COUNT_AT), 2);
	assert_int_equal(get_u32(&bytes, VCPU_COUNT_AT + 8), 4720);
	assert_int_equal(get_u32(&bytes, FIRST_VM_AT), VCPU_COUNT_AT + 4 + 16 - FIRST_VM_AT - 4);
	assert_int_equal(get_u32(&bytes, SPECIAL_COUNT_AT(&bytes)), 3);
	assert_int_equal(get_u32(&bytes, SPECIAL_COUNT_AT(&bytes) + 4), 3);
	assert_int_equal(get_u32(&bytes, SPECIAL_COUNT_AT(&bytes) + 4 + 8), 1 | 2 | 2 << 4);
	assert_int_equal(get_u32(&bytes, SPECIAL_COUNT_AT(&bytes) + 4 + 12), 9);
	assert_int_equal(get_u32(&bytes, SPECIAL_COUNT_AT(&bytes) + 4 + 12 + 8), 2);
}

static void test_round_trip(void **state)
{
	_cleanup_buffer_ struct buffer bytes;
	struct perfdata_inventory inventory;

	(void)state;
	encode_example(&bytes);
	assert_no_error(decode_exactly(bytes.data, bytes.size, false, &inventory));
	check_example(&inventory);
	perfdata_inventory_deinit(&inventory);
}

static void test_empty(void **state)
{
	_cleanup_buffer_ struct buffer bytes;
	struct perfdata_inventory inventory;

	(void)state;
	buffer_init(&bytes, MAX_BYTES);
	perfdata_inventory_init(&inventory);
	perfdata_inventory_encode(&inventory, &bytes);
	perfdata_inventory_deinit(&inventory);
	assert_no_error(decode_exactly(bytes.data, bytes.size, false, &inventory));
	assert_string_equal(inventory.event_choice, "");
	assert_int_equal(inventory.vms.count, 0);
	perfdata_inventory_deinit(&inventory);
}

static void swap_u32(struct buffer *bytes, size_t offset)
{
	set_u32(bytes, offset, __builtin_bswap32(get_u32(bytes, offset)));
}

static void swap_u64(struct buffer *bytes, size_t offset)
{
	uint64_t value;

	memcpy(&value, bytes->data + offset, sizeof(value));
	value = __builtin_bswap64(value);
	memcpy(bytes->data + offset, &value, sizeof(value));
}

/* A file in the other byte order, swapped field by field. */
static void test_other_byte_order(void **state)
{
	_cleanup_buffer_ struct buffer bytes;
	struct perfdata_inventory inventory, one_vm;

	(void)state;
	buffer_init(&bytes, MAX_BYTES);
	perfdata_inventory_init(&inventory);
	inventory.host = true;
	inventory.other.lost = 77;
	perfdata_inventory_add(&inventory, 4711, "web", "qemu")->memory_bytes = 1ULL << 33;
	add_vcpu(&inventory.vms.items[0], 3, 4712);
	perfdata_inventory_add_special(&inventory, 7, PERFDATA_NESTED);
	perfdata_inventory_encode(&inventory, &bytes);
	perfdata_inventory_deinit(&inventory);
	for (size_t at = 8; at < 20; at += 4)
		swap_u32(&bytes, at);
	for (size_t at = 20; at < 84; at += 8)
		swap_u64(&bytes, at);
	for (size_t at = 84; at < 100; at += 4)
		swap_u32(&bytes, at);
	for (size_t at = 100; at < 180; at += 8)
		swap_u64(&bytes, at);
	swap_u32(&bytes, 180); /* "web" */
	swap_u32(&bytes, 187); /* "qemu" */
	for (size_t at = 195; at < 219; at += 4)
		swap_u32(&bytes, at);
	swap_u64(&bytes, 219);
	swap_u32(&bytes, 227);
	assert_int_equal(bytes.size, 231);
	assert_no_error(decode_exactly(bytes.data, bytes.size, true, &one_vm));
	assert_true(one_vm.host && !one_vm.guest);
	assert_int_equal(one_vm.other.lost, 77);
	assert_int_equal(one_vm.vms.count, 1);
	assert_string_equal(one_vm.vms.items[0].name, "web");
	assert_string_equal(one_vm.vms.items[0].vmm, "qemu");
	assert_true(one_vm.vms.items[0].memory_bytes == 1ULL << 33);
	assert_int_equal(one_vm.vms.items[0].vcpus.items[0].tid, 4712);
	assert_int_equal(perfdata_inventory_special(&one_vm, 7), PERFDATA_NESTED);
	perfdata_inventory_deinit(&one_vm);
}

static void test_find_gives_the_newest(void **state)
{
	struct perfdata_inventory inventory;

	(void)state;
	example(&inventory);
	assert_string_equal(perfdata_inventory_find(&inventory, 4711)->name, "web again");
	assert_string_equal(perfdata_inventory_find(&inventory, 99)->vmm, "firecracker");
	assert_null(perfdata_inventory_find(&inventory, 1));
	perfdata_inventory_deinit(&inventory);
}

static void test_truncated_at_each_byte(void **state)
{
	_cleanup_buffer_ struct buffer bytes;
	struct perfdata_inventory inventory;
	size_t whole;

	(void)state;
	encode_example(&bytes);
	whole = bytes.size;
	for (bytes.size = 0; bytes.size < whole; bytes.size++)
		assert_error(decode_exactly(bytes.data, bytes.size, false, &inventory),
			     ERROR_BAD_DATA);
}

static void test_counts_too_large(void **state)
{
	static const size_t fields[] = { HEAD_SIZE_AT, CHOICE_LENGTH_AT, VM_COUNT_AT,
					 FIRST_VM_AT,  NAME_LENGTH_AT,   RELEASE_LENGTH_AT,
					 VCPU_COUNT_AT };
	static const uint32_t values[] = { 65537, 0x7fffffff, 0x80000000, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		for (size_t j = 0; j < sizeof(values) / sizeof(*values); j++) {
			_cleanup_buffer_ struct buffer bytes;

			encode_example(&bytes);
			set_u32(&bytes, fields[i], values[j]);
			assert_malformed(&bytes);
		}
	}
}

static void test_special_ids(void **state)
{
	_cleanup_buffer_ struct buffer bytes;
	struct perfdata_inventory inventory;
	uint32_t count_at;

	(void)state;
	encode_example(&bytes);
	count_at = SPECIAL_COUNT_AT(&bytes);
	assert_no_error(decode_exactly(bytes.data, bytes.size, false, &inventory));
	assert_int_equal(perfdata_inventory_special(&inventory, 3), 1 | 2 | 2 << 4);
	assert_int_equal(perfdata_special_chain_end(1 | 2 | 2 << 4), PERFDATA_CHAIN_NO_DATA);
	assert_int_equal(perfdata_special_chain_end(15 << 4), PERFDATA_CHAIN_BAD);
	assert_int_equal(perfdata_inventory_special(&inventory, 9), PERFDATA_AT_EXIT);
	assert_int_equal(perfdata_inventory_special(&inventory, 1ULL << 40), PERFDATA_NESTED);
	assert_int_equal(perfdata_inventory_special(&inventory, 4), 0);
	assert_int_equal(perfdata_inventory_special(&inventory, 0), 0);
	assert_int_equal(perfdata_inventory_special(&inventory, UINT64_MAX), 0);
	perfdata_inventory_deinit(&inventory);
	set_u32(&bytes, count_at, 4);
	assert_malformed(&bytes);
	set_u32(&bytes, count_at, UINT32_MAX);
	assert_malformed(&bytes);
	set_u32(&bytes, count_at, 3);
	set_u32(&bytes, count_at + 4, 9); /* 9 twice */
	assert_malformed(&bytes);
	set_u32(&bytes, count_at + 4, 10); /* 10 before 9 */
	assert_malformed(&bytes);
}

/* One VM more than there are, one vCPU more than its entry has. */
static void test_counts_off_by_one(void **state)
{
	static const size_t fields[] = { VM_COUNT_AT, VCPU_COUNT_AT };

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		_cleanup_buffer_ struct buffer bytes;

		encode_example(&bytes);
		set_u32(&bytes, fields[i], get_u32(&bytes, fields[i]) + 1);
		assert_malformed(&bytes);
	}
}

static void test_zero_inside_a_string(void **state)
{
	_cleanup_buffer_ struct buffer bytes;

	(void)state;
	encode_example(&bytes);
	bytes.data[NAME_LENGTH_AT + 5] = 0;
	assert_malformed(&bytes);
}

static void test_unknown_version(void **state)
{
	_cleanup_buffer_ struct buffer bytes;
	struct perfdata_inventory inventory;

	(void)state;
	encode_example(&bytes);
	set_u32(&bytes, VERSION_AT, 2);
	assert_error(decode_exactly(bytes.data, bytes.size, false, &inventory), ERROR_UNSUPPORTED);
	bytes.data[0] ^= 1;
	assert_malformed(&bytes);
}

/* Fields appended to the header by a later writer are skipped. */
static void test_longer_head_is_read(void **state)
{
	_cleanup_buffer_ struct buffer bytes, longer;
	struct perfdata_inventory inventory;

	(void)state;
	encode_example(&bytes);
	buffer_init(&longer, MAX_BYTES);
	buffer_append(&longer, bytes.data, VM_COUNT_AT);
	buffer_append_u64(&longer, 0x1234567812345678);
	buffer_append(&longer, bytes.data + VM_COUNT_AT, bytes.size - VM_COUNT_AT);
	set_u32(&longer, HEAD_SIZE_AT, get_u32(&bytes, HEAD_SIZE_AT) + 8);
	assert_no_error(decode_exactly(longer.data, longer.size, false, &inventory));
	check_example(&inventory);
	perfdata_inventory_deinit(&inventory);
}

/*
 * If decoding succeeds in spite of a flipped bit, the result must be complete: encoding reads all
 * of it.
 */
static void test_bit_flips(void **state)
{
	_cleanup_buffer_ struct buffer bytes, again;
	size_t accepted = 0;

	(void)state;
	encode_example(&bytes);
	buffer_init(&again, MAX_BYTES);
	for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
		struct perfdata_inventory inventory;
		struct error *error;

		bytes.data[bit / 8] ^= 1U << bit % 8;
		error = decode_exactly(bytes.data, bytes.size, false, &inventory);
		if (!error) {
			buffer_clear(&again);
			perfdata_inventory_encode(&inventory, &again);
			assert_false(again.overflow);
			perfdata_inventory_deinit(&inventory);
			accepted++;
		}
		error_destroy(error);
		bytes.data[bit / 8] ^= 1U << bit % 8;
	}
	assert_true(accepted > 0);
}

static void test_bounds_of_the_encoder(void **state)
{
	_cleanup_buffer_ struct buffer bytes;
	struct perfdata_inventory inventory, decoded;
	_cleanup_free_ char *name = memory_calloc(70001, 1);

	(void)state;
	memset(name, 'n', 70000);
	buffer_init(&bytes, MAX_BYTES);
	perfdata_inventory_init(&inventory);
	perfdata_inventory_add(&inventory, 1, name, "vmm");
	for (uint32_t i = 0; i < 4097; i++)
		add_vcpu(&inventory.vms.items[0], i, i);
	perfdata_inventory_encode(&inventory, &bytes);
	perfdata_inventory_deinit(&inventory);
	assert_no_error(decode_exactly(bytes.data, bytes.size, false, &decoded));
	assert_int_equal(strlen(decoded.vms.items[0].name), 65535);
	assert_int_equal(decoded.vms.items[0].vcpus.count, 4096);
	perfdata_inventory_deinit(&decoded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout_is_as_documented),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_other_byte_order),
		cmocka_unit_test(test_find_gives_the_newest),
		cmocka_unit_test(test_truncated_at_each_byte),
		cmocka_unit_test(test_counts_too_large),
		cmocka_unit_test(test_special_ids),
		cmocka_unit_test(test_counts_off_by_one),
		cmocka_unit_test(test_zero_inside_a_string),
		cmocka_unit_test(test_unknown_version),
		cmocka_unit_test(test_longer_head_is_read),
		cmocka_unit_test(test_bit_flips),
		cmocka_unit_test(test_bounds_of_the_encoder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
