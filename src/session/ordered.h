/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a session in the order of their times, as perf script shows them. Not more is
 * held in memory than the recorder's rounds make necessary (PERF_RECORD_FINISHED_ROUND):
 * all of a file that has no rounds.
 */
#ifndef SESSION_ORDERED_H
#define SESSION_ORDERED_H

#include "session/session.h"

struct ordered;

/* Starts at the first sample; rewinds SESSION, which is not to be read otherwise meanwhile. */
struct ordered *ordered_create(struct session *session);
void ordered_destroy(struct ordered *ordered); /* takes NULL */

/* The next sample, valid until the next call; not PERFDATA_RECORD: there are no more. */
enum perfdata_status ordered_next(struct ordered *ordered, struct session_sample *ret);

#endif
