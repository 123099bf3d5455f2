/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A question is a struct question, and the answer a byte, with the file next to it if there is one.
 */
#include "elf/mapped_file.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/files/untrusted.h"
#include "base/memory.h"
#include "walls/messages.h"
#include "walls/sanitizers.h"
#include "walls/servant.h"

struct question {
	uint32_t pid;
	uint64_t start, end;
	char path[PATH_MAX];
};

struct mapped_file_opener {
	struct servant servant;
};

/* The other process chose the file, and what is at its path. */
static int open_mapped(const struct question *question)
{
	_cleanup_free_ char *link =
		memory_printf("/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, question->pid,
			      question->start, question->end);
	_cleanup_free_ char *root = memory_printf("/proc/%" PRIu32 "/root", question->pid);
	int fd = -1;
	struct error *error = open_untrusted(UNTRUSTED_ANYWHERE, link,
					     UNTRUSTED_PROC_LINK | UNTRUSTED_NOT_EMPTY, &fd);
	bool try_path = error && error_code(error) != ERROR_BAD_DATA;

	error_destroy(error);
	if (try_path)
		error_destroy(open_untrusted(root, question->path, UNTRUSTED_NOT_EMPTY, &fd));
	return fd;
}

static void open_files(int fd, void *context)
{
	struct question question;
	const uint8_t word = 0;
	bool goes_on = true;
	int none;

	(void)context;
	while (goes_on && message_receive(fd, &question, sizeof(question), &none)) {
		int file = open_mapped(&question);

		goes_on = message_send(fd, &word, sizeof(word), file);
		if (file >= 0)
			close(file);
	}
#ifdef __SANITIZE_ADDRESS__
	sanitizer_find_leaks();
#endif
}

struct error *mapped_file_opener_start(struct mapped_file_opener **ret)
{
	struct mapped_file_opener *opener = memory_calloc(1, sizeof(*opener));
	struct error *error = servant_start(open_files, NULL, &opener->servant);

	if (error) {
		free(opener);
		return error;
	}
	*ret = opener;
	return NULL;
}

bool mapped_file_open(struct mapped_file_opener *opener, const struct mapped_file *file,
		      uint64_t deadline_ns, int *ret_fd)
{
	struct question question = { .pid = file->pid, .start = file->start, .end = file->end };
	uint8_t word;

	*ret_fd = -1;
	if (strlen(file->path) >= sizeof(question.path))
		return true;
	memcpy(question.path, file->path, strlen(file->path));
	return message_send_all(opener->servant.fd, &question, sizeof(question)) &&
	       message_is_there(opener->servant.fd, deadline_ns) &&
	       message_receive(opener->servant.fd, &word, sizeof(word), ret_fd);
}

void mapped_file_opener_stop(struct mapped_file_opener *opener)
{
	if (!opener)
		return;
	servant_stop(&opener->servant);
	free(opener);
}
