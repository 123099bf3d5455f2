/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the reader share; nobody else includes this.
 *
 * All of a recording's bytes are in memory (mapped, or read from a pipe), so positions are
 * pointers and going back is cheap. The bytes of records lie in spans: the data section, or
 * what follows the pipe header, and one for each further file of a directory. Records come
 * out of a window: of the current span, or of the inflated bytes of a compressed record.
 */
#ifndef PERFDATA_READER_STATE_H
#define PERFDATA_READER_STATE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vector.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"

/* More than any real recording has; a hostile one stops here. */
#define READER_MAX_EVENTS 65536
#define READER_MAX_IDS ((size_t)1 << 22)

struct reader_span {
	const uint8_t *data;
	size_t size;
	uint64_t file_offset; /* of data, in its file */
	const char *name;     /* of the file, for messages; lives as long as the reader */
};

/* From START in a span up to the next part, or the end of the span. */
struct reader_part {
	size_t span, start;
};

struct reader_window {
	const uint8_t *at, *end;
};

#define ID_CACHE_SIZE 256 /* a power of two */

struct id_cache_slot {
	uint64_t id; /* 0: empty */
	uint32_t event_index;
	uint32_t id_index;
};

struct reader_ids {
	struct map positions; /* id -> event index << 32 | index in the event's ids */
	struct id_cache_slot cache[ID_CACHE_SIZE];
	/*
	 * Where the id is, for files with several events: 64-bit words from the start of a
	 * sample, and from the end of another record (1: the last). -1: the events do not
	 * agree or have none; then only files whose events have one sample_type can be read,
	 * and all is the first event's.
	 */
	int sample_word, trailer_word;
	bool uniform; /* all events have the first one's sample_type */
};

/* Where the fields of an event's samples are (plain.c): bytes from the start of the body. */
struct plain_layout {
	bool is_plain; /* they have nothing but fixed fields and perhaps a call chain */
	bool has_chain;
	uint8_t bytes; /* of the fixed fields */
	uint8_t ip, tid, time, period, id;
	uint64_t sample_period; /* where a sample has none */
};

#define PLAIN_ABSENT UINT8_MAX

struct perfdata_inflate;

struct perfdata_reader {
	char *path;	  /* as the user gave it */
	const char *name; /* likewise, for messages */
	char *directory; /* NULL unless the recording is one */
	VECTOR(struct mapped_file) files;
	bool files_borrowed;
	VECTOR(struct reader_span) spans;
	VECTOR(struct reader_part) parts; /* as far as they are cut */
	bool swap;
	bool pipe_form;
	bool header_truncated; /* seen when the file was opened; reading may add to it */
	bool truncated;

	size_t span_index;
	struct reader_window window; /* where the next record is taken from */
	bool inflating;		     /* window is of inflated content */
	/* The other one: what is left of the span; or the start of an inflated record. */
	struct reader_window waiting;
	uint64_t bytes_before;		  /* of the spans before this one */
	uint64_t released_offset;	  /* where memory was given back last */
	size_t keep_bytes;		  /* of each file: they are not given back */
	uint64_t compressed_offset;	  /* of the compressed record whose content is read */
	struct perfdata_inflate *inflate; /* NULL before the first compressed record */
	uint64_t inflate_limit;		  /* bytes that one compressed record may become */
	struct error *error;

	/* Records that say something about the recording are taken in once, not per rewind. */
	size_t meta_seen, meta_taken;

	VECTOR(struct perfdata_event *) events;
	VECTOR(struct plain_layout) layouts; /* one for each event */
	size_t id_count;
	struct reader_ids ids;
	struct buffer scratch;

	struct arena *arena; /* strings of features, paths of build-ids */
	struct perfdata_features features;
	VECTOR(struct perfdata_build_id) build_ids;
	VECTOR(struct perfdata_symbols) symbols;
	struct perfdata_inventory *inventory;
};

/* header.c: finds the first span, the events and the features in the first of the files. */
struct error *perfdata_header_read(struct perfdata_reader *reader) MUST_CHECK;

/* attr.c. BYTES: what the file gives of the attr, at least PERF_ATTR_SIZE_VER0. */
void perfdata_attr_decode(const void *data, size_t bytes, bool swap, struct perf_event_attr *ret);
/* The name that follows from type, config and modifiers; the caller frees it. */
char *perfdata_attr_name(const struct perf_event_attr *attr);

/* features.c: what is malformed in a feature leaves that feature out. */
void perfdata_feature_take(struct perfdata_reader *reader, unsigned feature, const void *data,
			   size_t size);
/* One build-id record, or entry of the feature; false if it is malformed. */
bool perfdata_feature_take_build_id(struct perfdata_reader *reader, const void *record,
				    size_t size);

/* stream.c: takes in what a record of perf's user space says about the recording. */
struct error *perfdata_stream_take(struct perfdata_reader *reader,
				   const struct perfdata_record *record) MUST_CHECK;
/* Bytes that follow RECORD and belong to it. */
uint64_t perfdata_stream_payload(const struct perfdata_reader *reader,
				 const struct perfdata_record *record);

/* ids.c. Adding gives NULL or false past READER_MAX_…; an id that is known stays as it is. */
struct perfdata_event *perfdata_ids_add_event(struct perfdata_reader *reader,
					      const struct perf_event_attr *attr);
bool perfdata_ids_add(struct perfdata_reader *reader, size_t event_index, uint64_t id);
struct perfdata_id *perfdata_ids_find(struct perfdata_reader *reader, uint64_t id,
				      size_t *ret_event_index);
void perfdata_ids_deinit(struct perfdata_reader *reader);

/* plain.c */
struct plain_layout perfdata_plain_layout(const struct perf_event_attr *attr);

/* compress.c */
struct error *perfdata_inflate_create(struct perfdata_inflate **ret) MUST_CHECK;
void perfdata_inflate_destroy(struct perfdata_inflate *inflate); /* takes NULL */
/* A new stream begins; comes before the first piece. */
void perfdata_inflate_reset(struct perfdata_inflate *inflate);
/* The next piece, borrowed until it is all inflated, which may give at most LIMIT bytes. */
void perfdata_inflate_begin(struct perfdata_inflate *inflate, const void *data, size_t size,
			    uint64_t limit);
/*
 * Inflates some more of the piece. RET is REST, what is left of the last window (less than
 * 64 KiB), with the new content behind it; *RET_MORE is false when there was nothing more.
 */
struct error *perfdata_inflate_more(struct perfdata_inflate *inflate,
				    const struct reader_window *rest, struct reader_window *ret,
				    bool *ret_more) MUST_CHECK;

#endif
