/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The owner's side of the caged parser; see guest_client.h and guest/wire.h. */
#include "host/inspect/guest_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "walls/cage.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "base/progress.h"

/* Also long enough for a question of the parser, and for a message of why it failed. */
#define SHORT_ANSWER_BYTES ((size_t)8 << 10)
#define MIDDLING_ANSWER_BYTES ((size_t)2 << 20)
#define LONG_ANSWER_BYTES ((size_t)16 << 20)

struct guest_client {
	struct guest_memory_source source;
	struct guest_slot *slots;
	size_t slot_count;
	struct guest_client_limits limits;
	struct cage cage;
	bool running;
	uint64_t bytes_read;
	uint64_t call_bytes; /* read during the current call */
};

static bool in_slots(const struct guest_client *client, uint64_t page)
{
	for (size_t i = 0; i < client->slot_count; i++) {
		const struct guest_slot *slot = &client->slots[i];

		if (page >= slot->start.value && page - slot->start.value < slot->bytes &&
		    slot->bytes - (page - slot->start.value) >= GUEST_PAGE_BYTES)
			return true;
	}
	return false;
}

/* Takes the addresses of a GUEST_READ; false: the parser may not ask for one of them. */
static bool take_addresses(const struct guest_client *client, const struct buffer *request,
			   struct gpa *ret, size_t *ret_count)
{
	struct cursor cursor = cursor_make(request->data, request->size, false);
	size_t count = request->size / sizeof(uint64_t);

	if (!count || count > GUEST_READ_PAGES || request->size % sizeof(uint64_t))
		return false;
	for (size_t i = 0; i < count; i++) {
		ret[i] = GPA(cursor_u64(&cursor));
		if (ret[i].value % GUEST_PAGE_BYTES || !in_slots(client, ret[i].value))
			return false;
	}
	*ret_count = count;
	return true;
}

static struct error *serve_pages(struct guest_client *client, const struct buffer *request)
{
	struct gpa addresses[GUEST_READ_PAGES];
	_cleanup_free_ uint8_t *answer = NULL;
	uint32_t read;
	size_t count, bytes;

	if (!take_addresses(client, request, addresses, &count))
		return error_create(ERROR_BAD_DATA,
				    "the guest parser asked for pages outside guest memory");
	bytes = count * GUEST_PAGE_BYTES;
	if (bytes > client->limits.bytes_per_call - client->call_bytes)
		return error_create(ERROR_BAD_DATA, "the guest parser read too much");
	client->call_bytes += bytes;
	client->bytes_read += bytes;
	answer = memory_alloc(sizeof(read) + bytes);
	read = client->source.read_pages(client->source.context, addresses, count,
					 answer + sizeof(read));
	memcpy(answer, &read, sizeof(read));
	return guest_wire_send(client->cage.fd, GUEST_PAGES, answer,
			       sizeof(read) + (read ? bytes : 0));
}

struct error *guest_client_malformed(void)
{
	return error_create(ERROR_BAD_DATA, "the guest parser sent a malformed answer");
}

static struct error *failure_of(const struct buffer *answer)
{
	struct cursor cursor = cursor_make(answer->data, answer->size, false);
	uint32_t code = cursor_u32(&cursor);
	int length = cursor.failed ? 0 : (int)cursor_left(&cursor);

	if (code < ERROR_SYSTEM || code > ERROR_INTERRUPTED || length > 1000)
		return guest_client_malformed();
	return error_create(code, "%.*s", length, (const char *)answer->data + sizeof(code));
}

/*
 * Serves pages until an answer arrives. *RET_FAILURE is a failure that the parser reported; the
 * parser can still be used.
 */
static struct error *wait_for_answer(struct guest_client *client, struct buffer *ret,
				     struct error **ret_failure)
{
	uint64_t deadline_ns =
		clock_monotonic_ns() + (uint64_t)(client->limits.seconds_per_call * 1e9);

	for (;;) {
		struct error *error;
		uint32_t type;

		error = guest_wire_receive(client->cage.fd, deadline_ns, &type, ret);
		if (!error && type == GUEST_READ)
			error = serve_pages(client, ret);
		else if (!error && type == GUEST_FAILED)
			*ret_failure = failure_of(ret);
		else if (!error && type != GUEST_RESULT)
			error = error_create(ERROR_BAD_DATA,
					     "the guest parser sent unexpected message %u", type);
		if (error || type != GUEST_READ)
			return error;
	}
}

/* How long an answer to QUESTION may be, far above any guest's. */
static size_t max_answer_bytes(enum guest_message question)
{
	switch (question) {
	case GUEST_ASK_RECALL:
	case GUEST_ASK_REFRESH:
	case GUEST_ASK_STATE:
	case GUEST_ASK_OPEN:
	case GUEST_ASK_NAMES:
	case GUEST_ASK_TASK:
		return SHORT_ANSWER_BYTES;
	case GUEST_ASK_CURRENT:
	case GUEST_ASK_VCPU:
		return MIDDLING_ANSWER_BYTES;
	case GUEST_ASK_MAPPINGS:
		return LONG_ANSWER_BYTES;
	default:
		return GUEST_MESSAGE_MAX;
	}
}

struct error *guest_client_ask(struct guest_client *client, enum guest_message question,
			       const void *data, size_t size, struct buffer *ret)
{
	size_t max_bytes = ret->max_bytes, most = max_answer_bytes(question);
	struct error *failure = NULL;
	struct error *error;

	if (!client->running)
		return error_create(ERROR_SYSTEM, "the guest parser has ended");
	client->call_bytes = 0;
	cage_renew(&client->cage, (unsigned int)client->limits.seconds_per_call + 1);
	error = guest_wire_send(client->cage.fd, question, data, size);
	if (ret->max_bytes > most)
		ret->max_bytes = most;
	if (!error)
		error = wait_for_answer(client, ret, &failure);
	ret->max_bytes = max_bytes;
	if (error) {
		cage_stop(&client->cage);
		client->running = false;
	}
	return error ? error : failure;
}

static uint32_t arch_number(const struct arch *arch)
{
	uint32_t number = 0;

	while (arch_all[number] != arch)
		number++;
	return number;
}

static void append_registers(struct buffer *request, const struct arch_mmu *mmu)
{
	uint64_t registers[4] = { 0 };

	if (mmu->arch == &arch_x86_64 || mmu->arch == &arch_i386)
		memcpy(registers,
		       (uint64_t[]){ mmu->x86.cr0, mmu->x86.cr3, mmu->x86.cr4, mmu->x86.efer },
		       sizeof(registers));
	else if (mmu->arch == &arch_arm64)
		memcpy(registers,
		       (uint64_t[]){ mmu->arm64.ttbr0, mmu->arm64.ttbr1, mmu->arm64.tcr,
				     mmu->arm64.lpa2 },
		       sizeof(registers));
	else
		memcpy(registers,
		       (uint64_t[]){ mmu->ppc64.process_table, mmu->ppc64.pid, mmu->ppc64.radix,
				     0 },
		       sizeof(registers));
	buffer_append(request, registers, sizeof(registers));
}

/* Every question that opens a guest begins with this. */
static void append_guest(const struct guest_client *client, const struct arch_mmu *mmu,
			 struct buffer *request)
{
	buffer_append_u32(request, arch_number(mmu->arch));
	append_registers(request, mmu);
	buffer_append_u64(request, client->limits.bytes_per_call);
	buffer_append_u32(request, client->slot_count);
	for (size_t i = 0; i < client->slot_count; i++) {
		buffer_append_u64(request, client->slots[i].start.value);
		buffer_append_u64(request, client->slots[i].bytes);
	}
}

static struct error *ask_about(struct guest_client *client, enum guest_message question,
			       const struct arch_mmu *mmu, struct buffer *ret)
{
	_cleanup_buffer_ struct buffer request;

	buffer_init(&request, GUEST_MESSAGE_MAX);
	append_guest(client, mmu, &request);
	return guest_client_ask(client, question, request.data, request.size, ret);
}

struct error *guest_client_open(struct guest_client *client, const struct arch_mmu *mmu,
				struct buffer *ret)
{
	return ask_about(client, GUEST_ASK_OPEN, mmu, ret);
}

struct error *guest_client_ask_names(struct guest_client *client, const struct arch_mmu *mmu,
				     struct buffer *ret)
{
	return ask_about(client, GUEST_ASK_NAMES, mmu, ret);
}

struct error *guest_client_ask_code(struct guest_client *client, const struct arch_mmu *mmu,
				    struct gva gva, uint32_t count, struct buffer *ret)
{
	_cleanup_buffer_ struct buffer request;

	buffer_init(&request, GUEST_MESSAGE_MAX);
	append_guest(client, mmu, &request);
	buffer_append_u64(&request, gva.value);
	buffer_append_u32(&request, count);
	return guest_client_ask(client, GUEST_ASK_CODE, request.data, request.size, ret);
}

/* Without a limit, sending to a parser that asks but does not read would block. */
static struct error *limit_sends(const struct guest_client *client)
{
	double seconds = client->limits.seconds_per_call;
	struct timeval limit = { .tv_sec = (time_t)seconds };

	limit.tv_usec = (suseconds_t)((seconds - (double)limit.tv_sec) * 1e6);
	if (setsockopt(client->cage.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return error_system(errno, "could not set the guest parser's time limit");
	return NULL;
}

struct error *guest_client_start(const struct guest_memory_source *source,
				 const struct guest_slot *slots, size_t slot_count,
				 const struct guest_client_limits *limits,
				 struct guest_client **ret)
{
	_cleanup_guest_client_ struct guest_client *client = memory_calloc(1, sizeof(*client));
	struct error *error;

	client->source = *source;
	client->slots = memory_dup(slots, slot_count * sizeof(*slots));
	client->slot_count = slot_count;
	client->limits = *limits;
	error = cage_start(CAGE_GUEST, &client->cage);
	if (error)
		return error;
	client->running = true;
	error = limit_sends(client);
	if (error)
		return error;
	*ret = take_pointer(client);
	return NULL;
}

void guest_client_stop(struct guest_client *client)
{
	if (!client)
		return;
	if (client->running)
		cage_stop(&client->cage);
	free(client->slots);
	free(client);
}

uint64_t guest_client_bytes_read(const struct guest_client *client)
{
	return client->bytes_read;
}
