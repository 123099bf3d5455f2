/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cage: a new process (not a fork, so it shares no memory with its owner) that drops user,
 * groups and capabilities, closes its files, and admits only the system calls in the seccomp list
 * below. Any other system call kills it.
 */
#include "host/inspect/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/memory.h"

#define NOBODY 65534
#define MAX_MEMORY_BYTES (1ULL << 30)

struct error *host_cage_start(struct host_cage *ret)
{
	char *const argv[] = { "perfvisor", HOST_CAGE_COMMAND, NULL };
	_cleanup_close_ int owner = -1;
	_cleanup_close_ int caged = -1;
	posix_spawn_file_actions_t actions;
	int ends[2], failure;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_system(errno, "could not create a socket for the guest parser");
	owner = ends[0];
	/* Not HOST_CAGE_FD itself: dup2() of a descriptor to itself would keep it close-on-exec. */
	caged = fcntl(ends[1], F_DUPFD_CLOEXEC, HOST_CAGE_FD + 1);
	close(ends[1]);
	if (caged < 0)
		return error_system(errno, "could not create a socket for the guest parser");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, caged, HOST_CAGE_FD);
	failure = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (failure)
		return error_system(failure, "could not start the guest parser");
	*ret = (struct host_cage){ .pid = pid, .fd = take_fd(&owner) };
	return NULL;
}

void host_cage_stop(struct host_cage *cage)
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

	if (syscall(SYS_close_range, HOST_CAGE_FD + 1, ~0U, 0) < 0)
		return error_system(errno, "could not close files");
	if (setrlimit(RLIMIT_FSIZE, &nothing) < 0 || setrlimit(RLIMIT_CORE, &nothing) < 0 ||
	    setrlimit(RLIMIT_NPROC, &nothing) < 0)
		return error_system(errno, "could not set limits");
	return NULL;
}

/*
 * Limits what a guest can make the parser allocate; the parser's own limits are lower. ASan needs a
 * larger address space.
 */
static struct error *limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
	static const struct rlimit most = { MAX_MEMORY_BYTES, MAX_MEMORY_BYTES };

	if (setrlimit(RLIMIT_AS, &most) < 0)
		return error_system(errno, "could not limit memory");
#endif
	return NULL;
}

/* The system calls needed by a program that computes, uses its socket, and exits. */
static struct error *admit_system_calls(void)
{
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
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int failure = filter ? 0 : -ENOMEM;

	for (size_t i = 0; !failure && i < sizeof(admitted) / sizeof(*admitted); i++)
		failure = seccomp_rule_add(filter, SCMP_ACT_ALLOW, admitted[i], 0);
	if (!failure)
		failure = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	if (failure)
		return error_system(-failure, "could not restrict system calls");
	return NULL;
}

struct error *host_cage_enter(void)
{
	struct error *error = drop_files();

	if (!error)
		error = limit_memory();
	if (!error)
		error = drop_rights();
	/* Must come after drop_rights(): changing the user clears it. */
	if (!error && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		error = error_system(errno, "could not tie the guest parser to its owner");
	if (!error)
		error = admit_system_calls();
	return error ? error_prefix(error, "could not enter the cage of the guest parser") : NULL;
}
