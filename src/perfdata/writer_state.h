/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the writer's source files: writer.c (the file, its header, the buffer),
 * writer_records.c (records that the writer makes itself), writer_features.c (what comes after the
 * records).
 */
#ifndef PERFDATA_WRITER_STATE_H
#define PERFDATA_WRITER_STATE_H

#include "base/buffer.h"
#include "base/map.h"
#include "perfdata/format.h"
#include "perfdata/writer.h"

struct perfdata_writer {
	char *path;
	int fd;

	struct perfdata_event *events; /* owned, with their names and ids */
	size_t event_count;
	size_t max_ids;         /* room in the file, per event */
	uint32_t attr_bytes;    /* of a perf_event_attr in the file */
	struct map event_of_id; /* id to event index: for every id in use */
	struct map id_of_machine; /* machine pid to its first id */
	uint64_t last_id;
	bool ids_changed; /* since the header was last written */

	uint64_t data_offset;  /* of the first record in the file */
	uint64_t data_bytes;   /* records in the file */
	struct buffer pending; /* records not yet in the file */
	struct buffer scratch; /* for the record being made */

	size_t time_offset; /* of the time in a sample record; 0: samples carry none */
	uint64_t first_sample_ns, last_sample_ns; /* first > last: no samples so far */
};

/* Writes SIZE bytes at OFFSET of the file. */
struct error *writer_write_at(struct perfdata_writer *writer, uint64_t offset, const void *data,
			      size_t size) MUST_CHECK;

/* The end of the record data, where the table of the features begins. */
static inline uint64_t writer_data_end(const struct perfdata_writer *writer)
{
	return writer->data_offset + writer->data_bytes;
}

/* Appends an event's attr in the size used in this file: attr_bytes. */
void writer_put_attr(const struct perfdata_writer *writer, const struct perf_event_attr *attr,
		     struct buffer *out);

/* Announces IDS to perf: PERF_RECORD_ID_INDEX records. */
struct error *writer_id_index(struct perfdata_writer *writer, const struct perfdata_id *ids,
			      size_t count) MUST_CHECK;
/*
 * The name of an event that has an id, as a record (PERF_RECORD_EVENT_UPDATE): a file that was
 * never finished has no feature with it.
 */
struct error *writer_event_name(struct perfdata_writer *writer,
				const struct perfdata_event *event) MUST_CHECK;

/* Writes the sections after the records; RET_BITS: the features written. */
struct error *writer_write_features(struct perfdata_writer *writer,
				    const struct perfdata_writer_features *features,
				    uint64_t ret_bits[FORMAT_FEATURE_BITS / 64]) MUST_CHECK;

#endif
