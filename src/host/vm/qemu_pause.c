/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guardian: a child that waits until this process has ended, in whatever way. If the guest was
 * stopped, it then lets it continue. It knows that from a page shared by both; its end of a pipe
 * shows that this process has ended. If QEMU does not answer, the guardian asks again for as long
 * as QEMU exists, less and less often.
 */
#include "host/vm/qemu_pause.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "host/vm/qemu_monitor.h"
#include "host/vm/qemu_text.h"
#include "walls/sanitizers.h"

#define MAX_ANSWER_BYTES ((size_t)16 << 20)
#define MAX_SAID_BYTES 200
#define FIRST_RETRY_MS 1000
#define MAX_RETRY_MS 60000
#define MAX_WAIT_MS 5000 /* for a guardian that cannot make the guest continue; it stays */

struct qemu_pause {
	uint32_t pid;
	struct qemu_monitors monitors; /* as they were at the start */
	atomic_bool *stopped; /* by us; shared with the guardian */
	int qemu_fd; /* a pidfd, like guardian_fd: readable when the process has ended */
	int guardian_fd;
	int alive_fd; /* closed when this process ends */
	struct qemu_monitor *monitor; /* NULL between pauses */
	uint64_t begin_ns;
	struct sigaction suspension; /* the previous handler of SIGTSTP */
	struct buffer answer;
};

static struct error *ask(struct qemu_pause *pause, const char *const *commands, size_t count)
{
	buffer_clear(&pause->answer);
	return qemu_monitor_ask(pause->monitor, commands, count, &pause->answer);
}

/* "cont" prints nothing unless it fails. */
static struct error *go_on(struct qemu_pause *pause)
{
	struct error *error = ask(pause, (const char *const[]){ "cont" }, 1);
	char said[MAX_SAID_BYTES];

	if (error)
		return error;
	utf8_printable((const char *)pause->answer.data, pause->answer.size, said, sizeof(said));
	if (said[strspn(said, " ?")])
		return error_create(ERROR_UNSUPPORTED, "QEMU does not let the guest continue: %s",
				    said);
	atomic_store(pause->stopped, false);
	return NULL;
}

static void close_monitor(struct qemu_pause *pause)
{
	qemu_monitor_close(pause->monitor);
	pause->monitor = NULL;
}

/* Opens the monitor. If a guest was left stopped, lets it continue. */
static struct error *open_monitor(struct qemu_pause *pause)
{
	struct error *error =
		qemu_monitor_open_by(pause->pid, &pause->monitors, &pause->monitor);

	if (!error && atomic_load(pause->stopped))
		error = go_on(pause);
	return error;
}

/* Whether the process of the pidfd FD ends within that time. */
static bool ends_within(int fd, int wait_ms)
{
	struct pollfd process = { .fd = fd, .events = POLLIN };
	uint64_t end_ns = clock_monotonic_ns() + (uint64_t)wait_ms * 1000000;
	int64_t left_ms = wait_ms;
	int ended;

	do {
		ended = poll(&process, 1, (int)left_ms);
		left_ms = ((int64_t)end_ns - (int64_t)clock_monotonic_ns()) / 1000000;
	} while (ended < 0 && errno == EINTR && left_ms > 0);
	return ended > 0;
}

static void let_go_on(struct qemu_pause *pause)
{
	int wait_ms = FIRST_RETRY_MS;

	while (atomic_load(pause->stopped)) {
		error_destroy(open_monitor(pause));
		close_monitor(pause);
		if (atomic_load(pause->stopped) && ends_within(pause->qemu_fd, wait_ms))
			break;
		wait_ms = wait_ms < MAX_RETRY_MS / 2 ? 2 * wait_ms : MAX_RETRY_MS;
	}
}

static void close_from_to(int from, int to)
{
	if (from <= to)
		syscall(SYS_close_range, (unsigned int)from, (unsigned int)to, 0);
}

/*
 * Events, rings and pipes that the guardian does not use must be closed when their owner ends, not
 * when the guardian does.
 */
static void close_all_but(int first, int second)
{
	int low = first < second ? first : second;
	int high = first < second ? second : first;
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null_fd >= 0 && fd <= STDERR_FILENO; fd++) {
		if (fd != low && fd != high)
			dup2(null_fd, fd);
	}
	close_from_to(STDERR_FILENO + 1, low - 1);
	close_from_to((low > STDERR_FILENO ? low : STDERR_FILENO) + 1, high - 1);
	close_from_to((high > STDERR_FILENO ? high : STDERR_FILENO) + 1, INT_MAX);
}

static void guard(struct qemu_pause *pause, int owner_fd)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL); /* Ctrl-C reaches this process, too */
	close_all_but(owner_fd, pause->qemu_fd);
	while (read(owner_fd, &byte, 1) < 0 && errno == EINTR)
		;
	let_go_on(pause);
#ifdef __SANITIZE_ADDRESS__
	sanitizer_find_leaks();
#endif
	_exit(0);
}

static int open_process(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static struct error *start_guardian(struct qemu_pause *pause)
{
	int fds[2];
	pid_t guardian;

	pause->qemu_fd = open_process((pid_t)pause->pid);
	if (pause->qemu_fd < 0)
		return error_system(errno, "could not watch process %u", pause->pid);
	if (pipe2(fds, O_CLOEXEC))
		return error_system(errno, "could not create a pipe");
	pause->alive_fd = fds[1];
	guardian = fork();
	if (!guardian)
		guard(pause, fds[0]);
	close(fds[0]);
	if (guardian < 0)
		return error_system(errno, "could not start a process");
	pause->guardian_fd = open_process(guardian);
	return NULL;
}

struct error *qemu_pause_create(uint32_t pid, struct qemu_pause **ret)
{
	struct qemu_pause *pause = memory_calloc(1, sizeof(*pause));
	struct error *error;
	void *shared = mmap(NULL, sizeof(*pause->stopped), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	pause->pid = pid;
	pause->qemu_fd = pause->guardian_fd = pause->alive_fd = -1;
	buffer_init(&pause->answer, MAX_ANSWER_BYTES);
	qemu_monitors_of(pid, &pause->monitors);
	qemu_monitors_check(pid, &pause->monitors);
	if (shared == MAP_FAILED) {
		error = error_system(errno, "could not map memory");
	} else {
		pause->stopped = shared;
		error = start_guardian(pause);
	}
	if (error) {
		qemu_pause_destroy(pause);
		return error;
	}
	*ret = pause;
	return NULL;
}

void qemu_pause_destroy(struct qemu_pause *pause)
{
	if (!pause)
		return;
	cleanup_close(&pause->alive_fd);
	close_monitor(pause);
	/* If the guest is still stopped, the guardian lets it continue. */
	if (pause->guardian_fd >= 0 && ends_within(pause->guardian_fd, MAX_WAIT_MS))
		waitid(P_PIDFD, (id_t)pause->guardian_fd, NULL, WEXITED);
	cleanup_close(&pause->guardian_fd);
	cleanup_close(&pause->qemu_fd);
	if (pause->stopped)
		munmap(pause->stopped, sizeof(*pause->stopped));
	qemu_monitors_deinit(&pause->monitors);
	buffer_deinit(&pause->answer);
	free(pause);
}

/* Ctrl-Z between "stop" and "cont" would leave the guest stopped, so it is ignored. */
static void ignore_suspension(struct qemu_pause *pause)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGTSTP, &ignore, &pause->suspension);
}

static void heed_suspension(struct qemu_pause *pause)
{
	sigaction(SIGTSTP, &pause->suspension, NULL);
}

static struct error *stop(struct qemu_pause *pause, struct host_vm_memory *memory)
{
	static const char *const commands[] = { "stop", "info registers -a" };
	struct error *error;

	ignore_suspension(pause);
	atomic_store(pause->stopped, true);
	pause->begin_ns = clock_monotonic_ns();
	error = ask(pause, commands, sizeof(commands) / sizeof(*commands));
	return error ? error
		     : qemu_text_registers((const char *)pause->answer.data, pause->answer.size,
					   memory);
}

struct error *qemu_pause_begin(struct qemu_pause *pause, struct host_vm_memory *ret, bool *ret_runs)
{
	struct host_vm_memory memory = { .pid = pause->pid };
	struct error *error = open_monitor(pause);
	bool runs = false;

	if (!error)
		error = ask(pause, (const char *const[]){ "info status" }, 1);
	if (!error)
		runs = qemu_text_runs((const char *)pause->answer.data, pause->answer.size);
	if (runs)
		error = stop(pause, &memory);
	if (error && runs) {
		error_destroy(go_on(pause));
		heed_suspension(pause);
	}
	if (error || !runs) {
		close_monitor(pause);
		host_vm_memory_deinit(&memory);
	}
	if (error)
		return error;
	*ret_runs = runs;
	if (runs)
		*ret = memory;
	return NULL;
}

struct error *qemu_pause_end(struct qemu_pause *pause, uint64_t *ret_ns)
{
	struct error *error = go_on(pause);

	heed_suspension(pause);
	close_monitor(pause);
	if (!error)
		*ret_ns = clock_monotonic_ns() - pause->begin_ns;
	return error;
}
