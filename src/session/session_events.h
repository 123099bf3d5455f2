/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first pass over a recording: everything except the samples. Part of session.c. */
#ifndef SESSION_SESSION_EVENTS_H
#define SESSION_SESSION_EVENTS_H

#include "base/error.h"

struct session;

/*
 * Reads all records and fills in SESSION's machines. Only returns an error if nothing in the file
 * is usable: everything before damaged data counts.
 */
struct error *session_events_read(struct session *session) MUST_CHECK;

#endif
