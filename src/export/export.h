/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile in the formats of other tools: one file each, and a table of them.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "output/stacks.h"

/* How what is exported is counted: always with chains, and functions by name. */
enum export_needs {
	/* by EXPORT_KEYS, samples without a chain as their function */
	EXPORT_STACKS,
	EXPORT_TIMES, /* likewise, and by thread; with each sample */
	EXPORT_FOLDED, /* as for folded stacks, which are made of it (output/fold_text.h) */
};

struct export_input {
	const struct profile *profile;
	size_t event;	  /* the one to export */
	const char *path; /* of the recording */
	const struct stacks *stacks; /* of EXPORT_FOLDED */
};

/* The keys by which stacks are told apart: whose samples they are. */
extern const struct profile_keys export_keys;

struct export_format {
	const char *name;  /* as in --format */
	const char *about; /* for --help */
	enum export_needs needs;
	/* Writes all of INPUT. Write errors may stay in the stream (ferror). */
	struct error *(*write)(FILE *out, const struct export_input *input) MUST_CHECK;
};

extern const struct export_format export_formats[]; /* ends with a NULL name */
const struct export_format *export_find_format(const char *name); /* NULL: there is none */

#endif
