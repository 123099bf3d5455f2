/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes the records other than samples: threads, mappings, losses. The bodies are those returned
 * by perfdata_reader_next(); SWAP as there. Layouts: include/uapi/linux/perf_event.h. Strings and
 * build-ids are borrowed from the body. False: the record is malformed.
 */
#ifndef PERFDATA_RECORD_H
#define PERFDATA_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "perfdata/reader.h"
#include "perfdata/writer/writer.h"

struct perfdata_comm {
	uint32_t pid, tid;
	const char *comm;
};

bool perfdata_record_comm(const struct perfdata_record *record, bool swap,
			  struct perfdata_comm *ret);
bool perfdata_record_fork(const struct perfdata_record *record, bool swap,
			  struct perfdata_fork *ret);
/* LOST and LOST_SAMPLES: the number of samples lost. */
bool perfdata_record_lost(const struct perfdata_record *record, bool swap, uint64_t *ret);
/* MMAP and MMAP2; the former has no protection, so it counts as executable memory. */
bool perfdata_record_mapping(const struct perfdata_record *record, bool swap,
			     struct perfdata_mapping *ret);

#endif
