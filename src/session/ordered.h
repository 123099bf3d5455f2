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
 * Starts at the first sample; rewinds SESSION, unless it is read live. It must not be read by
 * others in the meantime.
 * TYPES: which other records there are to be, too, a bit for each type below 32 (PERF_RECORD_*).
 */
struct ordered *ordered_create(struct session *session, uint32_t types);
/*
 * No more than about MAX_BYTES of records are held: then all are returned. A recorder that writes
 * rounds does not come near.
 */
void ordered_limit(struct ordered *ordered, size_t max_bytes);
void ordered_destroy(struct ordered *ordered); /* takes NULL */

/*
 * The next sample, valid until the next call. PERFDATA_WAIT: the reader is to be fed, or a signal
 * has come (base/interrupt.h). Any other result than PERFDATA_RECORD: there are no more.
 */
enum perfdata_status ordered_next(struct ordered *ordered, struct session_sample *ret);
/* The same where there are other records: a sample only if its type is PERF_RECORD_SAMPLE. */
enum perfdata_status ordered_next_record(struct ordered *ordered,
					 struct perfdata_record *ret_record,
					 struct session_sample *ret);

#endif
