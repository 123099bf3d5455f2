/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small guest's kernel, kept and opened again: with the same guest, with others, and from damaged
 * bytes.
 */
#include "test.h"

#include "base/memory.h"
#include "guest/kernel/kernel.h"
#include "guest/small_guest.h"

#define START_GPA_AT 20 /* in the kept data */

struct fixture {
	struct small_guest guest;
	struct guest_memory *memory;
	struct guest_space space;
	struct guest_kernel *kernel;
	struct buffer kept;
};

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	const struct small_guest *guest = context;

	for (size_t i = 0; i < count; i++)
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, guest->memory + from[i].value,
		       GUEST_PAGE_BYTES);
	return true;
}

static int set_up(void **state)
{
	static const struct guest_slot slot = { { 0 }, SMALL_GUEST_BYTES };
	struct fixture *fixture = memory_calloc(1, sizeof(*fixture));
	struct guest_memory_source source = { read_pages, &fixture->guest };
	struct arch_mmu mmu = { .arch = &arch_x86_64,
				.x86 = { .cr3 = SMALL_GUEST_CR3, .efer = 1 << 10 } };

	small_guest_build(&fixture->guest);
	fixture->memory = guest_memory_create(&source, &slot, 1, 1 << 24);
	guest_space_init(&fixture->space, fixture->memory, &mmu);
	buffer_init(&fixture->kept, 1 << 24);
	assert_no_error(guest_kernel_open(&fixture->space, &fixture->kernel));
	assert_true(guest_kernel_keep(fixture->kernel, &fixture->kept));
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	guest_kernel_close(fixture->kernel);
	guest_memory_destroy(fixture->memory);
	buffer_deinit(&fixture->kept);
	free(fixture);
	return 0;
}

static struct error *recall(struct fixture *fixture, struct guest_kernel **ret)
{
	guest_space_forget(&fixture->space);
	return guest_kernel_recall(&fixture->space, fixture->kept.data, fixture->kept.size, ret);
}

static void assert_gone(struct fixture *fixture, enum error_code code)
{
	struct guest_kernel *kernel;

	assert_error(recall(fixture, &kernel), code);
}

static void the_same_kernel_is_known(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_guest_kernel_ struct guest_kernel *again = NULL;
	const struct guest_symbol *symbols = guest_kernel_symbols(fixture->kernel), *others;
	const uint8_t *build_id, *other_id;
	struct guest_btf_field pid, other_pid;
	size_t bytes;

	assert_no_error(recall(fixture, &again));
	others = guest_kernel_symbols(again);
	assert_int_equal(guest_kernel_symbol_count(again),
			 guest_kernel_symbol_count(fixture->kernel));
	for (size_t i = 0; i < guest_kernel_symbol_count(again); i++) {
		struct gva here, there;

		assert_int_equal(others[i].address.value, symbols[i].address.value);
		assert_int_equal(others[i].type, symbols[i].type);
		assert_string_equal(others[i].name, symbols[i].name);
		assert_true(guest_kernel_find_symbol(again, symbols[i].name, &here));
		assert_true(guest_kernel_find_symbol(fixture->kernel, symbols[i].name, &there));
		assert_int_equal(here.value, there.value);
	}
	assert_int_equal(guest_kernel_get_image(again)->end.value,
			 guest_kernel_get_image(fixture->kernel)->end.value);
	bytes = guest_kernel_build_id(fixture->kernel, &build_id);
	assert_int_equal(bytes, 8);
	assert_int_equal(guest_kernel_build_id(again, &other_id), bytes);
	assert_memory_equal(build_id, other_id, bytes);
	assert_true(guest_btf_find_field(guest_kernel_btf(fixture->kernel), "task_struct", "pid",
					 &pid));
	assert_true(guest_btf_find_field(guest_kernel_btf(again), "task_struct", "pid",
					 &other_pid));
	assert_int_equal(pid.offset, other_pid.offset);
	assert_true(guest_kernel_identity(again));
	assert_int_equal(guest_kernel_identity(again), guest_kernel_identity(fixture->kernel));
}

static uint8_t *byte_at(struct fixture *fixture, uint64_t gva)
{
	return &fixture->guest.memory[SMALL_GUEST_PHYSICAL + (gva - SMALL_GUEST_KERNEL)];
}

static void another_build_id_is_another_kernel(void **state)
{
	struct fixture *fixture = *state;
	struct gva notes_end;

	assert_true(guest_kernel_find_symbol(fixture->kernel, "__stop_notes", &notes_end));
	*byte_at(fixture, notes_end.value - 1) ^= 1;
	assert_gone(fixture, ERROR_NOT_FOUND);
}

/* Changes each part of its symbol table, keeping its size. */
static void other_symbols_are_another_kernel(void **state)
{
	struct fixture *fixture = *state;
	uint64_t found = 0;

	for (uint64_t at = SMALL_GUEST_READ_ONLY; at < SMALL_GUEST_DATA; at++) {
		struct guest_kernel *kernel = NULL;
		struct error *error;

		*byte_at(fixture, at) ^= 1;
		error = recall(fixture, &kernel);
		if (error)
			found++;
		error_destroy(error);
		guest_kernel_close(kernel);
		*byte_at(fixture, at) ^= 1;
	}
	/* The token index, everything before it back to the names, and 300 addresses. */
	assert_in_range(found, 512 + 4 * SMALL_GUEST_SYMBOLS, 2 * 4096 + 8);
}

static void a_kernel_that_moved_is_another(void **state)
{
	struct fixture *fixture = *state;

	fixture->kept.data[START_GPA_AT + 2] ^= 1;
	assert_gone(fixture, ERROR_NOT_FOUND);
}

static void what_is_cut_is_no_kernel(void **state)
{
	struct fixture *fixture = *state;
	size_t whole = fixture->kept.size;

	for (size_t size = 0; size < whole; size++) {
		_cleanup_free_ uint8_t *part = memory_dup(fixture->kept.data, size);
		struct guest_kernel *kernel;
		struct error *error;

		error = guest_kernel_recall(&fixture->space, part, size, &kernel);
		assert_non_null(error);
		error_destroy(error);
	}
}

/* It may then have odd names, or none, and must be safe to use. */
static void damage_does_no_harm(void **state)
{
	struct fixture *fixture = *state;

	for (size_t at = 0; at < fixture->kept.size; at++) {
		struct guest_kernel *kernel = NULL;
		struct gva address;

		fixture->kept.data[at] ^= 0xff;
		error_destroy(guest_kernel_recall(&fixture->space, fixture->kept.data,
						  fixture->kept.size, &kernel));
		if (kernel) {
			guest_kernel_find_symbol(kernel, "init_task", &address);
			for (size_t i = 0; i < guest_kernel_symbol_count(kernel); i++)
				assert_true(strlen(guest_kernel_symbols(kernel)[i].name) <
					    fixture->kept.size);
		}
		guest_kernel_close(kernel);
		fixture->kept.data[at] ^= 0xff;
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_same_kernel_is_known),
		TEST(another_build_id_is_another_kernel),
		TEST(other_symbols_are_another_kernel),
		TEST(a_kernel_that_moved_is_another),
		TEST(what_is_cut_is_no_kernel),
		TEST(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
