/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cage: a new process (not a fork, so it shares no memory with its owner) without environment
 * that drops user, groups and capabilities, closes its files, and admits only the system calls in
 * the seccomp lists below. Any other system call kills it; where it may have files, opening one
 * fails.
 *
 * Started by root, it has a user of its own, whom no other process has. A guest that takes it over
 * can still compute: for as long as RLIMIT_CPU permits, which its owner renews with each question.
 */
#include "walls/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "walls/cage_keeper.h"
#include "walls/rights.h"
#include "walls/sanitizers.h"
#include "walls/system_calls.h"

#define NOBODY 65534
/* Plus the pid: in a range that systemd leaves unused (https://systemd.io/UIDS-GIDS). */
#define FIRST_UID 1879048192u
#define COMPLAINT_MAX_BYTES 512
#define END_MS 500 /* that a killed process has */
#define REPORT_MS 5000 /* for one that may have something to report */

static const struct {
	char *command;
	const char *name; /* for messages */
	uint64_t max_memory_bytes; /* of address space; files of kernels are mapped into it */
	bool files;
} kinds[] = {
	[CAGE_GUEST] = { CAGE_GUEST_COMMAND, "the guest parser", 1ULL << 30, false },
	[CAGE_LINES] = { CAGE_LINES_COMMAND, "the parser of source lines", 8ULL << 30, true },
	[CAGE_ELF] = { CAGE_ELF_COMMAND, "the parser of ELF files", 1ULL << 30, true },
};

/* Both ends are above those that the caged process gets, and close on exec. */
static struct error *make_ends(int *ret_owner, int *ret_caged, bool socket)
{
	int ends[2];

	if (socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0
		   : pipe2(ends, O_CLOEXEC) < 0)
		return error_system(errno, "could not create a %s for a caged parser",
				    socket ? "socket" : "pipe");
	*ret_owner = ends[0];
	/* Not the number itself: dup2() of a descriptor to itself would keep it close-on-exec. */
	*ret_caged = fcntl(ends[1], F_DUPFD_CLOEXEC, CAGE_FD + 1);
	close(ends[1]);
	if (*ret_caged < 0)
		return error_system(errno, "could not open a file for a caged parser");
	return NULL;
}

static const char *const *environment(void)
{
	static const char *variables[3];
#ifdef __SANITIZE_ADDRESS__
	static const char *const names[] = { "ASAN_OPTIONS=", "UBSAN_OPTIONS=" };
	size_t count = 0;

	for (char **variable = environ; *variable; variable++)
		for (size_t i = 0; i < 2 && count < 2; i++)
			if (!strncmp(*variable, names[i], strlen(names[i])))
				variables[count++] = *variable;
#endif
	return variables;
}

static struct error *spawn(enum cage_kind kind, int socket, int complaints, pid_t *ret)
{
	char *const argv[] = { "perfvisor", kinds[kind].command, NULL };
	posix_spawn_file_actions_t actions;
	int failure;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&actions, socket, CAGE_FD);
	failure = posix_spawn(ret, "/proc/self/exe", &actions, NULL, argv,
			      (char *const *)environment());
	posix_spawn_file_actions_destroy(&actions);
	return failure ? error_system(failure, "could not start %s", kinds[kind].name) : NULL;
}

struct error *cage_start(enum cage_kind kind, struct cage *ret)
{
	_cleanup_close_ int owner = -1, caged = -1, complaints = -1, caged_complaints = -1;
	struct error *error;
	pid_t pid;

	if (cage_keeper_is_there())
		return cage_keeper_start_cage(kind, ret);
	error = make_ends(&owner, &caged, true);
	if (!error)
		error = make_ends(&complaints, &caged_complaints, false);
	if (!error && fcntl(complaints, F_SETFL, O_NONBLOCK) < 0)
		error = error_system(errno, "could not create a pipe for a caged parser");
	if (!error)
		error = spawn(kind, caged, caged_complaints, &pid);
	if (error)
		return error;
	*ret = (struct cage){ .kind = kind, .pid = pid, .fd = take_fd(&owner),
				   .complaints_fd = take_fd(&complaints) };
	return NULL;
}

void cage_renew(const struct cage *cage, unsigned int seconds)
{
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };
	struct timespec used;
	clockid_t clock;

	/* Without it, root may not set limits of another user's process. */
	if (!geteuid() && !rights_have(CAP_SYS_RESOURCE))
		return;
	if (clock_getcpuclockid(cage->pid, &clock) || clock_gettime(clock, &used))
		return;
	limit.rlim_cur = used.tv_sec + 1 + seconds;
	(void)prlimit(cage->pid, RLIMIT_CPU, &limit, NULL);
}

/* What it wrote to stderr: why it could not enter the cage, or whatever its guest wants. */
static void pass_complaint_on(const struct cage *cage)
{
	char text[COMPLAINT_MAX_BYTES];
	ssize_t size = read(cage->complaints_fd, text, sizeof(text));

	while (size > 0 && text[size - 1] == '\n')
		size--;
	if (size > 0)
		log_warning("%s wrote: %.*s", kinds[cage->kind].name, (int)size, text);
}

static bool ends_within(pid_t pid, unsigned int wait_ms)
{
	for (unsigned int ms = 0; ms < wait_ms; ms++) {
		pid_t ended = waitpid(pid, NULL, WNOHANG);

		if (ended == pid || (ended < 0 && errno != EINTR))
			return true;
		usleep(1000);
	}
	return false;
}

void cage_end_process(pid_t pid)
{
#ifdef __SANITIZE_ADDRESS__
	if (ends_within(pid, REPORT_MS))
		return;
#else
	(void)REPORT_MS;
#endif
	kill(pid, SIGKILL);
	(void)ends_within(pid, END_MS);
}

void cage_stop(struct cage *cage)
{
	close(cage->fd);
	if (!cage->pid) {
		cage_keeper_stop_cage();
		return;
	}
	cage_end_process(cage->pid);
	pass_complaint_on(cage);
	close(cage->complaints_fd);
}

/* A user namespace may have no such user, but has nobody. */
static struct error *drop_rights(void)
{
	struct error *error = rights_keep_as(FIRST_UID + (unsigned int)getpid(), 0);

	if (error && !geteuid()) {
		error_destroy(error);
		error = rights_keep_as(NOBODY, 0);
	}
	if (!error && prctl(PR_SET_DUMPABLE, 0) < 0)
		error = error_system(errno, "could not drop privileges");
	return error;
}

static struct error *drop_files(void)
{
	static const struct rlimit nothing = { 0, 0 };

	if (syscall(SYS_close_range, CAGE_FD + 1, ~0U, 0) < 0)
		return error_system(errno, "could not close files");
	if (setrlimit(RLIMIT_FSIZE, &nothing) < 0 || setrlimit(RLIMIT_CORE, &nothing) < 0 ||
	    setrlimit(RLIMIT_NPROC, &nothing) < 0)
		return error_system(errno, "could not set limits");
	return NULL;
}

/*
 * Limits what the parser can be made to allocate; its own limits are lower. ASan needs a larger
 * address space.
 */
static struct error *limit_memory(uint64_t bytes)
{
#ifndef __SANITIZE_ADDRESS__
	const struct rlimit most = { bytes, bytes };

	if (setrlimit(RLIMIT_AS, &most) < 0)
		return error_system(errno, "could not limit memory");
#else
	(void)bytes;
#endif
	return NULL;
}

/* The system calls needed by a program that computes, uses its socket, and exits. */
static const struct system_call admitted[] = {
	SYSTEM_CALLS_OF_MEMORY,
	{ SCMP_SYS(recvfrom), 1, { ARGUMENT_IS(0, CAGE_FD) } },
	{ SCMP_SYS(sendto), 2, { ARGUMENT_IS(0, CAGE_FD), ARGUMENT_IS_NULL(4) } },
	{ SCMP_SYS(write), 1, { ARGUMENT_IS(0, STDERR_FILENO) } },
	{ SCMP_SYS(futex) }, { SCMP_SYS(getrandom) }, { SCMP_SYS(clock_gettime) },
	{ SCMP_SYS(exit_group) }, { SCMP_SYS(exit) }, { SCMP_SYS(getpid) },
	{ SCMP_SYS(gettid) }, { SCMP_SYS(restart_syscall) },
#ifdef __SANITIZE_ADDRESS__ /* reports: tests/sanitizer_reports.c */
	{ SCMP_SYS(write), 1, { ARGUMENT_IS(0, STDOUT_FILENO) } },
	{ SCMP_SYS(rt_sigprocmask) }, { SCMP_SYS(rt_sigreturn) }, { SCMP_SYS(sigaltstack) },
#endif
};
/* The same for one that reads the open files that it gets. */
static const struct system_call admitted_for_files[] = {
	{ SCMP_SYS(recvmsg), 1, { ARGUMENT_IS(0, CAGE_FD) } },
	{ SCMP_SYS(read) }, { SCMP_SYS(pread64) }, { SCMP_SYS(fstat) }, { SCMP_SYS(newfstatat) },
	{ SCMP_SYS(lseek) }, { SCMP_SYS(fcntl) }, { SCMP_SYS(close) }, { SCMP_SYS(sysinfo) },
};
/* libdw would open files that a file names: it is told that this is not permitted. */
static const struct system_call refused_for_files[] = {
	{ SCMP_SYS(open) }, { SCMP_SYS(openat) }, { SCMP_SYS(readlink) },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct error *admit_system_calls(bool files)
{
	struct system_calls calls;

	system_calls_init(&calls, SCMP_ACT_KILL_PROCESS);
	system_calls_add(&calls, SCMP_ACT_ALLOW, admitted, COUNT(admitted));
	if (files) {
		system_calls_add(&calls, SCMP_ACT_ALLOW, admitted_for_files,
				 COUNT(admitted_for_files));
		system_calls_add(&calls, SCMP_ACT_ERRNO(EACCES), refused_for_files,
				 COUNT(refused_for_files));
	}
	return system_calls_restrict(&calls);
}

struct error *cage_enter(enum cage_kind kind)
{
	struct error *error = drop_files();

	if (!error)
		error = limit_memory(kinds[kind].max_memory_bytes);
	if (!error)
		error = drop_rights();
	/* Must come after drop_rights(): changing the user clears it. */
	if (!error && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		error = error_system(errno, "could not tie %s to its owner", kinds[kind].name);
	if (!error)
		error = admit_system_calls(kinds[kind].files);
	return error ? error_prefix(error, "could not enter the cage of %s", kinds[kind].name)
		     : NULL;
}

struct error *cage_serve(enum cage_kind kind, void (*serve)(int fd))
{
	struct error *error = cage_enter(kind);
#ifdef __SANITIZE_ADDRESS__
	size_t before = sanitizer_memory_in_use();
#endif

	if (error)
		return error;
	serve(CAGE_FD);
#ifdef __SANITIZE_ADDRESS__
	sanitizer_report_rest(before);
#endif
	_exit(0); /* exit handlers (a leak checker) are not allowed in the cage */
}
