/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repeated contact with a small guest: when earlier results are used, when they are not, and what
 * is left in the folder. The parser's process is this test, started again as perfvisor does it.
 */
#include "walls/cage.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/small_guest.h"
#include "base/memory.h"
#include "host/inspect/guest_recall.h"
#include "service/service.h"

#define LARGE_BYTES ((off_t)64 << 20) /* eight of them are too many */

struct fixture {
	struct small_guest guest;
	char folder[64];
	struct guest_cache_vm vm;
	struct buffer symbols, unwind;
	bool recalled;
	uint64_t bytes_read;
};

static int set_up(void **state)
{
	struct fixture *fixture = memory_calloc(1, sizeof(*fixture));

	small_guest_build(&fixture->guest);
	snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/perfvisor-test-XXXXXX");
	if (!mkdtemp(fixture->folder))
		return -1;
	guest_cache_vm_init(&fixture->vm, fixture->folder, getpid(), 7);
	buffer_init(&fixture->symbols, GUEST_MESSAGE_MAX);
	buffer_init(&fixture->unwind, GUEST_MESSAGE_MAX);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *command = memory_printf("rm -rf '%s'", fixture->folder);

	buffer_deinit(&fixture->symbols);
	buffer_deinit(&fixture->unwind);
	free(fixture);
	return system(command);
}

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	const struct small_guest *guest = context;

	for (size_t i = 0; i < count; i++)
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, guest->memory + from[i].value,
		       GUEST_PAGE_BYTES);
	return true;
}

static void make_contact(struct fixture *fixture)
{
	static const struct guest_slot slot = { { 0 }, SMALL_GUEST_BYTES };
	static const struct guest_client_limits limits = { 1 << 24, 60 };
	static const struct arch_mmu mmu = { .arch = &arch_x86_64,
					     .x86 = { .cr3 = SMALL_GUEST_CR3, .efer = 1 << 10 } };
	struct guest_memory_source source = { read_pages, &fixture->guest };
	_cleanup_guest_client_ struct guest_client *client = NULL;
	_cleanup_buffer_ struct buffer answer;
	uint32_t recalled;

	buffer_init(&answer, GUEST_MESSAGE_MAX);
	assert_no_error(guest_client_start(&source, &slot, 1, &limits, &client));
	assert_no_error(guest_recall_kernel(client, &fixture->vm));
	assert_no_error(guest_client_open(client, &mmu, &answer));
	memcpy(&recalled, answer.data, sizeof(recalled));
	fixture->recalled = recalled;
	if (!recalled)
		guest_recall_keep_kernel(client, &fixture->vm);
	assert_no_error(guest_recall_table(client, &fixture->vm, GUEST_ASK_SYMBOLS,
					   GUEST_CACHE_SYMBOLS, &fixture->symbols));
	assert_no_error(guest_recall_table(client, &fixture->vm, GUEST_ASK_UNWIND,
					   GUEST_CACHE_UNWIND, &fixture->unwind));
	fixture->bytes_read = guest_client_bytes_read(client);
}

static uint64_t key_of(const struct fixture *fixture, enum guest_cache_part part)
{
	_cleanup_guest_cache_entry_ struct guest_cache_entry entry;

	return guest_cache_load(&fixture->vm, part, &entry) ? entry.key : 0;
}

static size_t count_files(const char *folder)
{
	DIR *stream = opendir(folder);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(stream);
	while ((entry = readdir(stream)))
		count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(stream);
	return count;
}

static void a_later_contact_knows_the_guest(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_buffer_ struct buffer symbols, unwind;
	uint64_t bytes_read;

	buffer_init(&symbols, GUEST_MESSAGE_MAX);
	buffer_init(&unwind, GUEST_MESSAGE_MAX);
	make_contact(fixture);
	assert_false(fixture->recalled);
	assert_int_equal(count_files(fixture->folder), 3);
	bytes_read = fixture->bytes_read;
	buffer_append(&symbols, fixture->symbols.data, fixture->symbols.size);
	buffer_append(&unwind, fixture->unwind.data, fixture->unwind.size);
	make_contact(fixture);
	assert_true(fixture->recalled);
	assert_true(fixture->bytes_read < bytes_read);
	assert_true(symbols.size && unwind.size);
	assert_int_equal(fixture->symbols.size, symbols.size);
	assert_memory_equal(fixture->symbols.data, symbols.data, symbols.size);
	assert_int_equal(fixture->unwind.size, unwind.size);
	assert_memory_equal(fixture->unwind.data, unwind.data, unwind.size);
	assert_int_equal(count_files(fixture->folder), 3);
}

/* Its kernel is known, but the modules' symbols are current. */
static void modules_are_read_anew(void **state)
{
	struct fixture *fixture = *state;
	uint64_t symbols, unwind;

	make_contact(fixture);
	symbols = key_of(fixture, GUEST_CACHE_SYMBOLS);
	unwind = key_of(fixture, GUEST_CACHE_UNWIND);
	assert_true(memmem(fixture->symbols.data, fixture->symbols.size, "virtio", 6) == NULL);
	small_guest_put_text(&fixture->guest, SMALL_GUEST_AT(PLACE_STRTAB) + 1, "virtio");
	make_contact(fixture);
	assert_true(fixture->recalled);
	assert_non_null(memmem(fixture->symbols.data, fixture->symbols.size, "virtio", 6));
	assert_int_not_equal(key_of(fixture, GUEST_CACHE_SYMBOLS), symbols);
	assert_int_not_equal(key_of(fixture, GUEST_CACHE_UNWIND), unwind);
}

static void another_kernel_is_looked_for(void **state)
{
	struct fixture *fixture = *state;
	uint64_t symbols;

	make_contact(fixture);
	symbols = key_of(fixture, GUEST_CACHE_SYMBOLS);
	/* The last byte of its build-id. */
	fixture->guest.memory[SMALL_GUEST_PHYSICAL + 0x1000 + 64 + 23] ^= 1;
	make_contact(fixture);
	assert_false(fixture->recalled);
	assert_int_not_equal(key_of(fixture, GUEST_CACHE_SYMBOLS), symbols);
	make_contact(fixture);
	assert_true(fixture->recalled);
}

static void another_vm_is_not_known(void **state)
{
	struct fixture *fixture = *state;
	struct guest_cache_vm vm = fixture->vm;

	make_contact(fixture);
	fixture->vm.fd++;
	make_contact(fixture);
	assert_false(fixture->recalled);
	fixture->vm = vm;
	fixture->vm.start_ticks++;
	make_contact(fixture);
	assert_false(fixture->recalled);
	fixture->vm = vm;
	fixture->vm.host_boot[0] ^= 1;
	make_contact(fixture);
	assert_false(fixture->recalled);
}

/* A file that was renamed to that of another VM is not used. */
static void a_file_says_whose_it_is(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *command =
		memory_printf("cd '%s' && for f in *-7.*; do mv $f ${f%%-7.*}-8.${f##*.}; done",
			      fixture->folder);

	make_contact(fixture);
	assert_int_equal(system(command), 0);
	fixture->vm.fd = 8;
	assert_int_equal(key_of(fixture, GUEST_CACHE_SYMBOLS), 0);
	make_contact(fixture);
	assert_false(fixture->recalled);
}

static void damage_is_a_miss(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *cut =
		memory_printf("truncate -s -1 '%s'/*.kernel", fixture->folder);
	_cleanup_free_ char *change = memory_printf(
		"printf x | dd of=$(echo '%s'/*.kernel) bs=1 seek=9000 conv=notrunc 2>/dev/null",
		fixture->folder);

	make_contact(fixture);
	assert_int_equal(system(change), 0);
	make_contact(fixture);
	assert_false(fixture->recalled);
	assert_int_equal(system(cut), 0);
	make_contact(fixture);
	assert_false(fixture->recalled);
	make_contact(fixture);
	assert_true(fixture->recalled);
}

static void a_folder_that_others_can_change_is_not_used(void **state)
{
	struct fixture *fixture = *state;

	make_contact(fixture);
	assert_int_equal(chmod(fixture->folder, 0755), 0);
	guest_cache_vm_init(&fixture->vm, fixture->folder, getpid(), 7);
	make_contact(fixture);
	assert_false(fixture->recalled);
	guest_cache_vm_init(&fixture->vm, "/nonexistent/folder", getpid(), 7);
	make_contact(fixture);
	assert_false(fixture->recalled);
}

static void vms_that_are_gone_are_forgotten(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *command =
		memory_printf("cd '%s' && touch foreign && touch -d 2020-01-01 .writing.abcdef",
			      fixture->folder);
	struct guest_cache_vm gone;
	int status, ends[2];
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		close(ends[1]);
		_exit((int)read(ends[0], &status, 1));
	}
	guest_cache_vm_init(&gone, fixture->folder, child, 0);
	guest_cache_store(&gone, GUEST_CACHE_KERNEL, 0, "x", 1);
	guest_cache_store(&fixture->vm, GUEST_CACHE_KERNEL, 0, "x", 1);
	assert_int_equal(system(command), 0);
	assert_int_equal(count_files(fixture->folder), 4);
	close(ends[1]);
	close(ends[0]);
	waitpid(child, &status, 0);
	guest_cache_store(&fixture->vm, GUEST_CACHE_KERNEL, 0, "y", 1);
	/* A file that was begun long ago is of no use either; one that is not ours stays. */
	assert_int_equal(count_files(fixture->folder), 2);
}

static char *large_file(const struct fixture *fixture, uint32_t number)
{
	return memory_printf("%s/%u-%llu-%u.kernel", fixture->folder, fixture->vm.pid,
			     (unsigned long long)fixture->vm.start_ticks, number);
}

static void the_oldest_of_too_much_goes(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_guest_cache_entry_ struct guest_cache_entry entry;
	const uint32_t oldest = 105;
	_cleanup_free_ char *gone = large_file(fixture, oldest);

	for (uint32_t number = 100; number < 108; number++) {
		_cleanup_free_ char *path = large_file(fixture, number);
		time_t time = number == oldest ? 1000 : 2000 - number;
		const struct timespec times[2] = { { time }, { time } };
		_cleanup_close_ int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

		assert_true(file >= 0 && !ftruncate(file, LARGE_BYTES) && !futimens(file, times));
	}
	guest_cache_store(&fixture->vm, GUEST_CACHE_KERNEL, 1, "new", 3);
	assert_int_equal(count_files(fixture->folder), 8);
	assert_int_not_equal(access(gone, F_OK), 0);
	assert_true(guest_cache_load(&fixture->vm, GUEST_CACHE_KERNEL, &entry));
	assert_memory_equal(entry.data, "new", 3);
}

static int be_a_parser(void)
{
	if (cage_enter(CAGE_GUEST))
		return 1;
	guest_service_run(CAGE_FD);
	return 0;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_later_contact_knows_the_guest),
		TEST(modules_are_read_anew),
		TEST(another_kernel_is_looked_for),
		TEST(another_vm_is_not_known),
		TEST(a_file_says_whose_it_is),
		TEST(damage_is_a_miss),
		TEST(a_folder_that_others_can_change_is_not_used),
		TEST(vms_that_are_gone_are_forgotten),
		TEST(the_oldest_of_too_much_goes),
	};

	if (argc > 1 && !strcmp(argv[1], CAGE_GUEST_COMMAND))
		return be_a_parser();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
