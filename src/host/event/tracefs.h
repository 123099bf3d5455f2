/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints, as tracefs describes them. */
#ifndef HOST_EVENT_TRACEFS_H
#define HOST_EVENT_TRACEFS_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "host/event/event_names.h"

/* Where tracefs is mounted, NULL: nowhere (or not to be looked into). */
const char *tracefs_find(void);

struct tracefs_event {
	char *system, *name; /* owned */
	uint64_t id;
};
struct tracefs_events {
	VECTOR(struct tracefs_event) items; /* by system and name */
};

/*
 * Appends the tracepoints of ROOT that SYSTEM and NAME match (shell wildcards). None:
 * ERROR_NOT_FOUND, or ERROR_PERMISSION where tracefs may not be read.
 */
struct error *tracefs_find_events(const char *root, const char *system, const char *name,
				  struct tracefs_events *events) MUST_CHECK;
void tracefs_events_deinit(struct tracefs_events *events);
/* Adds "SYSTEM:NAME" of every tracepoint of the systems that match, malloc()ed. */
void tracefs_list_events(const char *root, const char *system, struct event_candidates *candidates);

/*
 * perf's HEADER_TRACING_DATA for tracepoints IDS: what a reader needs to print their fields.
 * OUT's maximum bounds it.
 */
struct error *tracefs_build_tracing_data(const char *root, const uint64_t *ids, size_t count,
					 struct buffer *out) MUST_CHECK;

#endif
