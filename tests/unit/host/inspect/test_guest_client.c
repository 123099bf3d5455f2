/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caged parser and its owner. The parser's process is this test, started again as perfvisor
 * does it; the limit of bytes in its first question selects its behaviour: good and hostile
 * parsers. Where there is no question, it serves.
 */
#include "test.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "walls/cage.h"
#include "base/memory.h"
#include "base/progress.h"
#include "host/inspect/guest_client.h"
#include "host/system/capability.h"
#include "service/service.h"

#define LEAST_BYTES (1 << 20) /* the limit that selects the first behaviour */
/* In a message that opens a guest: after the header, the architecture and four registers. */
#define LIMIT_OFFSET (sizeof(struct guest_message_header) + 4 + 4 * 8)

static const char *const behaviours[] = {
	"serves", "is silent", "does not listen", "fails oddly", "complains", "computes",
	"opens a file", "makes a socket", "forks", "runs a program", "kills its owner",
	"reads outside", "reads unaligned", "promises too much", "talks nonsense",
	"takes all memory", "reads for ever", "maps code", "makes code", "reads its input",
	"answers too much",
	"reads complaints", "writes its output", "names an address", "blocks signals",
};
#define FIRST_HOSTILE 6
#define BEHAVIOURS (sizeof(behaviours) / sizeof(*behaviours))

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

/* What sanitizers need is admitted in their builds. */
static void write_output(void)
{
#ifdef __SANITIZE_ADDRESS__
	_exit(0);
#else
	(void)!write(STDOUT_FILENO, "x", 1);
#endif
}

static void block_signals(void)
{
#ifdef __SANITIZE_ADDRESS__
	_exit(0);
#else
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
#endif
}

/* Each behaviour is something that a parser taken over by its guest may try. */
static void misbehave(const char *behaviour)
{
	static const uint32_t longest[2] = { GUEST_RESULT, UINT32_MAX };
	static const char much[1 << 20];
	const struct sockaddr address = { .sa_family = AF_UNIX };
	char byte;

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
	else if (!strcmp(behaviour, "maps code"))
		(void)!mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else if (!strcmp(behaviour, "makes code"))
		(void)!mprotect(mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096,
				PROT_READ | PROT_EXEC);
	else if (!strcmp(behaviour, "reads its input"))
		(void)!read(STDIN_FILENO, &byte, 1);
	else if (!strcmp(behaviour, "reads complaints"))
		(void)!recv(STDERR_FILENO, &byte, 1, 0);
	else if (!strcmp(behaviour, "writes its output"))
		write_output();
	else if (!strcmp(behaviour, "names an address"))
		(void)!sendto(CAGE_FD, "x", 1, 0, &address, sizeof(address));
	else if (!strcmp(behaviour, "blocks signals"))
		block_signals();
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

static const char *choose_behaviour(void)
{
	uint8_t question[LIMIT_OFFSET + 8];
	uint64_t limit;

	if (recv(CAGE_FD, question, sizeof(question), MSG_PEEK | MSG_WAITALL) !=
	    sizeof(question))
		return NULL;
	memcpy(&limit, question + LIMIT_OFFSET, sizeof(limit));
	return limit - LEAST_BYTES < BEHAVIOURS ? behaviours[limit - LEAST_BYTES] : NULL;
}

static int be_a_parser(void)
{
	struct error *error = cage_enter(CAGE_GUEST);
	const char *behaviour = error ? NULL : choose_behaviour();
	volatile bool for_ever = true;

	if (!behaviour)
		_exit(1);
	if (!strcmp(behaviour, "serves"))
		guest_service_run(CAGE_FD);
	wait_for_question();
	if (!strcmp(behaviour, "complains")) {
		(void)!write(STDERR_FILENO, "\033[2J woe\n", 9);
		_exit(1);
	}
	if (!strcmp(behaviour, "computes"))
		tell(GUEST_RESULT, NULL, 0);
	while (!strcmp(behaviour, "computes") && for_ever)
		;
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
	struct guest_client_limits limits = { .bytes_per_call = LEAST_BYTES,
					      .seconds_per_call = seconds };
	struct guest_client *client;

	while (strcmp(behaviours[limits.bytes_per_call - LEAST_BYTES], behaviour))
		limits.bytes_per_call++;
	pages_read = 0;
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
	(void)state;
	for (size_t i = FIRST_HOSTILE; i < BEHAVIOURS; i++) {
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
		assert_true(guest_client_bytes_read(client) <= LEAST_BYTES + BEHAVIOURS);
	}
}

/*
 * The call waits until the time limit, and not much longer; load must not be able to make the bound
 * fail.
 */
static void silence_ends(void **state)
{
	static const char *const silent[] = { "is silent", "does not listen" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		_cleanup_guest_client_ struct guest_client *client = start(silent[i], 0.5);
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

/* /proc/PID/NAME, with a space for each zero byte; returns TEXT. */
static char *read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	got = read(fd, text, size - 1);
	close(fd);
	assert_true(got >= 0);
	for (ssize_t i = 0; i < got; i++)
		text[i] = text[i] ? text[i] : ' ';
	text[got] = '\0';
	return text;
}

static unsigned int id_of(const char *status, const char *field)
{
	unsigned int id = 0;
	const char *line = strstr(status, field);

	assert_non_null(line);
	assert_int_equal(sscanf(line + strlen(field), "%u", &id), 1);
	return id;
}

static bool owns_all_users(void)
{
	char text[256];

	return strstr(read_proc(getpid(), "uid_map", text, sizeof(text)), "4294967295");
}

/* "": there is no such link. */
static void assert_link(pid_t pid, const char *name, const char *begin)
{
	char path[64], target[256] = "";
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	got = readlink(path, target, sizeof(target) - 1);
	if (*begin)
		assert_memory_equal(target, begin, strlen(begin));
	else
		assert_true(got < 0);
}

static pid_t only_child(void)
{
	char name[64], text[64];
	int pid;

	snprintf(name, sizeof(name), "task/%d/children", getpid());
	assert_int_equal(sscanf(read_proc(getpid(), name, text, sizeof(text)), "%d", &pid), 1);
	return pid;
}

/* What CALL writes to stderr. */
static void take_stderr(void (*call)(void), char *text, size_t size)
{
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO);
	size_t got;

	assert_non_null(file);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	call();
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(file);
	got = fread(text, 1, size - 1, file);
	text[got] = '\0';
	fclose(file);
}

static void ask_one_that_complains(void)
{
	_cleanup_guest_client_ struct guest_client *client = start("complains", 60);
	_cleanup_buffer_ struct buffer answer;

	buffer_init(&answer, GUEST_MESSAGE_MAX);
	assert_error(guest_client_open(client, &mmu, &answer), ERROR_SYSTEM);
}

/* They reach the user through the owner, as text that cannot control a terminal. */
static void complaints_are_passed_on(void **state)
{
	char text[1024];

	(void)state;
	take_stderr(ask_one_that_complains, text, sizeof(text));
	assert_non_null(strstr(text, "\\x1b[2J woe\n"));
	assert_null(strchr(text, '\033'));
}

static double cpu_seconds(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &used), 0);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Between questions its owner does not watch the time. With questions, it may take longer. */
static void computing_ends(void **state)
{
	const unsigned int seconds = 2;
	_cleanup_guest_client_ struct guest_client *client = NULL;
	_cleanup_buffer_ struct buffer answer;
	struct cage cage = { 0 };
	siginfo_t end = { 0 };

	(void)state;
	if (!geteuid() && !host_capability_have(CAP_SYS_RESOURCE))
		skip_because("root has no CAP_SYS_RESOURCE here");
	client = start("computes", 60);
	buffer_init(&answer, GUEST_MESSAGE_MAX);
	assert_no_error(guest_client_open(client, &mmu, &answer));
	cage.pid = only_child();
	while (cpu_seconds(cage.pid) < seconds + 1.5) {
		cage_renew(&cage, seconds);
		usleep(10000);
	}
	assert_int_equal(waitid(P_PID, cage.pid, &end, WEXITED | WNOWAIT), 0);
	assert_int_equal(end.si_status, SIGXCPU);
}

/* Whatever its owner has, and wherever it was started. */
static void the_cage_is_empty(void **state)
{
	struct cage cage;
	char text[4096];

	(void)state;
	if (geteuid())
		skip_because("this is not root, who may look into processes without a dump");
	setenv("PERFVISOR_TEST_SECRET", "secret", 1);
	assert_no_error(cage_start(CAGE_GUEST, &cage));
	while (!strstr(read_proc(cage.pid, "status", text, sizeof(text)), "Seccomp:\t2"))
		usleep(1000);
	assert_non_null(strstr(text, "CapPrm:\t0000000000000000\n"));
	assert_non_null(strstr(text, "NoNewPrivs:\t1\n"));
	assert_non_null(strstr(text, "Groups:\t \n"));
	assert_int_not_equal(id_of(text, "Uid:"), 0);
	assert_int_not_equal(id_of(text, "Gid:"), 0);
	/* Of its own: nobody else's, not even another cage's. */
	if (owns_all_users())
		assert_int_equal(id_of(text, "Uid:"), 1879048192u + cage.pid);
	assert_null(strstr(read_proc(cage.pid, "environ", text, sizeof(text)), "secret"));
#ifndef __SANITIZE_ADDRESS__
	assert_string_equal(text, "");
	assert_link(cage.pid, "fd/1", "/dev/null");
#endif
	assert_link(cage.pid, "fd/0", "/dev/null");
	assert_link(cage.pid, "fd/2", "pipe:");
	assert_link(cage.pid, "fd/3", "socket:");
	assert_link(cage.pid, "fd/4", "");
	cage_stop(&cage);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_guest_has_no_kernel),
		cmocka_unit_test(where_cr3_is_not_known_memory_is_searched),
		cmocka_unit_test(a_hostile_parser_is_ended),
		cmocka_unit_test(silence_ends),
		cmocka_unit_test(odd_failures_are_no_crash),
		cmocka_unit_test(complaints_are_passed_on),
		cmocka_unit_test(computing_ends),
		cmocka_unit_test(the_cage_is_empty),
	};

	if (argc > 1 && !strcmp(argv[1], CAGE_GUEST_COMMAND))
		return be_a_parser();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
