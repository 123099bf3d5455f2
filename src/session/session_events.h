/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first pass over a recording: everything but the samples. Part of session.c. */
#ifndef SESSION_SESSION_EVENTS_H
#define SESSION_SESSION_EVENTS_H

#include "base/error.h"

struct session;

/*
 * Reads all records and fills SESSION's machines. An error only if the file has nothing
 * that could be used: what comes before damage counts.
 */
struct error *session_events_read(struct session *session) MUST_CHECK;

#endif
