/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cage: a new process (not a fork, so it shares no memory with its owner) that drops user,
 * groups and capabilities, closes its files, and admits only the system calls in the seccomp lists
 * below. Any other system call kills it; where it may have files, opening one fails.
 */
#include "base/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/memory.h"

#define NOBODY 65534

static const struct {
	char *command;
	const char *name; /* for messages */
	uint64_t max_memory_bytes; /* of address space; files of kernels are mapped into it */
	bool files;
} kinds[] = {
	[CAGE_GUEST] = { CAGE_GUEST_COMMAND, "the guest parser", 1ULL << 30, false },
	[CAGE_LINES] = { CAGE_LINES_COMMAND, "the parser of source lines", 8ULL << 30, true },
};

struct error *cage_start(enum cage_kind kind, struct cage *ret)
{
	char *const argv[] = { "perfvisor", kinds[kind].command, NULL };
	_cleanup_close_ int owner = -1;
	_cleanup_close_ int caged = -1;
	posix_spawn_file_actions_t actions;
	int ends[2], failure;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_system(errno, "could not create a socket for %s", kinds[kind].name);
	owner = ends[0];
	/* Not CAGE_FD itself: dup2() of a descriptor to itself would keep it close-on-exec. */
	caged = fcntl(ends[1], F_DUPFD_CLOEXEC, CAGE_FD + 1);
	close(ends[1]);
	if (caged < 0)
		return error_system(errno, "could not create a socket for %s", kinds[kind].name);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, caged, CAGE_FD);
	failure = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (failure)
		return error_system(failure, "could not start %s", kinds[kind].name);
	*ret = (struct cage){ .pid = pid, .fd = take_fd(&owner) };
	return NULL;
}

void cage_stop(struct cage *cage)
{
	close(cage->fd);
	kill(cage->pid, SIGKILL);
	while (waitpid(cage->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static struct error *drop_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (!geteuid() && (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
			   setresuid(NOBODY, NOBODY, NOBODY) < 0))
		return error_system(errno, "could not drop root");
	if (syscall(SYS_capset, &header, none) < 0)
		return error_system(errno, "could not drop capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return error_system(errno, "could not drop privileges");
	return NULL;
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
static const int admitted[] = {
	SCMP_SYS(recvfrom),  SCMP_SYS(sendto),	 SCMP_SYS(poll),
	SCMP_SYS(ppoll),     SCMP_SYS(read),	 SCMP_SYS(write),
	SCMP_SYS(mmap),	     SCMP_SYS(munmap),	 SCMP_SYS(mremap),
	SCMP_SYS(mprotect),  SCMP_SYS(madvise),	 SCMP_SYS(brk),
	SCMP_SYS(futex),     SCMP_SYS(getrandom), SCMP_SYS(clock_gettime),
	SCMP_SYS(exit_group), SCMP_SYS(exit),	 SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(sigaltstack), SCMP_SYS(getpid),
	SCMP_SYS(gettid),    SCMP_SYS(restart_syscall),
};
/* The same for one that reads the open files that it gets. */
static const int admitted_for_files[] = {
	SCMP_SYS(recvmsg), SCMP_SYS(pread64), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
	SCMP_SYS(lseek), SCMP_SYS(fcntl), SCMP_SYS(close), SCMP_SYS(sysinfo),
};
/* libdw would open files that a file names: it is told that this is not permitted. */
static const int refused_for_files[] = { SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(readlink) };

static int add_rules(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
	int failure = 0;

	for (size_t i = 0; !failure && i < count; i++)
		failure = seccomp_rule_add(filter, action, calls[i], 0);
	return failure;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct error *admit_system_calls(bool files)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int failure = filter ? add_rules(filter, SCMP_ACT_ALLOW, admitted, COUNT(admitted))
			     : -ENOMEM;

	if (!failure && files)
		failure = add_rules(filter, SCMP_ACT_ALLOW, admitted_for_files,
				    COUNT(admitted_for_files));
	if (!failure && files)
		failure = add_rules(filter, SCMP_ACT_ERRNO(EACCES), refused_for_files,
				    COUNT(refused_for_files));
	if (!failure)
		failure = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	if (failure)
		return error_system(-failure, "could not restrict system calls");
	return NULL;
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
