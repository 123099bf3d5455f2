/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guardian: a child that waits until this process is gone, however it went, and then, if the guest was
 * stopped, lets it go on. It knows by a page that both share; its end of a pipe tells it the rest.
 */
#include "host/qemu_pause.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "host/qemu_monitor.h"
#include "host/qemu_text.h"

#define MAX_ANSWER_BYTES ((size_t)16 << 20)
#define MAX_SAID_BYTES 200
#define ATTEMPTS 5

struct qemu_pause {
	uint32_t pid;
	atomic_bool *stopped; /* by us; shared with the guardian */
	pid_t guardian;
	int alive_fd; /* closed when this process ends */
	struct qemu_monitor *monitor; /* NULL between pauses */
	uint64_t begin_ns;
	struct sigaction suspension; /* what was done for SIGTSTP before */
	struct buffer answer;
};

static struct error *ask(struct qemu_pause *pause, const char *const *commands, size_t count)
{
	buffer_clear(&pause->answer);
	return qemu_monitor_ask(pause->monitor, commands, count, &pause->answer);
}

/* "cont" says nothing but why it cannot be done. */
static struct error *go_on(struct qemu_pause *pause)
{
	struct error *error = ask(pause, (const char *const[]){ "cont" }, 1);
	char said[MAX_SAID_BYTES];

	if (error)
		return error;
	utf8_printable((const char *)pause->answer.data, pause->answer.size, said, sizeof(said));
	if (said[strspn(said, " ?")])
		return error_create(ERROR_UNSUPPORTED, "QEMU does not let the guest go on: %s", said);
	atomic_store(pause->stopped, false);
	return NULL;
}

static void close_monitor(struct qemu_pause *pause)
{
	qemu_monitor_close(pause->monitor);
	pause->monitor = NULL;
}

/* Opens the monitor. A guest that was left stopped goes on. */
static struct error *open_monitor(struct qemu_pause *pause)
{
	struct error *error = qemu_monitor_open(pause->pid, &pause->monitor);

	if (!error && atomic_load(pause->stopped))
		error = go_on(pause);
	return error;
}

static void let_go_on(struct qemu_pause *pause)
{
	struct timespec second = { .tv_sec = 1 };

	for (int i = 0; i < ATTEMPTS && atomic_load(pause->stopped); i++) {
		if (i)
			nanosleep(&second, NULL);
		close_monitor(pause);
		error_destroy(open_monitor(pause));
	}
	close_monitor(pause);
}

static void guard(struct qemu_pause *pause, int owner_fd)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL); /* Ctrl-C reaches this process, too */
	close(pause->alive_fd);
	while (read(owner_fd, &byte, 1) < 0 && errno == EINTR)
		;
	let_go_on(pause);
	_exit(0);
}

static struct error *start_guardian(struct qemu_pause *pause)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return error_system(errno, "could not make a pipe");
	pause->alive_fd = fds[1];
	pause->guardian = fork();
	if (!pause->guardian)
		guard(pause, fds[0]);
	close(fds[0]);
	return pause->guardian < 0 ? error_system(errno, "could not start a process") : NULL;
}

struct error *qemu_pause_create(uint32_t pid, struct qemu_pause **ret)
{
	struct qemu_pause *pause = memory_calloc(1, sizeof(*pause));
	struct error *error;
	void *shared = mmap(NULL, sizeof(*pause->stopped), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	pause->pid = pid;
	pause->alive_fd = -1;
	pause->guardian = -1;
	buffer_init(&pause->answer, MAX_ANSWER_BYTES);
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
	/* It lets the guest go on, if that was not to be done here. */
	while (pause->guardian > 0 && waitpid(pause->guardian, NULL, 0) < 0 && errno == EINTR)
		;
	if (pause->stopped)
		munmap(pause->stopped, sizeof(*pause->stopped));
	buffer_deinit(&pause->answer);
	free(pause);
}

/* Ctrl-Z between "stop" and "cont" would leave the guest stopped; it comes to nothing then. */
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
