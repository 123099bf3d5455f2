/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owner's side of elf_wire.h: nothing that the caged process says is trusted. A build-id of its
 * invention is as good as one in the file, which its author invented.
 */
#include "elf/elf_client.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "elf/elf_wire.h"
#include "walls/cage.h"
#include "walls/messages.h"

#define DEFAULT_SECONDS 2
#define START_SECONDS 30 /* until a parser is ready: our own program, on a busy machine */

/* A process whose file ended a parser, and its user. */
struct failure {
	uint32_t pid, user;
};

struct elf_client {
	double seconds;
	struct mapped_file_opener *opener; /* NULL: not started */
	struct cage cage;
	bool running; /* the parser */
	size_t failures;
	struct failure failed[ELF_CLIENT_MAX_ALL_FAILURES];
};

struct elf_client *elf_client_create(double seconds)
{
	struct elf_client *client = memory_calloc(1, sizeof(*client));

	client->seconds = seconds > 0 ? seconds : DEFAULT_SECONDS;
	/* A fork, best made before there are threads; what fails is tried again. */
	error_destroy(mapped_file_opener_start(&client->opener));
	return client;
}

static void stop(struct elf_client *client)
{
	mapped_file_opener_stop(take_pointer(client->opener));
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

/*
 * The real user of a process; UINT32_MAX: it has ended. Not the owner of its folder in /proc, which
 * a process can make root.
 */
static uint32_t user_of(uint32_t pid)
{
	_cleanup_free_ char *path = memory_printf("/proc/%" PRIu32 "/status", pid);
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	uint32_t user = UINT32_MAX;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Uid: %" SCNu32, &user) == 1)
			break;
	return user;
}

static size_t failures_of(const struct elf_client *client, uint32_t user)
{
	size_t count = 0;

	for (size_t i = 0; i < client->failures; i++)
		count += client->failed[i].user == user;
	return count;
}

static bool may_ask(const struct elf_client *client, uint32_t pid)
{
	if (!client->failures)
		return true;
	for (size_t i = 0; i < client->failures; i++)
		if (client->failed[i].pid == pid)
			return false;
	return client->failures < ELF_CLIENT_MAX_ALL_FAILURES &&
	       failures_of(client, user_of(pid)) < ELF_CLIENT_MAX_FAILURES;
}

static uint64_t after_seconds(double seconds)
{
	return clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
}

static struct error *start_parser(struct elf_client *client)
{
	struct error *error = cage_start(CAGE_ELF, &client->cage);
	uint8_t word = 0;

	if (error)
		return error;
	client->running = true;
	if (message_await(client->cage.fd, after_seconds(START_SECONDS), &word, sizeof(word)) &&
	    word == ELF_READY)
		return NULL;
	return error_create(ERROR_SYSTEM, "their parser did not start");
}

/* False: not possible. */
static bool start(struct elf_client *client)
{
	struct error *error = NULL;

	if (!client->opener)
		error = mapped_file_opener_start(&client->opener);
	if (!error && !client->running)
		error = start_parser(client);
	if (!error)
		return true;
	log_warning("build-ids of the host's files are not recorded: %s", error_message(error));
	error_destroy(error);
	stop(client);
	client->failures = ELF_CLIENT_MAX_ALL_FAILURES;
	return false;
}

static bool parse(struct elf_client *client, int file, struct build_id *ret)
{
	const uint8_t question = ELF_ASK_BUILD_ID;
	struct elf_answer answer;

	cage_renew(&client->cage, (unsigned int)client->seconds + 1);
	if (!message_send(client->cage.fd, &question, sizeof(question), file) ||
	    !message_await(client->cage.fd, after_seconds(client->seconds), &answer,
			   sizeof(answer)) ||
	    answer.bytes > sizeof(ret->bytes))
		return false;
	ret->size = answer.bytes;
	memcpy(ret->bytes, answer.build_id, answer.bytes);
	return true;
}

static void fail(struct elf_client *client, uint32_t pid, const char *reason)
{
	uint32_t user = user_of(pid);

	stop(client);
	client->failed[client->failures++] = (struct failure){ pid, user };
	log_warning("the build-ids of some files of process %u are not recorded: a file could not "
		    "be %s",
		    pid, reason);
	if (client->failures == ELF_CLIENT_MAX_ALL_FAILURES)
		log_warning("no more build-ids of the host's files are recorded: the files of %d "
			    "processes could not be read",
			    ELF_CLIENT_MAX_ALL_FAILURES);
	else if (failures_of(client, user) == ELF_CLIENT_MAX_FAILURES)
		log_warning("no more build-ids of files of user %" PRIu32 "'s processes are "
			    "recorded: those of %d could not be read",
			    user, ELF_CLIENT_MAX_FAILURES);
}

void elf_client_build_id(struct elf_client *client, const struct mapped_file *file,
			 struct build_id *ret)
{
	_cleanup_close_ int fd = -1;

	ret->size = 0;
	if (!may_ask(client, file->pid) || !start(client))
		return;
	if (!mapped_file_open(client->opener, file, after_seconds(client->seconds), &fd))
		fail(client, file->pid, "opened");
	else if (fd >= 0 && !parse(client, fd, ret))
		fail(client, file->pid, "parsed");
}
