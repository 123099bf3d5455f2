/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session that is read while it is recorded, or as if it was: nothing is known of what comes.
 * Records are taken in the order of their times (ordered.h), and each sample is looked up when it
 * comes, as of its time.
 *
 *	session = live_session_open(reader, &options)
 *	ordered_create(session, LIVE_SESSION_TYPES)
 *	for each record: live_session_take(), for each sample: live_session_see()
 *
 * One thread alone may use it.
 */
#ifndef SESSION_LIVE_LIVE_SESSION_H
#define SESSION_LIVE_LIVE_SESSION_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/* The records that change a session. */
#define LIVE_SESSION_TYPES                                                                         \
	(1U << PERF_RECORD_COMM | 1U << PERF_RECORD_FORK | 1U << PERF_RECORD_MMAP |                \
	 1U << PERF_RECORD_MMAP2 | 1U << PERF_RECORD_KSYMBOL | 1U << PERF_RECORD_LOST |            \
	 1U << PERF_RECORD_LOST_SAMPLES)

/* READER is taken, and has not been read; OPTIONS are copied, their strings are borrowed. */
struct session *live_session_open(struct perfdata_reader *reader,
				  const struct kernel_source_options *options);

/* For session.c: RECORD was just read; takes what it says of the recording itself. */
void live_session_note(struct session *session, const struct perfdata_record *record);
/* A record of LIVE_SESSION_TYPES, in order. */
void live_session_take(struct session *session, const struct perfdata_record *record);
/* A sample, before it is looked up. */
void live_session_see(struct session *session, const struct session_sample *sample);

/*
 * Forgets (forget.c) all threads and processes that were last seen before OLDEST, in the session's
 * time, and of others all but those of each machine that were seen last: LIVE_KEPT of all machines
 * together, but at least LIVE_KEPT_LEAST of each. With them go names and files that nothing else
 * needs, and histories: of what is kept, only the present remains. Machines stay, with the tables
 * of their kernels.
 *
 * Numbers of strings and dsos change, and spaces: no resolver, context or filter that was used with
 * the session may be used again.
 */
#define LIVE_KEPT 32768
#define LIVE_KEPT_LEAST 1024
#define LIVE_KEPT_MAPPINGS 65536 /* of a machine; … */
#define LIVE_KEPT_OF_SPACE 16384 /* … of one process, or a kernel */
void live_session_forget(struct session *session, uint64_t oldest);

#endif
