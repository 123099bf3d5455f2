/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest memory: which reads are allowed, how many there are, and what they cost. */
#include "test.h"

#include <string.h>

#include "guest/memory/memory.h"
#include "guest/memory/space.h"

struct fake {
	unsigned int calls;
	size_t pages;
	uint64_t unreadable; /* one page that cannot be read */
};

/* Every word of a page contains the page's own address. */
static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	struct fake *fake = context;
	uint64_t *words = pages;

	fake->calls++;
	fake->pages += count;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(from[i].value % GUEST_PAGE_BYTES, 0);
		if (from[i].value == fake->unreadable)
			return false;
		for (size_t word = 0; word < GUEST_PAGE_BYTES / 8; word++)
			*words++ = from[i].value;
	}
	return true;
}

static const struct guest_slot slots[] = {
	{ { 0x100000 }, 0x100000 },
	{ { 0x0 }, 0x2000 },
	{ { 0x100000000 }, 0x1800 }, /* half a page at the end */
};

static struct guest_memory *make(struct fake *fake, uint64_t max_bytes)
{
	struct guest_memory_source source = { read_pages, fake };

	*fake = (struct fake){ .unreadable = UINT64_MAX };
	return guest_memory_create(&source, slots, 3, max_bytes);
}

static void only_slots_are_read(void **state)
{
	struct fake fake;
	_cleanup_guest_memory_ struct guest_memory *memory = make(&fake, 1 << 20);
	uint64_t words[4];

	(void)state;
	assert_true(guest_memory_read(memory, GPA(0x1ff8), words, 8));
	assert_true(words[0] == 0x1000);
	assert_false(guest_memory_read(memory, GPA(0x1ffc), words, 8));
	assert_false(guest_memory_read(memory, GPA(0x2000), words, 1));
	assert_false(guest_memory_read(memory, GPA(0xfffff), words, 2));
	assert_true(guest_memory_read(memory, GPA(0x1ffff8), words, 8));
	assert_false(guest_memory_read(memory, GPA(0x200000), words, 8));
	assert_true(guest_memory_read(memory, GPA(0x100000000), words, 8));
	assert_false(guest_memory_read(memory, GPA(0x100001000), words, 8));
	assert_false(guest_memory_read(memory, GPA(UINT64_MAX - 3), words, 8));
	assert_int_equal(fake.pages, 3);
}

static void pages_are_read_once(void **state)
{
	struct fake fake;
	_cleanup_guest_memory_ struct guest_memory *memory = make(&fake, 1 << 20);
	struct gpa wanted[100];
	uint64_t word;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		wanted[i] = GPA(0x100000 + i * GUEST_PAGE_BYTES + 8);
	guest_memory_prefetch(memory, wanted, 100);
	assert_int_equal(fake.calls, 2); /* 64 pages, then 36 */
	for (size_t i = 0; i < 100; i++) {
		assert_true(guest_memory_read(memory, wanted[i], &word, 8));
		assert_true(word == wanted[i].value - 8);
	}
	assert_int_equal(fake.calls, 2);
	assert_int_equal(guest_memory_bytes_read(memory), 100 * GUEST_PAGE_BYTES);
	guest_memory_forget(memory);
	assert_true(guest_memory_read(memory, wanted[0], &word, 8));
	assert_int_equal(fake.calls, 3);
}

static void the_limit_holds(void **state)
{
	struct fake fake;
	_cleanup_guest_memory_ struct guest_memory *memory = make(&fake, 3 * GUEST_PAGE_BYTES);
	uint64_t word;

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		assert_true(guest_memory_read(memory, GPA(0x100000 + i * 4096), &word, 8));
	assert_false(guest_memory_exhausted(memory));
	assert_false(guest_memory_read(memory, GPA(0x103000), &word, 8));
	assert_true(guest_memory_exhausted(memory));
	assert_true(guest_memory_read(memory, GPA(0x102000), &word, 8));
	assert_int_equal(fake.pages, 3);
}

static void what_cannot_be_read_is_asked_once(void **state)
{
	struct fake fake;
	_cleanup_guest_memory_ struct guest_memory *memory = make(&fake, 1 << 20);
	uint64_t word;

	(void)state;
	fake.unreadable = 0x105000;
	assert_false(guest_memory_read(memory, GPA(0x105000), &word, 8));
	assert_false(guest_memory_read(memory, GPA(0x105008), &word, 8));
	assert_int_equal(fake.calls, 1);
}

/* Without paging, a 32-bit guest's addresses are physical: enough to test a space on its own. */
static void spaces_read_across_pages(void **state)
{
	struct fake fake;
	_cleanup_guest_memory_ struct guest_memory *memory = make(&fake, 1 << 20);
	struct arch_mmu mmu = { .arch = &arch_i386 };
	struct guest_space space;
	uint64_t words[2];
	char text[16];
	uint8_t *copy;

	(void)state;
	guest_space_init(&space, memory, &mmu);
	assert_true(guest_space_read(&space, GVA(0x100ff8), words, 16));
	assert_true(words[0] == 0x100000 && words[1] == 0x101000);
	assert_false(guest_space_read(&space, GVA(0x1ffff8), words, 16));
	assert_false(guest_space_read(&space, GVA(UINT64_MAX - 7), words, 16));
	/* 0x101000 contains "", 0x10, 0x10, 0 …: from byte 1 on that is "\x10\x10". */
	assert_true(guest_space_read_string(&space, GVA(0x101001), text, sizeof(text)));
	assert_string_equal(text, "\x10\x10");
	assert_false(guest_space_read_string(&space, GVA(0x101001), text, 2));
	assert_string_equal(text, "\x10");
	copy = guest_space_copy(&space, GVA(0x100800), 0x80000, 1 << 20);
	assert_non_null(copy);
	assert_memory_equal(copy + 0x800, &(uint64_t){ 0x101000 }, 8);
	assert_memory_equal(copy + 0x7fff8, &(uint64_t){ 0x180000 }, 8);
	free(copy);
	assert_null(guest_space_copy(&space, GVA(0x100800), 0x80001, 0x80000));
	assert_null(guest_space_copy(&space, GVA(0x1ff800), 0x1000, 1 << 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_slots_are_read),
		cmocka_unit_test(pages_are_read_once),
		cmocka_unit_test(the_limit_holds),
		cmocka_unit_test(what_cannot_be_read_is_asked_once),
		cmocka_unit_test(spaces_read_across_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
