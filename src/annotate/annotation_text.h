/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Annotations as text, in the columns of `perf annotate --stdio`. */
#ifndef ANNOTATE_ANNOTATION_TEXT_H
#define ANNOTATE_ANNOTATION_TEXT_H

#include "annotate/annotation.h"

struct annotation_text_options {
	bool sample_counts; /* the column has counts instead of percentages */
	bool line_summary;  /* begin with the source lines that have the most samples */
};

void annotation_text_append(struct buffer *out, const struct annotation *annotation,
			    const struct annotation_text_options *options);
/*
 * The parts of it that a browser shows line by line: the text of instruction INDEX with its
 * address, "  1139:   mov    %rax,%rbx"; and what is above it, the inlined function and the source
 * line, "mix() w.c:12" (false: nothing). All is escaped.
 */
void annotation_text_instruction(struct buffer *out, const struct annotation *annotation,
				 size_t index);
bool annotation_text_place(struct buffer *out, const struct annotation *annotation, size_t index);
/* The number and the text of that line, "12   sum += i;"; false: it is not known. */
bool annotation_text_source(struct buffer *out, const struct annotation *annotation, size_t index);
/* "spin of w: 90 samples of cpu-clock, code of /tmp/w" */
void annotation_text_title(struct buffer *out, const struct annotation *annotation);

#endif
