/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owner's side of elf_wire.h: nothing that the caged process says is trusted. A build-id of its
 * invention is as good as one in the file, which its author invented.
 */
#include "elf/elf_client.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "elf/elf_wire.h"
#include "walls/cage.h"
#include "walls/cage_messages.h"

#define DEFAULT_SECONDS 2
#define START_SECONDS 30 /* until a parser is ready: our own program, on a busy machine */

struct elf_client {
	double seconds;
	struct cage cage;
	bool running;
	size_t failures;
	uint32_t failed[ELF_CLIENT_MAX_FAILURES]; /* processes whose file ended a parser */
};

struct elf_client *elf_client_create(double seconds)
{
	struct elf_client *client = memory_calloc(1, sizeof(*client));

	client->seconds = seconds > 0 ? seconds : DEFAULT_SECONDS;
	return client;
}

static void stop(struct elf_client *client)
{
	if (client->running)
		cage_stop(&client->cage);
	client->running = false;
}

void elf_client_destroy(struct elf_client *client)
{
	if (!client)
		return;
	stop(client);
	free(client);
}

static bool may_ask(const struct elf_client *client, uint32_t pid)
{
	for (size_t i = 0; i < client->failures; i++)
		if (client->failed[i] == pid)
			return false;
	return client->failures < ELF_CLIENT_MAX_FAILURES;
}

static bool hear(const struct elf_client *client, double seconds, void *data, size_t size)
{
	return cage_hear(client->cage.fd, clock_monotonic_ns() + (uint64_t)(seconds * 1e9), data,
			 size);
}

static bool start(struct elf_client *client)
{
	struct error *error = cage_start(CAGE_ELF, &client->cage);
	uint8_t word = 0;

	client->running = !error;
	if (client->running &&
	    (!hear(client, START_SECONDS, &word, sizeof(word)) || word != ELF_READY)) {
		stop(client);
		error = error_create(ERROR_SYSTEM, "their parser did not start");
	}
	if (error) {
		log_warning("build-ids of the host's files are not recorded: %s",
			    error_message(error));
		client->failures = ELF_CLIENT_MAX_FAILURES;
	}
	error_destroy(error);
	return client->running;
}

static bool exchange(struct elf_client *client, int file, struct build_id *ret)
{
	const uint8_t question = ELF_ASK_BUILD_ID;
	struct elf_answer answer;

	cage_renew(&client->cage, (unsigned int)client->seconds + 1);
	if (!cage_ask(client->cage.fd, &question, sizeof(question), file) ||
	    !hear(client, client->seconds, &answer, sizeof(answer)) ||
	    answer.bytes > sizeof(ret->bytes))
		return false;
	ret->size = answer.bytes;
	memcpy(ret->bytes, answer.build_id, answer.bytes);
	return true;
}

static void fail(struct elf_client *client, uint32_t pid)
{
	stop(client);
	client->failed[client->failures++] = pid;
	log_warning("the build-ids of some files of process %u are not recorded: a file could not "
		    "be parsed",
		    pid);
	if (client->failures == ELF_CLIENT_MAX_FAILURES)
		log_warning("no more build-ids of the host's files are recorded: the files of %d "
			    "processes could not be parsed",
			    ELF_CLIENT_MAX_FAILURES);
}

void elf_client_build_id(struct elf_client *client, uint32_t pid, int fd, struct build_id *ret)
{
	ret->size = 0;
	if (!may_ask(client, pid) || (!client->running && !start(client)))
		return;
	if (!exchange(client, fd, ret))
		fail(client, pid);
}
