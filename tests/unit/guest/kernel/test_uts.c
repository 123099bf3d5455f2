/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's release and host name, recognised by their shape in the kernel's writable data. */
#include "test.h"

#include <string.h>

#include "guest/kernel/uts.h"

/* Three 2 MB pages: text, read-only data, data; the page tables are before them. */
#define MEMORY_BYTES (4ULL * LARGE)
#define LARGE (2ULL << 20)
#define TEXT_GPA (1 * LARGE)
#define READ_ONLY_GPA (2 * LARGE)
#define DATA_GPA (3 * LARGE)
#define IMAGE 0xffffffff81000000ULL
#define DATA_GVA (IMAGE + 2 * LARGE)
#define LARGE_PAGE 0xe1ULL /* present, accessed, dirty, large; not writable */
#define WRITABLE 2ULL
#define NO_EXECUTE (1ULL << 63)

static uint8_t ram[MEMORY_BYTES];

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, ram + from[i].value,
		       GUEST_PAGE_BYTES);
	return true;
}

static void put_entry(uint64_t at, uint64_t entry)
{
	memcpy(ram + at, &entry, sizeof(entry));
}

struct guest {
	struct guest_memory *memory;
	struct guest_space space;
	struct guest_kernel_image image;
};

static int begin(void **state)
{
	static const struct guest_memory_source source = { read_pages, NULL };
	static const struct guest_slot slot = { { 0 }, MEMORY_BYTES };
	static const struct arch_mmu mmu = { .arch = &arch_x86_64,
					     .x86 = { .cr0 = 0x80050033, .cr3 = 0x1000, .cr4 = 0x20,
						      .efer = 0xd01 } };
	static struct guest guest;

	memset(ram, 0, sizeof(ram));
	put_entry(0x1000 + 511 * 8, 0x2000 | 3);
	put_entry(0x2000 + 510 * 8, 0x3000 | 3);
	put_entry(0x3000 + 8 * 8, TEXT_GPA | LARGE_PAGE);
	put_entry(0x3000 + 9 * 8, READ_ONLY_GPA | LARGE_PAGE | NO_EXECUTE);
	put_entry(0x3000 + 10 * 8, DATA_GPA | LARGE_PAGE | WRITABLE | NO_EXECUTE);
	guest.memory = guest_memory_create(&source, &slot, 1, MEMORY_BYTES);
	guest_space_init(&guest.space, guest.memory, &mmu);
	assert_true(guest_kernel_image_find(&guest.space, &guest.image));
	*state = &guest;
	return 0;
}

static int end(void **state)
{
	struct guest *guest = *state;

	guest_kernel_image_deinit(&guest->image);
	guest_memory_destroy(guest->memory);
	return 0;
}

static void put_names(uint64_t gpa, const char *host_name, const char *release)
{
	const char *const fields[] = { "Linux", host_name, release, "#1 SMP Debian", "x86_64",
				       "(none)" };

	for (size_t i = 0; i < 6; i++)
		memcpy(ram + gpa + 65 * i, fields[i], strlen(fields[i]) + 1);
}

static void expect(struct guest *guest, const char *host_name, const char *release)
{
	struct guest_uts uts;

	guest_memory_forget(guest->memory);
	assert_true(guest_uts_find(&guest->space, &guest->image, &uts));
	assert_string_equal(uts.host_name, host_name);
	assert_string_equal(uts.release, release);
}

static void names_are_found(void **state)
{
	put_names(DATA_GPA + 0x13704, "db1.example.org", "6.1.0-50-cloud-amd64");
	expect(*state, "db1.example.org", "6.1.0-50-cloud-amd64");
}

/* Memory is read 256 KiB at a time. */
static void names_across_two_reads_are_found(void **state)
{
	put_names(DATA_GPA + 0x40000 - 100, "across", "6.12.1");
	expect(*state, "across", "6.12.1");
}

static void names_at_the_end_are_found(void **state)
{
	put_names(DATA_GPA + LARGE - 6 * 65, "last", "7.2.13");
	expect(*state, "last", "7.2.13");
}

static void names_beyond_the_end_are_not(void **state)
{
	struct guest *guest = *state;
	struct guest_uts uts;

	memcpy(ram + DATA_GPA + LARGE - 100, "Linux", 6);
	assert_false(guest_uts_find(&guest->space, &guest->image, &uts));
}

static void what_is_similar_is_passed_over(void **state)
{
	struct guest *guest = *state;
	struct guest_uts uts;

	put_names(READ_ONLY_GPA + 0x1000, "read-only", "6.1.1");
	put_names(DATA_GPA + 0x800, "the weak one", "6.1.0");
	memcpy(ram + DATA_GPA + 0x800 + 3 * 65, "# SMP Debian", 13);
	put_names(DATA_GPA + 0x1000, "not padded", "6.1.2");
	ram[DATA_GPA + 0x1000 + 64] = 'x';
	put_names(DATA_GPA + 0x2000, "no number", "six");
	put_names(DATA_GPA + 0x3000, "no version", "6.1.3");
	ram[DATA_GPA + 0x3000 + 3 * 65] = 0;
	put_names(DATA_GPA + 0x4000, "an endless name", "6.1.4");
	memset(ram + DATA_GPA + 0x4000 + 65, 'e', 65);
	put_names(DATA_GPA + 0x5000, "an endless release", "6.1.5");
	memset(ram + DATA_GPA + 0x5000 + 130, '6', 65);
	assert_false(guest_uts_find(&guest->space, &guest->image, &uts));
	put_names(DATA_GPA + 0x6000, "this one", "6.1.6");
	expect(guest, "this one", "6.1.6");
}

static void a_known_place_is_read(void **state)
{
	struct guest *guest = *state;
	struct guest_uts uts;

	put_names(DATA_GPA + 0x1004, "behind a count", "5.10.0");
	assert_true(guest_uts_read(&guest->space, GVA(DATA_GVA + 0x1000), &uts));
	assert_string_equal(uts.host_name, "behind a count");
	assert_true(guest_uts_read(&guest->space, GVA(DATA_GVA + 0x1004), &uts));
	assert_false(guest_uts_read(&guest->space, GVA(DATA_GVA + 0x1008), &uts));
	assert_false(guest_uts_read(&guest->space, GVA(DATA_GVA + LARGE - 8), &uts));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_found, begin, end),
		cmocka_unit_test_setup_teardown(names_across_two_reads_are_found, begin, end),
		cmocka_unit_test_setup_teardown(names_at_the_end_are_found, begin, end),
		cmocka_unit_test_setup_teardown(names_beyond_the_end_are_not, begin, end),
		cmocka_unit_test_setup_teardown(what_is_similar_is_passed_over, begin, end),
		cmocka_unit_test_setup_teardown(a_known_place_is_read, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
