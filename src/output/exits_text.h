/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of exits as text and as JSON. */
#ifndef OUTPUT_EXITS_TEXT_H
#define OUTPUT_EXITS_TEXT_H

#include <stdio.h>

#include "base/error.h"
#include "exits/exits.h"
#include "session/filter/filter.h"

struct exits_view {
	const struct session *session;
	const struct exits *exits; /* rows in the order in which they are shown */
	enum exits_event event;
	unsigned int keys; /* enum exits_key */
	/* What was asked for, for the first line: none, or NULL, are all. */
	const struct machine_list *vms;
	const char *vcpus;
};

/* The words of the command line, by enum exits_event. */
extern const char *const exits_event_words[];

/*
 * As perf kvm stat report prints it: each line begins with perf's columns, which other columns
 * follow.
 */
struct error *exits_text_write(int fd, const struct exits_view *view) MUST_CHECK;
void exits_json_write(FILE *out, const struct exits_view *view);

#endif
