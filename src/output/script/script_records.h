/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records other than samples as text, as perf script's --show-mmap-events and its kin print them
 * (tools/perf/util/event.c, perf_event__fprintf()). Part of script_text.c.
 */
#ifndef OUTPUT_SCRIPT_RECORDS_H
#define OUTPUT_SCRIPT_RECORDS_H

#include "base/buffer.h"
#include "base/map.h"
#include "session/context.h"
#include "session/resolver.h"

struct script_records {
	struct session *session;
	struct resolver *resolver;
	struct map early_comms; /* machine and tid -> name, of what ran before: see .c */
};

/* Both are borrowed. */
void script_records_init(struct script_records *records, struct session *session,
			 struct resolver *resolver);
void script_records_deinit(struct script_records *records);

/* Types of records that must be given in any case, since others get their threads' names there. */
#define SCRIPT_RECORDS_NEEDED (1u << PERF_RECORD_COMM | 1u << PERF_RECORD_FORK)

/* What stands before a record: like a sample of a thread. */
struct script_record {
	struct session_sample head;
	struct context thread; /* of it, only tid and comm are set */
	struct machine *machine;
};

/*
 * Records must be given in the order in which they are printed. False: RECORD is malformed, or
 * perf does not print its type.
 */
bool script_records_begin(struct script_records *records, const struct perfdata_record *record,
			  struct script_record *ret);
/* Appends its text, from "PERF_RECORD_" to the newline. */
void script_records_append(struct script_records *records, const struct perfdata_record *record,
			   const struct script_record *begun, struct buffer *out);

#endif
