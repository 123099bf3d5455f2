/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands that `perfvisor record --control` takes, as perf record does
 * (evlist__ctlfd_recv(), tools/perf/util/evlist.c): a word and perhaps an argument, ended by a new
 * line, by a null byte, or where nothing more comes for now.
 */
#ifndef CMD_RECORD_CONTROL_TEXT_H
#define CMD_RECORD_CONTROL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_COMMAND_BYTES 64 /* with its terminator */

enum control_verb {
	CONTROL_UNKNOWN, /* or too long */
	CONTROL_ENABLE,	 /* its argument, an event, may be missing: all events */
	CONTROL_DISABLE,
	CONTROL_EVLIST, /* its argument may be missing */
	CONTROL_SNAPSHOT,
	CONTROL_STOP,
	CONTROL_PING,
};

struct control_command {
	enum control_verb verb;
	bool malformed;	      /* the argument does not follow after one space */
	const char *argument; /* NULL: none; borrowed from TEXT */
	const char *text;     /* as it came */
};

/* A command that is not complete yet; all zero at first. */
struct control_text {
	char text[CONTROL_COMMAND_BYTES];
	size_t length;
	bool too_long;
};

/*
 * Takes one more byte. True: a command is complete; RET is valid until the next call. An empty one
 * is left out.
 */
bool control_text_take(struct control_text *text, char byte, struct control_command *ret);
/* Nothing more comes for now. True: what has come is a command. */
bool control_text_end(struct control_text *text, struct control_command *ret);

#endif
