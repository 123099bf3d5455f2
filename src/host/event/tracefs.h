/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints, as tracefs describes them. */
#ifndef HOST_EVENT_TRACEFS_H
#define HOST_EVENT_TRACEFS_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "host/event/event_names.h"

/* Where tracefs is mounted; NULL: nowhere, or it may not be read. */
const char *tracefs_find(void);

struct tracefs_event {
	char *system, *name; /* owned */
	uint64_t id;
};
struct tracefs_events {
	VECTOR(struct tracefs_event) items; /* sorted by system and name */
};

/*
 * Appends the tracepoints of ROOT that match SYSTEM and NAME (shell wildcards). If there are none,
 * returns ERROR_NOT_FOUND, or ERROR_PERMISSION if tracefs may not be read.
 */
struct error *tracefs_find_events(const char *root, const char *system, const char *name,
				  struct tracefs_events *events) MUST_CHECK;
void tracefs_events_deinit(struct tracefs_events *events);
/* Adds "SYSTEM:NAME" for every tracepoint of the matching systems, malloc()ed. */
void tracefs_list_events(const char *root, const char *system, struct event_candidates *candidates);

/*
 * Builds perf's HEADER_TRACING_DATA for the tracepoints IDS, which a reader needs to print their
 * fields. The size is limited by OUT's maximum.
 */
struct error *tracefs_build_tracing_data(const char *root, const uint64_t *ids, size_t count,
					 struct buffer *out) MUST_CHECK;

#endif
