/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that parse -e: event.c, event_group.c. */
#ifndef HOST_EVENT_EVENT_PRIVATE_H
#define HOST_EVENT_EVENT_PRIVATE_H

#include "host/event/event.h"

/* The length of the first event or group in TEXT: up to a comma outside of slashes and braces. */
size_t event_length(const char *text);
/*
 * Appends the events that TEXT stands for, which contains no comma and no group; a wildcard stands
 * for several.
 */
struct error *event_parse_one(const char *text, struct host_events *events) MUST_CHECK;
/* Likewise the events of the group TEXT, from its name to its modifiers. */
struct error *event_parse_group(const char *text, struct host_events *events) MUST_CHECK;
/* Applies MODIFIERS to the events from FIRST on. */
struct error *event_apply_modifiers(const char *modifiers, struct host_events *events,
				    size_t first) MUST_CHECK;

#endif
