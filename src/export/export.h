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
#include "profile/profile.h"

struct export_input {
	/*
	 * Counted with chains, functions by name, samples without a chain as their function, and by
	 * EXPORT_KEYS.
	 */
	const struct profile *profile;
	size_t event;	  /* the one to export */
	const char *path; /* of the recording */
};

/* The keys by which stacks are told apart: whose samples they are. */
extern const struct profile_keys export_keys;

struct export_format {
	const char *name;  /* as in --format */
	const char *about; /* for --help */
	/* Writes all of INPUT. Write errors stay in the stream (ferror). */
	void (*write)(FILE *out, const struct export_input *input);
};

extern const struct export_format export_formats[]; /* ends with a NULL name */
const struct export_format *export_find_format(const char *name); /* NULL: there is none */

#endif
