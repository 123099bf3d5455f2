/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's instructions, each with its samples and its place in the source. */
#ifndef ANNOTATE_ANNOTATION_H
#define ANNOTATE_ANNOTATION_H

#include "annotate/function_code.h"
#include "annotate/function_samples.h"

struct annotated_instruction {
	uint64_t period, count;
	/* Strings of the session; 0: not known, or as of the instruction before */
	uint32_t function; /* the innermost of those that are inlined here, or the function */
	uint32_t place;	   /* "file.c:12" */
	/* With a place, the text of its line, any bytes; NULL: not known. The functions' */
	const char *text;
	size_t text_bytes;
	uint32_t line;
};

struct annotation {
	const struct functions_samples *functions; /* borrowed */
	const struct function_samples *samples;
	struct function_code code;
	struct instructions instructions;
	struct annotated_instruction *items; /* as many as there are instructions; owned */
	uint64_t outside; /* samples at addresses that have no instruction here */
};

/*
 * Of FUNCTIONS' item INDEX. RET is to be freed by annotation_deinit() in either case; errors are
 * those of function_code_find() and instructions_decode().
 */
struct error *annotation_make(const struct functions_samples *functions, size_t index,
			      struct annotation *ret) MUST_CHECK;
void annotation_deinit(struct annotation *annotation);

/* Of the function's samples, that many are at instruction INDEX. */
double annotation_percent(const struct annotation *annotation, size_t index);
/* The instruction with the largest share. There is at least one. */
size_t annotation_hottest(const struct annotation *annotation);
/* What the function is called, and its file or kernel; any bytes. */
const char *annotation_symbol(const struct annotation *annotation);
const char *annotation_dso(const struct annotation *annotation);
/* The VM whose function it is; NULL: it is the host's. */
const struct machine *annotation_vm(const struct annotation *annotation);

#endif
