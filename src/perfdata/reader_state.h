/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the reader's source files; nothing else includes this.
 *
 * All of a recording's bytes are in memory (mapped, or read from a pipe), so positions are pointers
 * and going back is cheap. Records are stored in spans: the data section, or everything after the
 * pipe header, and one for each additional file of a directory. They are read from a window: either
 * of the current span, or of the decompressed bytes of a compressed record.
 */
#ifndef PERFDATA_READER_STATE_H
#define PERFDATA_READER_STATE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "base/files/file.h"
#include "base/map.h"
#include "base/vector.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"

/* More than any real recording has; limits hostile ones. */
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
	 * The position of the id if there are several events: in 64-bit words from the start of a
	 * sample, and from the end of another record (1: the last). -1: the events disagree or have
	 * no ids; then a file can only be read if all its events have the same sample_type, and
	 * everything belongs to the first event.
	 */
	int sample_word, trailer_word;
	bool uniform; /* all events have the same sample_type */
};

/* The positions of the fields in an event's samples (plain.c): bytes from the start of the body. */
struct plain_layout {
	bool is_plain; /* only fixed fields and perhaps a call chain */
	bool has_chain;
	uint8_t bytes; /* of the fixed fields */
	uint8_t ip, tid, time, cpu, period, id;
	uint64_t sample_period; /* for samples that have none */
};

#define PLAIN_ABSENT UINT8_MAX

struct perfdata_inflate;

/* A symbol table, as it is stored; from notes in a copy, from the section where it lies. */
struct reader_table {
	struct perfdata_symbols head;
	enum format_table_coding coding;
	const uint8_t *stored;
	size_t stored_bytes;
	size_t base;	   /* the index of the table that it is like */
	bool has_others;   /* which are like it, or the same */
	const void *data;  /* NULL: not asked for, or no longer needed */
	size_t size;
	void *owned; /* what `data` is, where it was decompressed */
};

struct reader_notes {
	struct buffer bytes; /* of the note whose pieces are read */
	struct format_note_piece next;
	bool seen, ended;	    /* any; the last one of a recording */
	uint64_t first_ns, last_ns; /* since 1970: when the inventory was told; 0: never */
};

/* Of a recording that comes in pieces (reader_feed.c). */
struct reader_feed {
	bool given, ended;    /* it does, or did; there is no more */
	uint8_t *data;	      /* owned: the span, which begins at what has not been read yet */
	size_t capacity;
	uint64_t bytes;	      /* fed so far */
	uint64_t skip_bytes;  /* of what comes next, which nobody needs */
	uint8_t header[16];   /* of the pipe form … */
	size_t header_bytes;  /* … as far as it has come */
};

struct perfdata_reader {
	char *path;	  /* as given by the user */
	const char *name; /* the same, for messages */
	char *directory; /* NULL unless it is a directory recording */
	size_t copied_bytes; /* of its files that were read into memory */
	VECTOR(struct mapped_file) files;
	bool files_borrowed;
	VECTOR(struct reader_span) spans;
	VECTOR(struct reader_part) parts; /* those cut so far */
	bool swap;
	bool pipe_form;
	bool header_truncated; /* seen when the file was opened; more may be found while reading */
	bool truncated;
	uint64_t rest_bytes; /* behind the last record of a span */

	size_t span_index;
	struct reader_window window; /* contains the next record */
	bool inflating;		     /* the window has decompressed data */
	/* The other window: the rest of the span; or the start of a decompressed record. */
	struct reader_window waiting;
	uint64_t bytes_before;		  /* in the spans before this one */
	uint64_t released_offset;	  /* end of the memory released last */
	size_t keep_bytes;		  /* of each file, which are not released */
	uint64_t compressed_offset;	  /* of the compressed record being read */
	struct perfdata_inflate *inflate; /* NULL before the first compressed record */
	uint64_t inflate_limit;		  /* limit for the contents of one compressed record */
	struct error *error;

	/* Records about the recording itself are taken in once, not after every rewind. */
	size_t meta_seen, meta_taken;

	VECTOR(struct perfdata_event *) events;
	VECTOR(struct plain_layout) layouts; /* one for each event */
	size_t id_count;
	struct reader_ids ids;
	struct buffer scratch;

	struct arena *arena; /* strings of features, paths of build-ids */
	struct perfdata_features features;
	VECTOR(struct perfdata_build_id) build_ids;
	VECTOR(struct reader_table) tables;
	struct map table_of_number; /* of notes -> index in tables */
	uint64_t table_bytes;	    /* that were decompressed and are kept */
	struct reader_notes notes;
	struct perfdata_news news;
	struct reader_feed feed;
	bool finished; /* features stand behind the records */
	struct perfdata_inventory *inventory;
};

/* reader.c */
struct perfdata_reader *perfdata_reader_create(const char *path);

/* reader_files.c: loads the first file; then, of a folder, the others, which are records alone. */
struct error *perfdata_files_open(struct perfdata_reader *reader) MUST_CHECK;
struct error *perfdata_files_open_others(struct perfdata_reader *reader) MUST_CHECK;

/* reader_feed.c: whether there may be more than what was fed. */
static inline bool perfdata_feed_goes_on(const struct perfdata_reader *reader)
{
	return reader->feed.given && !reader->feed.ended;
}
/* Whether RECORD, which was just taken, must wait for its payload; it is then not taken. */
bool perfdata_feed_waits_for(struct perfdata_reader *reader, const struct perfdata_record *record,
			     uint64_t payload_bytes);
/* The recorder said that this is the end, whatever comes behind it. */
static inline bool perfdata_feed_is_over(const struct perfdata_reader *reader)
{
	return reader->feed.given && reader->notes.ended;
}

/* header.c: finds the first span, the events and the features in the first file. */
struct error *perfdata_header_read(struct perfdata_reader *reader) MUST_CHECK;

/* attr.c. BYTES: the size of the attr in the file, at least PERF_ATTR_SIZE_VER0. */
void perfdata_attr_decode(const void *data, size_t bytes, bool swap, struct perf_event_attr *ret);
/* A name made from type, config and modifiers; the caller frees it. */
char *perfdata_attr_name(const struct perf_event_attr *attr);

/* features.c: a malformed feature is left out. */
void perfdata_feature_take(struct perfdata_reader *reader, unsigned feature, const void *data,
			   size_t size);
/* One build-id record, or entry of the feature; false if it is malformed. */
bool perfdata_feature_take_build_id(struct perfdata_reader *reader, const void *record,
				    size_t size);

/* stream.c: takes in a record of perf's user space about the recording itself. */
struct error *perfdata_stream_take(struct perfdata_reader *reader,
				   const struct perfdata_record *record) MUST_CHECK;
/* The number of bytes that follow RECORD and belong to it. */
uint64_t perfdata_stream_payload(const struct perfdata_reader *reader,
				 const struct perfdata_record *record);

/* reader_notes.c: CURSOR stands at a struct format_note_piece. */
void perfdata_notes_init(struct reader_notes *notes);
void perfdata_notes_deinit(struct reader_notes *notes);
void perfdata_notes_take_piece(struct perfdata_reader *reader, struct cursor *cursor);
/* The last note is missing; known when all was read. */
static inline bool perfdata_notes_missing(const struct perfdata_reader *reader)
{
	return reader->notes.seen && !reader->notes.ended && !reader->finished;
}

/* reader_tables.c */
void perfdata_tables_take_section(struct perfdata_reader *reader, struct cursor *cursor);
void perfdata_tables_take(struct perfdata_reader *reader, struct cursor *cursor);
void perfdata_tables_take_end(struct perfdata_reader *reader, struct cursor *cursor);
void perfdata_tables_deinit(struct perfdata_reader *reader);

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
/* Starts a new stream; called before the first piece. */
void perfdata_inflate_reset(struct perfdata_inflate *inflate);
/* All pieces will be read again. */
void perfdata_inflate_rewind(struct perfdata_inflate *inflate);
/*
 * Starts the next piece, borrowed until it is fully decompressed. It may expand to at most LIMIT
 * bytes.
 */
void perfdata_inflate_begin(struct perfdata_inflate *inflate, const void *data, size_t size,
			    uint64_t limit);
/*
 * Decompresses more of the piece. RET is REST, what is left of the last window (less than 64 KiB),
 * followed by the new data; *RET_MORE is false if there was no more.
 */
struct error *perfdata_inflate_more(struct perfdata_inflate *inflate,
				    const struct reader_window *rest, struct reader_window *ret,
				    bool *ret_more) MUST_CHECK;
/* Notes that a record of BYTES that is no sample was decompressed. An error: these are too many. */
struct error *perfdata_inflate_count_side(struct perfdata_inflate *inflate,
					  size_t bytes) MUST_CHECK;

#endif
