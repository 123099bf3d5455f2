/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caged parser of ELF files and its owner. The parser's process is this test, started again as
 * perfvisor does it; a file selects its behaviour. The file that is parsed is this test, too, and
 * readelf knows its build-id.
 */
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "elf/elf_client.h"
#include "elf/elf_service.h"
#include "elf/elf_wire.h"
#include "walls/cage.h"
#include "walls/cage_messages.h"

#define BEHAVIOUR "/tmp/perfvisor-elf-%d" /* the pid of the owner */

/* The parser has no environment. */
static void choose_behaviour(const char *behaviour)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), BEHAVIOUR, getpid());
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(behaviour, file);
	assert_int_equal(fclose(file), 0);
}

static int forget_behaviour(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), BEHAVIOUR, getpid());
	return unlink(path);
}

static void ask_readelf(char *ret, size_t size)
{
	_cleanup_free_ char *command = memory_printf(
		"readelf -n /proc/%d/exe 2>/dev/null | sed -n 's/.*Build ID: //p'", getpid());
	FILE *pipe = popen(command, "r");

	assert_non_null(pipe);
	assert_non_null(fgets(ret, (int)size, pipe));
	ret[strcspn(ret, "\n")] = 0;
	pclose(pipe);
}

static void assert_known(struct elf_client *client, uint32_t pid)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct build_id id;
	char want[64], got[64] = "";

	ask_readelf(want, sizeof(want));
	elf_client_build_id(client, pid, fd, &id);
	for (size_t i = 0; i < id.size; i++)
		snprintf(got + 2 * i, 3, "%02x", id.bytes[i]);
	assert_string_equal(got, want);
}

static void assert_unknown(struct elf_client *client, uint32_t pid, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct build_id id = { .size = 7 };

	assert_true(fd >= 0);
	elf_client_build_id(client, pid, fd, &id);
	assert_int_equal(id.size, 0);
}

static void build_ids_are_found(void **state)
{
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(0);

	(void)state;
	choose_behaviour("serves");
	assert_known(client, 1);
	assert_unknown(client, 1, "/etc/passwd");
	assert_unknown(client, 1, "/dev/null");
	/* That a file has none is no failure. */
	assert_known(client, 1);
}

/* It costs the files of the process whose file it was; another's are read by a new parser. */
static void a_parser_that_fails_costs_that_process_its_names(void **state)
{
	static const char *const behaviours[] = { "dies",	  "opens a file",    "makes a socket",
						  "says too much", "says too little", "is silent" };
	const size_t count = sizeof(behaviours) / sizeof(*behaviours);
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(0.3);

	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		print_message("%s\n", behaviours[i]);
		choose_behaviour(behaviours[i]);
		assert_unknown(client, i, "/proc/self/exe");
	}
	elf_client_destroy(client);
	client = elf_client_create(0);
	choose_behaviour("dies");
	assert_unknown(client, 1, "/proc/self/exe");
	choose_behaviour("serves");
	assert_unknown(client, 1, "/proc/self/exe");
	assert_known(client, 2);
	assert_unknown(client, 1, "/proc/self/exe");
	assert_known(client, 2);
}

/* Each failure takes time. */
static void many_failures_are_the_end(void **state)
{
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(0);

	(void)state;
	choose_behaviour("dies");
	for (uint32_t i = 0; i < ELF_CLIENT_MAX_FAILURES; i++)
		assert_unknown(client, i, "/proc/self/exe");
	choose_behaviour("serves");
	assert_unknown(client, ELF_CLIENT_MAX_FAILURES, "/proc/self/exe");
}

/* One that has been taken over can name any build-id, as the file itself can. */
static void lies_are_harmless(void **state)
{
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(0);
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct build_id id = { .size = 0 };

	(void)state;
	choose_behaviour("lies");
	elf_client_build_id(client, 1, fd, &id);
	assert_int_equal(id.size, BUILD_ID_MAX);
	assert_int_equal(id.bytes[BUILD_ID_MAX - 1], 0xee);
}

static void a_parser_that_does_not_start_is_the_end(void **state)
{
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(0);

	(void)state;
	choose_behaviour("does not start");
	assert_unknown(client, 1, "/proc/self/exe");
	choose_behaviour("serves");
	assert_unknown(client, 2, "/proc/self/exe");
}

static void say(const void *data, size_t size)
{
	(void)!send(CAGE_FD, data, size, MSG_NOSIGNAL);
}

static void misbehave(const char *behaviour)
{
	static const struct elf_answer too_much = { .bytes = BUILD_ID_MAX + 1 };
	struct elf_answer lie = { .bytes = BUILD_ID_MAX };
	uint8_t word = ELF_READY;
	int file;

	say(&word, 1);
	(void)cage_receive(CAGE_FD, &word, sizeof(word), &file);
	if (!strcmp(behaviour, "says too much")) {
		say(&too_much, sizeof(too_much));
	} else if (!strcmp(behaviour, "says too little")) {
		say(&too_much, 1);
	} else if (!strcmp(behaviour, "lies")) {
		memset(lie.build_id, 0xee, sizeof(lie.build_id));
		say(&lie, sizeof(lie));
	} else if (!strcmp(behaviour, "opens a file")) {
		/* It is refused, and nothing better comes to its mind. */
		if (open("/etc/passwd", O_RDONLY) >= 0)
			say(&lie, sizeof(lie));
	} else if (!strcmp(behaviour, "makes a socket")) {
		(void)!socket(AF_INET, SOCK_STREAM, 0);
		say(&lie, sizeof(lie));
	} else if (!strcmp(behaviour, "is silent")) {
		(void)cage_receive(CAGE_FD, &word, sizeof(word), &file);
	}
}

static int be_a_parser(void)
{
	char path[64], behaviour[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), BEHAVIOUR, getppid());
	file = fopen(path, "re");
	if (!file || !fgets(behaviour, sizeof(behaviour), file))
		return 1;
	fclose(file);
	if (!strcmp(behaviour, "does not start"))
		return 1;

	error_destroy(cage_enter(CAGE_ELF));
	if (!strcmp(behaviour, "serves"))
		elf_service_run(CAGE_FD);
	else
		misbehave(behaviour);
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_ids_are_found),
		cmocka_unit_test(a_parser_that_fails_costs_that_process_its_names),
		cmocka_unit_test(many_failures_are_the_end),
		cmocka_unit_test(lies_are_harmless),
		cmocka_unit_test(a_parser_that_does_not_start_is_the_end),
	};

	if (argc > 1 && !strcmp(argv[1], CAGE_ELF_COMMAND))
		return be_a_parser();
	return cmocka_run_group_tests(tests, NULL, forget_behaviour);
}
