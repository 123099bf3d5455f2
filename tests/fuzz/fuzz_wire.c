/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages between the cage and its owner (guest/wire.h), as either side could send them if it
 * was taken over: the framing, what the owner serves and accepts, and what the cage reads. The code
 * of both sides runs here without a process or a socket: recv() returns the input, and send() takes
 * everything.
 *
 * The input's first byte chooses the side and the question, the second one how much recv() returns
 * at once.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/progress.h"
#include "fuzz.h"
#include "service/service.h"
#include "walls/cage.h"

#define CAGE_SIDE 0x80
#define BYTES_PER_CALL (16 << 20)

static struct {
	const uint8_t *bytes;
	size_t size, piece;
} input;

static ssize_t receive_input(int fd, void *data, size_t size, int flags)
{
	(void)fd;
	(void)flags;
	if (size > input.piece)
		size = input.piece;
	if (size > input.size)
		size = input.size;
	memcpy(data, input.bytes, size);
	input.bytes += size;
	input.size -= size;
	return size;
}

static ssize_t take_all(int fd, const void *data, size_t size, int flags)
{
	(void)fd;
	(void)data;
	(void)flags;
	return size;
}

static int readable(struct pollfd *fds, nfds_t count, int timeout)
{
	(void)fds;
	(void)timeout;
	return count;
}

#define recv receive_input
#define send take_all
#define poll readable
#include "guest/wire.c"

static struct error *start_cage(enum cage_kind kind, struct cage *ret)
{
	*ret = (struct cage){ .kind = kind, .fd = -1 };
	return NULL;
}

#define setsockopt(...) 0
#define cage_start start_cage
#define cage_renew(cage, seconds) ((void)(cage), (void)(seconds))
#define cage_stop(cage) ((void)(cage))
#include "host/inspect/guest_client.c"

static const struct guest_slot slots[] = { { { 0 }, 0xa0000 },
					   { { 0x100000 }, 0x10000 + GUEST_PAGE_BYTES / 2 } };

/* What the owner reads is in a slot with all of its bytes. */
static bool read_slots(void *context, const struct gpa *from, size_t count, void *pages)
{
	size_t *served = context;

	assert(count > 0 && count <= GUEST_READ_PAGES);
	for (size_t i = 0; i < count; i++)
		assert(from[i].value % GUEST_PAGE_BYTES == 0 &&
		       (from[i].value < slots[0].bytes ||
			(from[i].value >= slots[1].start.value &&
			 from[i].value + GUEST_PAGE_BYTES <=
				 slots[1].start.value + slots[1].bytes)));
	*served += count * GUEST_PAGE_BYTES;
	assert(*served <= BYTES_PER_CALL);
	memset(pages, 0, count * GUEST_PAGE_BYTES);
	return count != GUEST_READ_PAGES;
}

/* Asks until an answer breaks the protocol. */
static void ask(enum guest_message question)
{
	static const struct guest_client_limits limits = { .bytes_per_call = BYTES_PER_CALL };
	_cleanup_guest_client_ struct guest_client *client = NULL;
	struct guest_memory_source source = { read_slots, &(size_t){ 0 } };
	_cleanup_buffer_ struct buffer answer;

	buffer_init(&answer, GUEST_MESSAGE_MAX);
	error_destroy(guest_client_start(&source, slots, sizeof(slots) / sizeof(*slots), &limits,
					 &client));
	/* The deadline is for what does not arrive. */
	client->limits.seconds_per_call = 1e6;
	while (client->running) {
		size_t *served = source.context, before = input.size;
		struct error *error;

		*served = 0;
		error = guest_client_ask(client, question, NULL, 0, &answer);
		assert(error || answer.size <= max_answer_bytes(question));
		assert(error || answer.size <= before);
		error_destroy(error);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	input.bytes = data + 2;
	input.size = size - 2;
	input.piece = data[1] ? data[1] : SIZE_MAX;
	if (*data & CAGE_SIDE)
		guest_service_run(-1);
	else
		ask(*data % (GUEST_FAILED + 1));
	return 0;
}
