/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caged parser of ELF files and its owner. The parser's process is this test, started again as
 * perfvisor does it; a file selects its behaviour. The file that is parsed is this test, too, and
 * readelf knows its build-id. A file system that does not answer is one that fanotify(7) asks
 * whether this may be.
 */
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "elf/elf_client.h"
#include "elf/elf_service.h"
#include "elf/elf_wire.h"
#include "walls/cage.h"
#include "walls/messages.h"

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

/* Other processes, which have the same files. */
static pid_t processes[ELF_CLIENT_MAX_FAILURES + 2];
#define PROCESSES (sizeof(processes) / sizeof(*processes))
#define OF_NOBODY (PROCESSES - 1) /* the last one has another user */
#define NOBODY 65534
static char own_path[PATH_MAX];

static int start_processes(void **state)
{
	(void)state;
	for (size_t i = 0; i < PROCESSES; i++) {
		int ready[2];
		char byte;

		if (pipe(ready))
			return 1;
		processes[i] = fork();
		if (!processes[i]) {
			if (i == OF_NOBODY && !geteuid() && setresuid(NOBODY, NOBODY, NOBODY))
				_exit(1);
			close(ready[0]);
			close(ready[1]);
			for (;;)
				pause();
		}
		close(ready[1]);
		(void)!read(ready[0], &byte, 1); /* its end */
		close(ready[0]);
	}
	return readlink("/proc/self/exe", own_path, sizeof(own_path) - 1) < 0;
}

static int end_processes(void **state)
{
	for (size_t i = 0; i < PROCESSES; i++) {
		kill(processes[i], SIGKILL);
		waitpid(processes[i], NULL, 0);
	}
	return forget_behaviour(state);
}

static void ask_readelf(char *ret, size_t size)
{
	_cleanup_free_ char *command =
		memory_printf("readelf -n %s 2>/dev/null | sed -n 's/.*Build ID: //p'", own_path);
	FILE *pipe = popen(command, "r");

	assert_non_null(pipe);
	assert_non_null(fgets(ret, (int)size, pipe));
	ret[strcspn(ret, "\n")] = 0;
	pclose(pipe);
}

/* Of the file at PATH: no file is mapped at these addresses. */
static struct build_id ask(struct elf_client *client, size_t process, const char *path)
{
	const struct mapped_file file = { .pid = processes[process], .path = path };
	struct build_id id = { .size = 7 };

	elf_client_build_id(client, &file, &id);
	return id;
}

static void assert_known(struct elf_client *client, size_t process)
{
	struct build_id id = ask(client, process, own_path);
	char want[64], got[64] = "";

	ask_readelf(want, sizeof(want));
	for (size_t i = 0; i < id.size; i++)
		snprintf(got + 2 * i, 3, "%02x", id.bytes[i]);
	assert_string_equal(got, want);
}

static void assert_unknown(struct elf_client *client, size_t process)
{
	assert_int_equal(ask(client, process, own_path).size, 0);
}

static void build_ids_are_found(void **state)
{
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(60);

	(void)state;
	choose_behaviour("serves");
	assert_known(client, 1);
	assert_int_equal(ask(client, 1, "/etc/passwd").size, 0);
	assert_int_equal(ask(client, 1, "/dev/null").size, 0);
	assert_int_equal(ask(client, 1, "/no/such/file").size, 0);
	/* That a file has none is no failure. */
	assert_known(client, 1);
}

/* It costs the files of the process whose file it was; another's are read by a new parser. */
static void a_parser_that_fails_costs_that_process_its_names(void **state)
{
	static const char *const behaviours[] = {
		"dies",		 "opens a file",    "makes a socket",
		"says too much", "says too little", "is silent",
	};
	const size_t count = sizeof(behaviours) / sizeof(*behaviours);
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(0.3);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		print_message("%s\n", behaviours[i]);
		choose_behaviour(behaviours[i]);
		assert_unknown(client, i);
	}
	elf_client_destroy(client);
	client = elf_client_create(60);
	choose_behaviour("dies");
	assert_unknown(client, 1);
	choose_behaviour("serves");
	assert_unknown(client, 1);
	assert_known(client, 2);
	assert_unknown(client, 1);
	assert_known(client, 2);
}

/* Each failure takes time. */
static void many_failures_are_the_end_for_a_user(void **state)
{
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(60);

	(void)state;
	choose_behaviour("dies");
	for (size_t i = 0; i < ELF_CLIENT_MAX_FAILURES; i++)
		assert_unknown(client, i);
	choose_behaviour("serves");
	assert_unknown(client, ELF_CLIENT_MAX_FAILURES);
	if (!geteuid())
		assert_known(client, OF_NOBODY);
	else
		part_skipped("another user's process", "this takes root");
}

/* One that has been taken over can name any build-id, as the file itself can. */
static void lies_are_harmless(void **state)
{
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(60);
	struct build_id id;

	(void)state;
	choose_behaviour("lies");
	id = ask(client, 1, own_path);
	assert_int_equal(id.size, BUILD_ID_MAX);
	assert_int_equal(id.bytes[BUILD_ID_MAX - 1], 0xee);
}

/* EVENT: opening the file, or reading it, waits for an answer that never comes. */
static void stall(uint64_t event)
{
	char path[] = "/tmp/perfvisor-elf-XXXXXX";
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(4);
	_cleanup_close_ int asks = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	fd = truncate(path, 4096);
	if (fd || asks < 0 || fanotify_mark(asks, FAN_MARK_ADD, event, AT_FDCWD, path) < 0) {
		unlink(path);
		skip_because("fanotify cannot be used here");
	}
	choose_behaviour("serves");
	assert_known(client, 1);
	assert_int_equal(ask(client, 2, path).size, 0);
	/* Process 2 is not asked about any more, others are. */
	assert_unknown(client, 2);
	assert_known(client, 1);
	unlink(path);
}

static void a_file_that_does_not_open_costs_its_process_its_names(void **state)
{
	(void)state;
	stall(FAN_OPEN_PERM);
}

static void a_file_that_cannot_be_read_costs_its_process_its_names(void **state)
{
	(void)state;
	stall(FAN_ACCESS_PERM);
}

static void a_parser_that_does_not_start_is_the_end(void **state)
{
	_cleanup_elf_client_ struct elf_client *client = elf_client_create(60);

	(void)state;
	choose_behaviour("does not start");
	assert_unknown(client, 1);
	choose_behaviour("serves");
	assert_unknown(client, 2);
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
	(void)message_receive(CAGE_FD, &word, sizeof(word), &file);
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
		(void)message_receive(CAGE_FD, &word, sizeof(word), &file);
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

	if (!strcmp(behaviour, "serves"))
		error_destroy(cage_serve(CAGE_ELF, elf_service_run));
	error_destroy(cage_enter(CAGE_ELF));
	misbehave(behaviour);
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_ids_are_found),
		cmocka_unit_test(a_parser_that_fails_costs_that_process_its_names),
		cmocka_unit_test(many_failures_are_the_end_for_a_user),
		cmocka_unit_test(lies_are_harmless),
		cmocka_unit_test(a_file_that_does_not_open_costs_its_process_its_names),
		cmocka_unit_test(a_file_that_cannot_be_read_costs_its_process_its_names),
		cmocka_unit_test(a_parser_that_does_not_start_is_the_end),
	};

	if (argc > 1 && !strcmp(argv[1], CAGE_ELF_COMMAND))
		return be_a_parser();
	return cmocka_run_group_tests(tests, start_processes, end_processes);
}
