/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The owner's side of line_wire.h: nothing that the caged process says is trusted. */
#include "lines/line_client.h"

#include <unistd.h>

#include "base/buffer.h"
#include "walls/cage.h"
#include "walls/messages.h"
#include "base/cursor.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/vector.h"
#include "lines/line_wire.h"

#define DEFAULT_SECONDS 20
#define MAX_FAILURES 4

struct file {
	int fd;	 /* -1: nothing more is asked about it */
	char *name;
	uint64_t used_ns; /* waiting for answers */
	uint32_t number; /* in the current process */
	uint32_t process; /* number of the process that has it; 0: none */
};

struct line_client {
	double seconds;
	struct cage cage;
	uint32_t process; /* counts the processes */
	bool running;
	uint32_t sent; /* how many files the current process has */
	unsigned int failures;
	uint64_t used_ns; /* waiting for answers */
	VECTOR(struct file) files;
	uint8_t answer[LINE_ANSWER_MAX_BYTES];
};

struct line_client *line_client_create(double seconds)
{
	struct line_client *client = memory_calloc(1, sizeof(*client));

	client->seconds = seconds > 0 ? seconds : DEFAULT_SECONDS;
	return client;
}

static void stop(struct line_client *client)
{
	if (client->running)
		cage_stop(&client->cage);
	client->running = false;
}

static void close_file(struct file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void line_client_destroy(struct line_client *client)
{
	if (!client)
		return;
	stop(client);
	for (size_t i = 0; i < client->files.count; i++) {
		close_file(&client->files.items[i]);
		free(client->files.items[i].name);
	}
	vector_deinit(&client->files);
	free(client);
}

uint32_t line_client_open(struct line_client *client, int fd, const char *name)
{
	struct file file = { .fd = fd };

	if (client->files.count == LINE_CLIENT_MAX_FILES) {
		close(fd);
		return LINE_CLIENT_NO_FILE;
	}
	file.name = memory_strdup(name);
	vector_append(&client->files, file);
	return client->files.count - 1;
}

bool line_answer_decode(const void *data, size_t size, uint32_t count, struct line_frames *ret)
{
	struct cursor cursor = cursor_make(data, size, false);

	ret->count = 0;
	if (count > LINE_CLIENT_MAX_FRAMES)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct line_frame *frame = &ret->items[i];

		frame->line = cursor_u32(&cursor);
		frame->function_bytes = cursor_u16(&cursor);
		frame->file_bytes = cursor_u16(&cursor);
		frame->function = cursor_bytes(&cursor, frame->function_bytes);
		frame->file = cursor_bytes(&cursor, frame->file_bytes);
	}
	if (cursor.failed || cursor_left(&cursor))
		return false;
	ret->count = count;
	return true;
}

static bool start(struct line_client *client)
{
	struct error *error = cage_start(CAGE_LINES, &client->cage);

	client->running = !error;
	client->process++;
	client->sent = 0;
	if (error)
		log_warning("source lines and inlined functions are not available: %s",
			    error_message(error));
	error_destroy(error);
	return client->running;
}

/* Makes sure that the current process has FILE. */
static bool hand_over(struct line_client *client, struct file *file)
{
	struct line_question question = { .kind = LINE_OPEN };

	if (file->process == client->process)
		return true;
	if (!message_send(client->cage.fd, &question, sizeof(question), file->fd))
		return false;
	file->process = client->process;
	file->number = client->sent++;
	return true;
}

static bool exchange(struct line_client *client, struct file *file, uint64_t address,
		     struct line_frames *ret)
{
	uint64_t deadline_ns = clock_monotonic_ns() + (uint64_t)(client->seconds * 1e9);
	struct line_question question = { .kind = LINE_FIND, .address = address };
	struct line_answer_header header;
	int fd = client->cage.fd;

	if (!hand_over(client, file))
		return false;
	question.file = file->number;
	return message_send(fd, &question, sizeof(question), -1) &&
	       message_await(fd, deadline_ns, &header, sizeof(header)) &&
	       header.bytes <= LINE_ANSWER_MAX_BYTES &&
	       message_await(fd, deadline_ns, client->answer, header.bytes) &&
	       line_answer_decode(client->answer, header.bytes, header.count, ret);
}

/* False: FILE has had its share of the time, or all files together have. */
static bool has_time(struct line_client *client, struct file *file)
{
	uint64_t answer_ns = client->seconds * 1e9;

	if (client->used_ns >= LINE_CLIENT_ALL_ANSWERS * answer_ns) {
		log_warning("no more source lines and inlined functions are looked up: this took "
			    "%.0f seconds", client->used_ns / 1e9);
		client->failures = MAX_FAILURES;
		stop(client);
		return false;
	}
	if (file->used_ns >= LINE_CLIENT_FILE_ANSWERS * answer_ns) {
		log_warning("no more source lines and inlined functions of '%s' are looked up: "
			    "this took %.0f seconds", file->name, file->used_ns / 1e9);
		close_file(file);
		return false;
	}
	return true;
}

static bool exchange_in_time(struct line_client *client, struct file *file, uint64_t address,
			     struct line_frames *ret)
{
	uint64_t start_ns = clock_monotonic_ns(), used_ns;
	bool good = exchange(client, file, address, ret);

	used_ns = clock_monotonic_ns() - start_ns;
	file->used_ns += used_ns;
	client->used_ns += used_ns;
	return good;
}

bool line_client_find(struct line_client *client, uint32_t number, uint64_t address,
		      struct line_frames *ret)
{
	struct file *file = &client->files.items[number];

	ret->count = 0;
	if (file->fd < 0 || client->failures == MAX_FAILURES || !has_time(client, file))
		return false;
	if (!client->running && !start(client)) {
		client->failures = MAX_FAILURES;
		return false;
	}
	if (exchange_in_time(client, file, address, ret))
		return true;
	ret->count = 0;
	stop(client);
	close_file(file);
	if (++client->failures == MAX_FAILURES)
		log_warning("no more source lines and inlined functions are looked up: the parser "
			    "failed for %d files", MAX_FAILURES);
	return false;
}
