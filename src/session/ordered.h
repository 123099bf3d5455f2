/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a session in the order of their times, as in perf script. Holds in memory only
 * what the recorder's rounds require (PERF_RECORD_FINISHED_ROUND): the whole file if it has no
 * rounds.
 */
#ifndef SESSION_ORDERED_H
#define SESSION_ORDERED_H

#include "session/session.h"

struct ordered;

/*
 * Starts at the first sample; rewinds SESSION, which must not be read by others in the meantime.
 * TYPES: which other records there are to be, too, a bit for each type below 32 (PERF_RECORD_*).
 */
struct ordered *ordered_create(struct session *session, uint32_t types);
void ordered_destroy(struct ordered *ordered); /* takes NULL */

/*
 * The next sample, valid until the next call. A result other than PERFDATA_RECORD: there are no
 * more.
 */
enum perfdata_status ordered_next(struct ordered *ordered, struct session_sample *ret);
/* The same where there are other records: a sample only if its type is PERF_RECORD_SAMPLE. */
enum perfdata_status ordered_next_record(struct ordered *ordered,
					 struct perfdata_record *ret_record,
					 struct session_sample *ret);

#endif
