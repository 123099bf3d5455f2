/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the writer's source files: writer_create.c (opening), writer.c (the file, its header,
 * the buffer), writer_pipe.c (what a pipe has instead of a header), writer_records.c (records that
 * the writer makes itself), writer_compress.c (how they are compressed), writer_notes.c (those of
 * perfvisor alone), writer_features.c (features), writer_sync.c (to the disk).
 */
#ifndef PERFDATA_WRITER_STATE_H
#define PERFDATA_WRITER_STATE_H

#include "base/buffer.h"
#include "base/map.h"
#include "base/vector.h"
#include "perfdata/format.h"
#include "perfdata/writer/writer.h"

/* A symbol table that is in the file whole, for those that are like it. */
struct writer_table {
	uint32_t number;
	const uint8_t *data; /* owned */
	size_t size;
};

struct writer_sync;
struct writer_compress;

#define WRITER_PENDING_BYTES ((size_t)1 << 20)

struct perfdata_writer {
	char *path;
	int fd;
	bool pipe; /* the pipe form, which is written once, from its beginning to its end */
	bool unnamed; /* the file has no name yet: it gets PATH when it can be read */
	struct writer_compress *compress; /* NULL: records are written as they are */
	struct writer_sync *sync; /* NULL: nothing is to be synced */

	struct perfdata_event *events; /* owned, with their names and ids */
	size_t event_count;
	size_t max_ids;         /* room in the file, per event */
	uint32_t attr_bytes;    /* of a perf_event_attr in the file */
	struct map event_of_id; /* id to event index: for every id in use */
	struct map id_of_machine; /* machine pid to its first id */
	uint64_t last_id;
	uint64_t *next_ids; /* for a pipe: of each event, which has announced max_ids of them */
	bool ids_changed; /* since the header was last written */

	uint64_t data_offset;  /* of the first record in the file */
	uint64_t data_bytes;   /* records in the file */
	struct buffer pending; /* records not yet in the file */
	struct buffer scratch; /* for the record being made */
	struct buffer *hold;   /* see perfdata_writer_hold(); NULL: none */

	size_t time_offset; /* of the time in a sample record; 0: samples carry none */
	int64_t shift_ns;   /* of the times that the writer puts into records itself */
	uint64_t first_sample_ns, last_sample_ns; /* first > last: no samples so far */

	VECTOR(struct writer_table) tables;
	size_t table_bytes;
	uint32_t table_count; /* all that were stored */
	struct perfdata_inventory_told told;
	size_t build_ids_told;
};

/* Writes SIZE bytes at OFFSET of the file. */
struct error *writer_write_at(struct perfdata_writer *writer, uint64_t offset, const void *data,
			      size_t size) MUST_CHECK;

uint64_t writer_ids_offset(const struct perfdata_writer *writer, size_t event_index);
/* ID is one of the event's from now on. */
void writer_note_id(struct perfdata_writer *writer, size_t event_index,
		    const struct perfdata_id *id);

/* Where the record data end: the table of the features begins there. */
static inline uint64_t writer_data_end(const struct perfdata_writer *writer)
{
	return writer->data_offset + writer->data_bytes;
}

/* Gives the file its name; an older one becomes PATH.old. */
struct error *writer_name_file(struct perfdata_writer *writer) MUST_CHECK;

/* TIME_NS in the file's clock; 0 stays 0. */
static inline uint64_t writer_shifted(const struct perfdata_writer *writer, uint64_t time_ns)
{
	return time_ns ? time_ns + writer->shift_ns : 0;
}

/* A record of the writer's own is put into `scratch` between these two. */
void writer_begin_record(struct perfdata_writer *writer, uint32_t type, uint16_t misc);
struct error *writer_end_record(struct perfdata_writer *writer) MUST_CHECK;
/* Whole records, to the file. */
struct error *writer_append(struct perfdata_writer *writer, const void *records,
			    size_t size) MUST_CHECK;

/* Bytes behind a record that belong to it. */
struct error *writer_append_payload(struct perfdata_writer *writer, const void *data,
				    size_t size) MUST_CHECK;

/* With `compress`: whole records; what was collected; HEADER_COMPRESSED. */
struct error *writer_compress_append(struct perfdata_writer *writer, const uint8_t *records,
				     size_t size) MUST_CHECK;
struct error *writer_compress_flush(struct perfdata_writer *writer) MUST_CHECK;
void writer_put_compression(const struct writer_compress *compress, struct buffer *out);
void writer_compress_destroy(struct writer_compress *compress); /* takes NULL */

/* What stands before the records of a pipe. */
struct error *writer_begin_pipe(struct perfdata_writer *writer) MUST_CHECK;
/* One feature as a record of a pipe, and a build-id. */
struct error *writer_pipe_feature(struct perfdata_writer *writer, enum format_feature bit,
				  const void *data, size_t size) MUST_CHECK;
struct error *writer_pipe_build_ids(struct perfdata_writer *writer, const void *data,
				    size_t size) MUST_CHECK;

/* A note of KIND, enum format_note or a feature's bit. */
struct error *writer_note(struct perfdata_writer *writer, uint32_t kind, const void *data,
			  size_t size) MUST_CHECK;
void writer_forget_notes(struct perfdata_writer *writer);

/* A thread that has the disk take what was written; NULL: there is none. */
struct writer_sync *writer_sync_create(int fd);
void writer_sync_destroy(struct writer_sync *sync); /* takes NULL; waits */
/* What was written so far is to be on the disk soon; does not wait for it. */
void writer_sync_start(struct writer_sync *sync);

/* Appends the attr of an event as this file has it: attr_bytes long. */
void writer_put_attr(const struct perfdata_writer *writer, const struct perf_event_attr *attr,
		     struct buffer *out);

/* Announces IDS to perf: PERF_RECORD_ID_INDEX records. */
struct error *writer_id_index(struct perfdata_writer *writer, const struct perfdata_id *ids,
			      size_t count) MUST_CHECK;
/*
 * The name of an event that has the id ID, as a record (PERF_RECORD_EVENT_UPDATE): a file that
 * was never finished has no feature that tells it.
 */
struct error *writer_event_name(struct perfdata_writer *writer, const struct perfdata_event *event,
				uint64_t id) MUST_CHECK;

/* The features that are known before the first sample: notes, or records of a pipe. */
struct error *writer_begin_features(struct perfdata_writer *writer,
				    const struct perfdata_writer_features *features) MUST_CHECK;
/* Build-ids from number FIRST on, as the feature has them. */
void writer_put_build_ids(struct buffer *out, const struct perfdata_writer_build_id *build_ids,
			  size_t first, size_t count);
/* What a pipe says of its records when they are all written. */
struct error *writer_end_features(struct perfdata_writer *writer,
				  const struct perfdata_writer_features *features) MUST_CHECK;
/* Writes the sections behind the records; RET_BITS: the features that are there. */
struct error *writer_write_features(struct perfdata_writer *writer,
				    const struct perfdata_writer_features *features,
				    uint64_t ret_bits[FORMAT_FEATURE_BITS / 64]) MUST_CHECK;

#endif
