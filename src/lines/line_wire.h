/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the caged parser of source lines and its owner, over a stream socket. Both are
 * of the same build. The owner sends a question, with LINE_OPEN an open file next to it
 * (SCM_RIGHTS), and gets an answer: a header, and for each frame, the innermost first, a struct
 * line_wire_frame and its texts.
 */
#ifndef LINES_LINE_WIRE_H
#define LINES_LINE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum line_question_kind {
	LINE_OPEN, /* the file gets the next number, from 0 on */
	LINE_FIND,
};

struct line_question {
	uint32_t kind;
	uint32_t file;
	uint64_t address; /* as linked */
};

#define LINE_ANSWER_MAX_BYTES 65536 /* after the header */
#define LINE_TEXT_MAX_BYTES 1024 /* longer names are cut */

struct line_answer_header {
	uint32_t bytes; /* that follow */
	uint32_t count; /* of frames */
};

struct line_wire_frame {
	uint32_t line;
	uint16_t function_bytes, file_bytes; /* of the texts, which have no terminator */
};

#endif
