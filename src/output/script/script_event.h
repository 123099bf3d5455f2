/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides which fields are printed for each event. Part of script_text.c. */
#ifndef OUTPUT_SCRIPT_EVENT_H
#define OUTPUT_SCRIPT_EVENT_H

#include <stdbool.h>

#include "output/script/script_text.h"

struct script_event {
	uint32_t fields;
	bool chains; /* its samples have call chains */
	char *name;  /* as printed, including ": "; owned */
	size_t name_bytes;
};

/*
 * RET has an element for each event of SESSION and must be freed with script_events_destroy().
 * Fails if the user asked for a field that the samples do not have.
 */
struct error *script_events_create(const struct session *session,
				   const struct script_fields *fields,
				   struct script_event **ret) MUST_CHECK;
bool script_events_have(const struct script_event *events, size_t count, uint32_t field);
void script_events_destroy(struct script_event *events, size_t count); /* takes NULL */

#endif
