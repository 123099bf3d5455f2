/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as one JSON object; perfvisor-report(1) describes its members. */
#ifndef OUTPUT_REPORT_JSON_H
#define OUTPUT_REPORT_JSON_H

#include <stdio.h>

#include "profile/profile.h"

struct report_json_options {
	bool children, ipc; /* they were counted */
	const char *path;   /* the recording's */
};

/* Write errors stay in OUT (ferror). */
void report_json_write(FILE *out, const struct profile *profile, const struct profile_keys *keys,
		       const struct report_json_options *options);

#endif
