/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything in a recording except the samples. Part of session.c. */
#ifndef SESSION_SESSION_EVENTS_H
#define SESSION_SESSION_EVENTS_H

#include <stdbool.h>

#include "base/error.h"
#include "perfdata/reader.h"

struct session;

/*
 * Reads all records and fills in SESSION's machines. Only returns an error if nothing in the file
 * is usable: everything before damaged data counts.
 */
struct error *session_events_read(struct session *session) MUST_CHECK;

/*
 * In parts, for a session that is read live. To begin with: whether records have times, as far as
 * events are known; and the idle thread's name.
 */
bool session_events_are_timed(const struct perfdata_reader *reader);
void session_events_begin(struct session *session);
/* Takes RECORD, a side event (PERF_RECORD_COMM …), which is in order, or one of perf's own. */
void session_events_take(struct session *session, const struct perfdata_record *record);

#endif
