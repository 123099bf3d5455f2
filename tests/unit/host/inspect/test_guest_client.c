/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caged parser and its owner. The parser's process is this test, started again as perfvisor
 * does it; an environment variable selects its behaviour: good and hostile parsers.
 */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cage.h"
#include "base/memory.h"
#include "base/progress.h"
#include "host/inspect/guest_client.h"
#include "service/service.h"

#define BEHAVIOUR "PERFVISOR_TEST_PARSER"

static void tell(enum guest_message type, const void *data, size_t size)
{
	error_destroy(guest_wire_send(CAGE_FD, type, data, size));
}

static void wait_for_question(void)
{
	struct buffer body;
	uint32_t type;

	buffer_init(&body, GUEST_MESSAGE_MAX);
	error_destroy(guest_wire_receive(CAGE_FD, 0, &type, &body));
	buffer_deinit(&body);
}

static void ask_for(uint64_t gpa)
{
	tell(GUEST_READ, &gpa, sizeof(gpa));
}

/* Ends when no more memory is available, or if ASan interferes. */
static void take_all_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
	static const size_t part = 16 << 20, enough = (size_t)4 << 30;
	size_t taken = 0;

	while (taken < enough && malloc(part))
		taken += part;
	if (taken < enough)
		_exit(0);
	tell(GUEST_RESULT, NULL, 0);
	for (;;)
		wait_for_question();
#else
	_exit(0);
#endif
}

/* Each behaviour is something that a parser taken over by its guest may try. */
static void misbehave(const char *behaviour)
{
	static const uint32_t longest[2] = { GUEST_RESULT, UINT32_MAX };
	static const char much[1 << 20];

	if (!strcmp(behaviour, "opens a file"))
		(void)!open("/etc/passwd", O_RDONLY);
	else if (!strcmp(behaviour, "makes a socket"))
		(void)!socket(AF_INET, SOCK_STREAM, 0);
	else if (!strcmp(behaviour, "forks"))
		(void)!fork();
	else if (!strcmp(behaviour, "runs a program"))
		execl("/bin/true", "true", NULL);
	else if (!strcmp(behaviour, "kills its owner"))
		kill(getppid(), SIGTERM);
	else if (!strcmp(behaviour, "reads outside"))
		ask_for(0x10000);
	else if (!strcmp(behaviour, "reads unaligned"))
		ask_for(0x800);
	else if (!strcmp(behaviour, "promises too much"))
		(void)!send(CAGE_FD, longest, sizeof(longest), 0);
	else if (!strcmp(behaviour, "answers too much"))
		tell(GUEST_RESULT, much, sizeof(much));
	else if (!strcmp(behaviour, "talks nonsense"))
		tell(GUEST_ASK_OPEN, "x", 1);
	else if (!strcmp(behaviour, "fails oddly"))
		tell(GUEST_FAILED, "\377\377\377\377", 4);
	else if (!strcmp(behaviour, "does not listen"))
		for (;;)
			ask_for(0);
	else if (!strcmp(behaviour, "takes all memory"))
		take_all_memory();
	else if (!strcmp(behaviour, "reads for ever"))
		for (;;) {
			ask_for(0);
			wait_for_question();
		}
	/* Those that survive do not answer any more. */
	wait_for_question();
}

static int be_a_parser(void)
{
	const char *behaviour = getenv(BEHAVIOUR);
	struct error *error = cage_enter(CAGE_GUEST);

	if (error || !behaviour)
		_exit(1);
	if (!strcmp(behaviour, "serves"))
		guest_service_run(CAGE_FD);
	wait_for_question();
	misbehave(behaviour);
	_exit(0);
}

static unsigned int pages_read;

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		assert_true(from[i].value < 0x4000);
	pages_read += count;
	memset(pages, 0, count * GUEST_PAGE_BYTES);
	return true;
}

static struct guest_client *start(const char *behaviour, double seconds)
{
	static const struct guest_slot slot = { { 0 }, 0x4000 };
	struct guest_memory_source source = { .read_pages = read_pages };
	struct guest_client_limits limits = { .bytes_per_call = 1 << 20,
					      .seconds_per_call = seconds };
	struct guest_client *client;

	pages_read = 0;
	setenv(BEHAVIOUR, behaviour, 1);
	assert_no_error(guest_client_start(&source, &slot, 1, &limits, &client));
	return client;
}

static const struct arch_mmu mmu = { .arch = &arch_x86_64,
				     .x86 = { .cr0 = 0x80050033, .cr3 = 0x1000, .cr4 = 0x20,
					      .efer = 0xd01 } };

static void an_empty_guest_has_no_kernel(void **state)
{
	_cleanup_guest_client_ struct guest_client *client = start("serves", 60);
	_cleanup_buffer_ struct buffer answer;

	(void)state;
	buffer_init(&answer, GUEST_MESSAGE_MAX);
	assert_error(guest_client_open(client, &mmu, &answer), ERROR_NOT_FOUND);
	assert_int_equal(pages_read, 1); /* the top of its page tables */
	/* The parser is still alive: another vCPU may have a kernel. */
	assert_error(guest_client_open(client, &mmu, &answer), ERROR_NOT_FOUND);
	assert_error(guest_client_ask(client, GUEST_ASK_TASKS, NULL, 0, &answer), ERROR_BAD_DATA);
	assert_int_equal(guest_client_bytes_read(client), 2 * GUEST_PAGE_BYTES);
}

/* All memory is searched for page tables. */
static void where_cr3_is_not_known_memory_is_searched(void **state)
{
	_cleanup_guest_client_ struct guest_client *client = start("serves", 60);
	_cleanup_buffer_ struct buffer answer;
	struct arch_mmu unknown = mmu;

	(void)state;
	unknown.x86.cr3 = 0;
	buffer_init(&answer, GUEST_MESSAGE_MAX);
	assert_error(guest_client_open(client, &unknown, &answer), ERROR_NOT_FOUND);
	assert_int_equal(pages_read, 4);
}

static void a_hostile_parser_is_ended(void **state)
{
	static const char *const behaviours[] = {
		"opens a file",	  "makes a socket",    "forks",
		"runs a program", "kills its owner",   "reads outside",
		"reads unaligned", "promises too much", "talks nonsense",
		"takes all memory", "reads for ever",  "answers too much",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(behaviours) / sizeof(*behaviours); i++) {
		_cleanup_guest_client_ struct guest_client *client = start(behaviours[i], 60);
		_cleanup_buffer_ struct buffer answer;
		struct error *error;

		print_message("%s\n", behaviours[i]);
#ifdef __SANITIZE_ADDRESS__
		if (!strcmp(behaviours[i], "takes all memory"))
			part_skipped("a parser that takes all memory", "ASan sets it no limit");
#endif
		buffer_init(&answer, GUEST_MESSAGE_MAX);
		error = guest_client_open(client, &mmu, &answer);
		assert_non_null(error);
		print_message("  %s\n", error_message(error));
		error_destroy(error);
		/* It is gone for good, and no call waits for it. */
		assert_error(guest_client_open(client, &mmu, &answer), ERROR_SYSTEM);
		assert_true(guest_client_bytes_read(client) <= 1 << 20);
	}
}

/*
 * The call waits until the time limit, and not much longer; load must not be able to make the bound
 * fail.
 */
static void silence_ends(void **state)
{
	static const char *const behaviours[] = { "is silent", "does not listen" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		_cleanup_guest_client_ struct guest_client *client = start(behaviours[i], 0.5);
		_cleanup_buffer_ struct buffer answer;
		uint64_t begin_ns = clock_monotonic_ns();

		buffer_init(&answer, GUEST_MESSAGE_MAX);
		assert_error(guest_client_open(client, &mmu, &answer), ERROR_BAD_DATA);
		assert_true(clock_monotonic_ns() - begin_ns >= 500000000);
	}
}

static void odd_failures_are_no_crash(void **state)
{
	_cleanup_guest_client_ struct guest_client *client = start("fails oddly", 60);
	_cleanup_buffer_ struct buffer answer;

	(void)state;
	buffer_init(&answer, GUEST_MESSAGE_MAX);
	assert_error(guest_client_open(client, &mmu, &answer), ERROR_BAD_DATA);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_guest_has_no_kernel),
		cmocka_unit_test(where_cr3_is_not_known_memory_is_searched),
		cmocka_unit_test(a_hostile_parser_is_ended),
		cmocka_unit_test(silence_ends),
		cmocka_unit_test(odd_failures_are_no_crash),
	};

	if (argc > 1 && !strcmp(argv[1], CAGE_GUEST_COMMAND))
		return be_a_parser();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
