/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read lies in memory that both processes share; the answer is 0 or an errno. */
#include "host/system/memory_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "host/system/process.h"
#include "walls/messages.h"
#include "walls/servant.h"

#define DEFAULT_SECONDS 5
#define MAX_LIMITS 24 /* that a servant gets which does not wait for memory */
#define MOMENT_NS 1000000
#define REST_NS 60000000000ull
#define MAX_RESTING 64 /* processes; of more, the first ones may be asked again */

struct question {
	uint32_t pid;
	uint32_t count, bytes;
	uint64_t addresses[MEMORY_READER_PIECES];
};

struct resting {
	uint32_t pid;
	uint64_t until_ns;
};

struct memory_reader {
	size_t owners;
	uint64_t limit_ns;
	struct servant servant;
	uint8_t *shared; /* NULL: not mapped yet */
	struct resting resting[MAX_RESTING];
	size_t stalls;
};

struct memory_reader *memory_reader_create(double seconds)
{
	struct memory_reader *reader = memory_calloc(1, sizeof(*reader));

	reader->owners = 1;
	reader->limit_ns = (uint64_t)((seconds > 0 ? seconds : DEFAULT_SECONDS) * 1e9);
	return reader;
}

struct memory_reader *memory_reader_share(struct memory_reader *reader)
{
	if (reader)
		reader->owners++;
	return reader;
}

void memory_reader_release(struct memory_reader *reader)
{
	if (!reader || --reader->owners)
		return;
	servant_stop(&reader->servant);
	if (reader->shared)
		munmap(reader->shared, MEMORY_READER_BYTES);
	free(reader);
}

static int32_t read_pieces(const struct question *question, void *to)
{
	struct iovec remote[MEMORY_READER_PIECES];
	struct iovec local = { to, (size_t)question->count * question->bytes };
	ssize_t got;

	for (size_t i = 0; i < question->count; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)question->addresses[i],
					    question->bytes };
	got = process_vm_readv((pid_t)question->pid, &local, 1, remote, question->count, 0);
	if (got == (ssize_t)local.iov_len)
		return 0;
	return got < 0 ? errno : EFAULT;
}

static void serve(int fd, void *shared)
{
	struct question question;
	int none;

	/* Where its owner was killed, it might wait for ever. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (message_receive(fd, &question, sizeof(question), &none)) {
		int32_t failure = read_pieces(&question, shared);

		if (!message_send(fd, &failure, sizeof(failure), -1))
			break;
	}
}

static bool start(struct memory_reader *reader)
{
	struct error *error;

	if (!reader->shared) {
		void *shared = mmap(NULL, MEMORY_READER_BYTES, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (shared == MAP_FAILED)
			return false;
		reader->shared = shared;
	}
	if (reader->servant.pid)
		return true;
	error = servant_start(serve, reader->shared, &reader->servant);
	if (!error)
		return true;
	error_destroy(error);
	errno = EAGAIN;
	return false;
}

static bool rests(const struct memory_reader *reader, uint32_t pid)
{
	uint64_t now = clock_monotonic_ns();

	for (size_t i = 0; i < MAX_RESTING; i++)
		if (reader->resting[i].pid == pid && now < reader->resting[i].until_ns)
			return true;
	return false;
}

static void give_up(struct memory_reader *reader, uint32_t pid)
{
	struct resting *resting = &reader->resting[reader->stalls++ % MAX_RESTING];

	kill(reader->servant.pid, SIGKILL); /* it will not see that it is told to end */
	servant_stop(&reader->servant);
	*resting = (struct resting){ pid, clock_monotonic_ns() + REST_NS };
	log_warning("the memory of process %" PRIu32 " could not be read in time: nothing of it is "
		    "read for a minute", pid);
}

enum outcome { ANSWERED, STALLED, SERVANT_GONE };

/* On a busy machine the servant may only be waiting for a processor; then it gets more time. */
static enum outcome ask(const struct memory_reader *reader, const struct question *question,
			int32_t *ret)
{
	const struct servant *servant = &reader->servant;
	struct host_process_stat stat;

	if (!message_send_all(servant->fd, question, sizeof(*question)))
		return SERVANT_GONE;
	for (int i = 0; i < MAX_LIMITS; i++) {
		if (message_await(servant->fd, clock_monotonic_ns() + reader->limit_ns, ret,
				  sizeof(*ret)))
			return ANSWERED;
		if (message_is_there(servant->fd, clock_monotonic_ns() + MOMENT_NS)) /* the end */
			return SERVANT_GONE;
		if (host_process_stat(servant->pid, &stat) && !strchr("RST", stat.state))
			return STALLED;
	}
	return STALLED;
}

bool memory_reader_read(struct memory_reader *reader, uint32_t pid, const uint64_t *addresses,
			size_t count, size_t bytes, void *ret)
{
	struct question question = { .pid = pid, .count = count, .bytes = bytes };
	enum outcome outcome = SERVANT_GONE;
	int32_t failure;

	if (count > MEMORY_READER_PIECES || bytes > MEMORY_READER_BYTES / MEMORY_READER_PIECES) {
		errno = EINVAL;
		return false;
	}
	if (rests(reader, pid)) {
		errno = ETIMEDOUT;
		return false;
	}
	memcpy(question.addresses, addresses, count * sizeof(*addresses));
	/* Somebody may have killed the servant, or the thread that started it has ended. */
	for (int i = 0; i < 2 && outcome == SERVANT_GONE; i++) {
		if (!start(reader))
			return false;
		outcome = ask(reader, &question, &failure);
		if (outcome == SERVANT_GONE)
			servant_stop(&reader->servant);
	}
	if (outcome != ANSWERED) {
		if (outcome == STALLED)
			give_up(reader, pid);
		errno = outcome == STALLED ? ETIMEDOUT : EIO;
		return false;
	}
	if (!failure)
		memcpy(ret, reader->shared, count * bytes);
	errno = failure;
	return !failure;
}
