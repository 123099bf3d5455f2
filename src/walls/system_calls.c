/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters of system calls, seccomp(2), and the one for processes that read files. That one answers
 * what it does not admit with ENOSYS, for C libraries try new system calls and fall back on older
 * ones. It admits no sockets, no new processes or programs, no new code, no signals to others, no
 * changes of owners and modes, and no control of terminals (TIOCSTI types for the user) except,
 * where one is drawn on, their modes.
 */
#include "walls/system_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

void system_calls_init(struct system_calls *calls, uint32_t otherwise)
{
	*calls = (struct system_calls){ .filter = seccomp_init(otherwise) };
	if (!calls->filter)
		calls->failure = -ENOMEM;
}

void system_calls_add(struct system_calls *calls, uint32_t action, const struct system_call *added,
		      size_t count)
{
	for (size_t i = 0; i < count && !calls->failure; i++)
		calls->failure = seccomp_rule_add_array(calls->filter, action, added[i].number,
							added[i].tests, added[i].test);
}

struct error *system_calls_restrict(struct system_calls *calls)
{
	if (!calls->failure)
		calls->failure = seccomp_load(calls->filter);
	if (calls->filter)
		seccomp_release(calls->filter);
	if (calls->failure)
		return error_system(-calls->failure, "could not restrict system calls");
	return NULL;
}

bool system_calls_can_restrict(void)
{
	const uint32_t action = SECCOMP_RET_ERRNO;

	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

static const struct system_call reading[] = {
	SYSTEM_CALLS_OF_MEMORY,
	/* files */
	{ SCMP_SYS(open) }, { SCMP_SYS(openat) }, { SCMP_SYS(openat2) }, { SCMP_SYS(close) },
	{ SCMP_SYS(read) }, { SCMP_SYS(pread64) }, { SCMP_SYS(readv) }, { SCMP_SYS(preadv) },
	{ SCMP_SYS(write) }, { SCMP_SYS(pwrite64) }, { SCMP_SYS(writev) }, { SCMP_SYS(pwritev) },
	{ SCMP_SYS(lseek) }, { SCMP_SYS(ftruncate) }, { SCMP_SYS(fallocate) }, { SCMP_SYS(fsync) },
	{ SCMP_SYS(fdatasync) }, { SCMP_SYS(sync_file_range) }, { SCMP_SYS(fadvise64) },
	{ SCMP_SYS(stat) }, { SCMP_SYS(lstat) }, { SCMP_SYS(fstat) }, { SCMP_SYS(newfstatat) },
	{ SCMP_SYS(statx) }, { SCMP_SYS(statfs) }, { SCMP_SYS(fstatfs) },
	{ SCMP_SYS(access) }, { SCMP_SYS(faccessat) }, { SCMP_SYS(faccessat2) },
	{ SCMP_SYS(readlink) }, { SCMP_SYS(readlinkat) }, { SCMP_SYS(getdents64) },
	{ SCMP_SYS(getcwd) }, { SCMP_SYS(dup) }, { SCMP_SYS(poll) }, { SCMP_SYS(ppoll) },
	{ SCMP_SYS(fcntl), 1, { ARGUMENT_IS(1, F_DUPFD_CLOEXEC) } },
	{ SCMP_SYS(fcntl), 1, { ARGUMENT_IS(1, F_GETFD) } },
	{ SCMP_SYS(fcntl), 1, { ARGUMENT_IS(1, F_SETFD) } },
	{ SCMP_SYS(fcntl), 1, { ARGUMENT_IS(1, F_GETFL) } },
	{ SCMP_SYS(ioctl), 1, { ARGUMENT_IS(1, TCGETS) } },
	{ SCMP_SYS(ioctl), 1, { ARGUMENT_IS(1, TIOCGWINSZ) } },
	/* threads; glibc starts them with clone3 and, where that is missing, with clone */
	{ SCMP_SYS(clone), 1, { ARGUMENT_HAS(0, CLONE_THREAD, CLONE_THREAD) } },
	{ SCMP_SYS(futex) }, { SCMP_SYS(set_robust_list) }, { SCMP_SYS(rseq) },
	{ SCMP_SYS(sched_yield) }, { SCMP_SYS(sched_getaffinity) }, { SCMP_SYS(membarrier) },
	{ SCMP_SYS(prlimit64), 2, { ARGUMENT_IS(0, 0), ARGUMENT_IS_NULL(2) } },
	{ SCMP_SYS(getrlimit) }, { SCMP_SYS(exit) }, { SCMP_SYS(exit_group) },
	/* sockets that it has: to caged processes, and to the one that starts them */
	{ SCMP_SYS(sendto), 1, { ARGUMENT_IS_NULL(4) } }, { SCMP_SYS(sendmsg) },
	{ SCMP_SYS(recvfrom) }, { SCMP_SYS(recvmsg) },
	/* signals to itself, and waiting for the processes started before */
	{ SCMP_SYS(rt_sigaction) }, { SCMP_SYS(rt_sigprocmask) }, { SCMP_SYS(rt_sigreturn) },
	{ SCMP_SYS(sigaltstack) }, { SCMP_SYS(restart_syscall) }, { SCMP_SYS(wait4) },
	{ SCMP_SYS(waitid) },
	/* itself, the machine and the time */
	{ SCMP_SYS(getpid) }, { SCMP_SYS(gettid) }, { SCMP_SYS(getuid) }, { SCMP_SYS(geteuid) },
	{ SCMP_SYS(getgid) }, { SCMP_SYS(getegid) }, { SCMP_SYS(uname) }, { SCMP_SYS(sysinfo) },
	{ SCMP_SYS(getrandom) }, { SCMP_SYS(clock_gettime) }, { SCMP_SYS(gettimeofday) },
	{ SCMP_SYS(clock_nanosleep) }, { SCMP_SYS(nanosleep) }, { SCMP_SYS(getrusage) },
};

/* Where, is restricted by Landlock. */
static const struct system_call writing[] = {
	{ SCMP_SYS(mkdir) }, { SCMP_SYS(mkdirat) }, { SCMP_SYS(link) }, { SCMP_SYS(linkat) },
	{ SCMP_SYS(rename) }, { SCMP_SYS(renameat) }, { SCMP_SYS(renameat2) },
	{ SCMP_SYS(unlink) }, { SCMP_SYS(unlinkat) },
};

/* Typing for the user, TIOCSTI, stays forbidden. */
static const struct system_call drawing[] = {
	{ SCMP_SYS(ioctl), 1, { ARGUMENT_IS(1, TCSETS) } },
	{ SCMP_SYS(ioctl), 1, { ARGUMENT_IS(1, TCSETSW) } },
	{ SCMP_SYS(ioctl), 1, { ARGUMENT_IS(1, TCSETSF) } },
};

#ifdef __SANITIZE_ADDRESS__
/* LSan looks for leaks from a process of its own, which stops the others. */
static const struct system_call sanitizing[] = {
	{ SCMP_SYS(clone), 1, { ARGUMENT_HAS(0, CLONE_UNTRACED, CLONE_UNTRACED) } },
	{ SCMP_SYS(ptrace) }, { SCMP_SYS(prctl) }, { SCMP_SYS(getppid) }, { SCMP_SYS(kill) },
	{ SCMP_SYS(getdents) },
};
#endif

struct error *system_calls_restrict_reader(bool writes, bool terminal)
{
	const struct system_call own_signal = { SCMP_SYS(tgkill), 1, { ARGUMENT_IS(0, getpid()) } };
	struct system_calls calls;

	system_calls_init(&calls, SCMP_ACT_ERRNO(ENOSYS));
	system_calls_add(&calls, SCMP_ACT_ALLOW, reading, COUNT(reading));
	system_calls_add(&calls, SCMP_ACT_ALLOW, &own_signal, 1);
	if (writes)
		system_calls_add(&calls, SCMP_ACT_ALLOW, writing, COUNT(writing));
	if (terminal)
		system_calls_add(&calls, SCMP_ACT_ALLOW, drawing, COUNT(drawing));
#ifdef __SANITIZE_ADDRESS__
	system_calls_add(&calls, SCMP_ACT_ALLOW, sanitizing, COUNT(sanitizing));
#endif
	return system_calls_restrict(&calls);
}
