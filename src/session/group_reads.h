/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of event groups ('{a,b}:S'): only the first event samples, and each of its samples has
 * the values of all. As in perf (tools/perf/util/session.c, deliver_sample_value()), it stands for
 * one sample of each event whose value has grown, with the difference as its period.
 */
#ifndef SESSION_GROUP_READS_H
#define SESSION_GROUP_READS_H

#include "base/map.h"
#include "perfdata/reader.h"

struct session_sample;

struct group_reads {
	struct map totals; /* id, or id and thread -> its value so far */
	struct perfdata_decoded sample;
	uint64_t time, next; /* the sample's time; the index of its next value */
	bool open;
};

void group_reads_init(struct group_reads *reads);
void group_reads_deinit(struct group_reads *reads);

/*
 * Takes SAMPLE if it has values; otherwise returns false. What SAMPLE points to must stay valid
 * until all of its values were returned. Samples of one id must come in the order of their times.
 */
bool group_reads_begin(struct group_reads *reads, const struct session_sample *sample);
/* The next sample that it stands for; false: there are no more. READER is the sample's. */
bool group_reads_next(struct group_reads *reads, struct perfdata_reader *reader,
		      struct session_sample *ret);

#endif
