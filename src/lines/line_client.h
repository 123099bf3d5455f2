/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for source lines and inlined functions. The files are parsed by a caged process, which is
 * started with the first file; if it dies, or does not answer in time, the file that it was asked
 * about is not asked about again, and a new process takes over. After a few such failures nothing
 * is known any more. The time that all answers about a file may take is limited, too, and the time
 * that all answers may take; what is not asked about any more is reported.
 */
#ifndef LINES_LINE_CLIENT_H
#define LINES_LINE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define LINE_CLIENT_MAX_FILES 256  /* they stay open; more are not opened */
#define LINE_CLIENT_MAX_FRAMES 64
#define LINE_CLIENT_NO_FILE UINT32_MAX

/* A function at an address; texts are valid until the next question. */
struct line_frame {
	const char *function, *file; /* not terminated, and not checked to be printable */
	size_t function_bytes, file_bytes; /* 0: not known */
	uint32_t line;			   /* 0: not known */
};

/* The innermost first: all but the last are inlined into the next. */
struct line_frames {
	struct line_frame items[LINE_CLIENT_MAX_FRAMES];
	size_t count; /* 0: nothing is known */
};

struct line_client;

/* In answers that take as long as they may */
#define LINE_CLIENT_FILE_ANSWERS 3
#define LINE_CLIENT_ALL_ANSWERS 12

/* SECONDS: how long an answer may take; 0: the default, 20. */
struct line_client *line_client_create(double seconds);
void line_client_destroy(struct line_client *client); /* takes NULL */

/* Takes FD, an open file, NAME in messages; returns its number, or LINE_CLIENT_NO_FILE. */
uint32_t line_client_open(struct line_client *client, int fd, const char *name);
/* What is known of ADDRESS, as linked, in FILE. False: FILE is not asked about any more. */
bool line_client_find(struct line_client *client, uint32_t file, uint64_t address,
		      struct line_frames *ret);

/* Part of the above, for tests: decodes an answer's frames. False: it is malformed. */
bool line_answer_decode(const void *data, size_t size, uint32_t count, struct line_frames *ret);

DEFINE_CLEANUP(cleanup_line_client, struct line_client *, line_client_destroy)
#define _cleanup_line_client_ _cleanup_(cleanup_line_client)

#endif
