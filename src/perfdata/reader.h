/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads perf.data in every form that perf writes: the file form, the pipe form (also from a pipe),
 * directory recordings (data, data.0 …), zstd-compressed records, both byte orders, attrs of every
 * ABI size. Also reads perfvisor's own sections.
 *
 * 	perfdata_reader_open(path, &reader);
 * 	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD) …
 *
 * Everything in the file is checked. Malformed data in the stream of records ends reading with
 * PERFDATA_BAD (perfdata_reader_error() tells where and why); everything before it stays valid. A
 * file that ends in the middle of a record, or whose header was never finished (the recorder was
 * killed), is read as far as possible, and perfdata_reader_truncated() is true.
 */
#ifndef PERFDATA_READER_H
#define PERFDATA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perfdata/attr.h"
#include "perfdata/inventory.h"
#include "perfdata/sample.h"

struct perfdata_reader;

/* PATH: a file, a directory recording, or "-" for standard input. */
struct error *perfdata_reader_open(const char *path, struct perfdata_reader **ret) MUST_CHECK;
/*
 * The same for the SIZE bytes at DATA, borrowed until the reader is closed; NAME is for messages.
 */
struct error *perfdata_reader_open_memory(const void *data, size_t size, const char *name,
					  struct perfdata_reader **ret) MUST_CHECK;
void perfdata_reader_close(struct perfdata_reader *reader); /* takes NULL */

/*
 * A recording that comes in pieces, in the pipe form: as from a pipe whose writer still records.
 * NAME is for messages. Each record is read once; of what was read, only what is about the
 * recording itself stays in memory. Events are known when their records have been read.
 *
 *	perfdata_reader_open_fed(name, &reader)
 *	perfdata_reader_feed(reader, bytes, size), while perfdata_reader_next() is PERFDATA_WAIT
 *	perfdata_reader_feed_end(reader), when there are no more
 *
 * A recording by perfvisor says where it ends; what was fed behind that is what
 * perfdata_reader_unread() returns, borrowed.
 */
struct perfdata_reader *perfdata_reader_open_fed(const char *name);
/* Copies them. The error is that of a header which is none of a recording in the pipe form. */
struct error *perfdata_reader_feed(struct perfdata_reader *reader, const void *bytes,
				   size_t size) MUST_CHECK;
/* The error is that of a header which is not complete. */
struct error *perfdata_reader_feed_end(struct perfdata_reader *reader) MUST_CHECK;
const void *perfdata_reader_unread(const struct perfdata_reader *reader, size_t *ret_size);

/* One record, valid until the next call. Compressed data is already decompressed. */
struct perfdata_record {
	uint32_t type; /* PERF_RECORD_* of the kernel or of perf's user space (format.h) */
	uint16_t misc;
	uint16_t size;	      /* of the whole record, including its header */
	const uint8_t *body;  /* after the 8-byte header; NOT swapped: use a cursor with
			       * perfdata_reader_swap(), or the decoders below */
	size_t body_bytes;
	uint64_t file_offset; /* for messages; a compressed record's own, for its contents */
};

/* PERFDATA_WAIT: only of a recording that is fed: feed it more. */
enum perfdata_status { PERFDATA_RECORD, PERFDATA_END, PERFDATA_BAD, PERFDATA_WAIT };

/*
 * The next record in file order, from all files of a directory one after another. Attrs, ids,
 * features and event names inside the stream (pipe form, ID_INDEX, EVENT_UPDATE) are taken in on
 * the way, and their records are returned, too.
 */
enum perfdata_status perfdata_reader_next(struct perfdata_reader *reader,
					  struct perfdata_record *ret);
/* Restarts at the first record (works for the pipe form, too, whose input is kept). */
void perfdata_reader_rewind(struct perfdata_reader *reader);

/*
 * Call it now and then. Releases the memory of the parts of the file that have been read, except
 * for its beginning; if they are read again, they come from the page cache. Records stay valid.
 */
void perfdata_reader_release(struct perfdata_reader *reader);
/* From now on, releases the beginning, too: the file is being read for the last time. */
void perfdata_reader_keep_nothing(struct perfdata_reader *reader);

/*
 * Parts of a recording, to be read by several threads at once. Call perfdata_reader_cut() between
 * records while all of them are read for the first time; it cuts the recording into parts of a MB
 * or more. After that, part NUMBER < COUNT can be opened, read like any reader, and closed, all in
 * one thread. Each record is in exactly one part. READER must not be read or closed in the
 * meantime. COUNT is 0 if records are compressed.
 */
void perfdata_reader_cut(struct perfdata_reader *reader);
size_t perfdata_reader_part_count(const struct perfdata_reader *reader);
struct perfdata_reader *perfdata_reader_open_part(const struct perfdata_reader *reader,
						  size_t number);
/* Also releases the memory of the part's records. */
void perfdata_reader_close_part(struct perfdata_reader *reader, struct perfdata_reader *part,
				size_t number);

/* The error after perfdata_reader_next() returned PERFDATA_BAD; borrowed, NULL otherwise. */
const struct error *perfdata_reader_error(const struct perfdata_reader *reader);
bool perfdata_reader_truncated(const struct perfdata_reader *reader);
/*
 * Bytes after the last whole record, once all was read: the start of one that is cut off, or
 * something else. 0 where the header says that the recorder did not finish.
 */
uint64_t perfdata_reader_rest_bytes(const struct perfdata_reader *reader);
/*
 * For a recording made by perfvisor, once all was read: whether its recorder did not finish it; and
 * when that began, and wrote to it last, in ns since 1970, 0 if unknown.
 */
bool perfdata_reader_cut_off(const struct perfdata_reader *reader, uint64_t *ret_begin_ns,
			     uint64_t *ret_end_ns);

bool perfdata_reader_swap(const struct perfdata_reader *reader);
uint64_t perfdata_reader_bytes(const struct perfdata_reader *reader); /* of all record data */
uint64_t perfdata_reader_offset(const struct perfdata_reader *reader); /* read so far: progress */

/*
 * Events, in the order of the file. Opening takes in everything before the first sample (in the
 * pipe form that includes events, ids and features); anything later is only seen when it is read.
 * That may move an event's ids; its name and address do not change.
 */
size_t perfdata_reader_event_count(const struct perfdata_reader *reader);
const struct perfdata_event *perfdata_reader_event(const struct perfdata_reader *reader,
						   size_t index);

struct perfdata_decoded {
	struct perfdata_sample sample;
	size_t event_index;
	const struct perfdata_id *id; /* NULL if the id is not listed */
};

/*
 * Decodes a PERF_RECORD_SAMPLE and finds its event. False: malformed, or the event is unknown; the
 * caller counts it. Fast path: no allocation.
 */
bool perfdata_reader_decode(struct perfdata_reader *reader, const struct perfdata_record *record,
			    struct perfdata_decoded *ret);
/*
 * A sample with PERF_SAMPLE_READ has the values of its event, or of all events of its group, at
 * that time. RET: SAMPLE as one of the event that its value NUMBER is of, counted from 0, with the
 * value since the event began as its period; its id is NULL if that is not listed. False: SAMPLE
 * has fewer.
 */
bool perfdata_reader_take_value(struct perfdata_reader *reader,
				const struct perfdata_decoded *sample, uint64_t number,
				struct perfdata_decoded *ret);
/*
 * The next sample, decoded, for callers that only need pid, tid, ip, id, time, cpu, period, misc
 * and the call chain: no other field is set. False: not possible here; use perfdata_reader_next()
 * for the next record.
 */
bool perfdata_reader_next_plain(struct perfdata_reader *reader, struct perfdata_decoded *ret);
/*
 * Skips at most MAX samples, up to the next record that is not a sample, or whose cpumode is not a
 * bit in CPUMODES, or that needs the slow path. Returns the number of samples skipped.
 */
size_t perfdata_reader_skip_samples(struct perfdata_reader *reader, unsigned cpumodes, size_t max);
/* The same for the sample_id trailer of any other record; false if it has none. */
bool perfdata_reader_decode_id(struct perfdata_reader *reader,
			       const struct perfdata_record *record,
			       struct perfdata_decoded *ret);

/* The header's features; strings are "" if the file does not have them. */
struct perfdata_build_id {
	uint8_t bytes[PERFDATA_BUILD_ID_BYTES];
	uint8_t size; /* 0 to 20 */
	uint16_t misc; /* cpumode of the dso: host kernel, user, guest kernel, guest user */
	uint32_t pid;  /* machine pid, UINT32_MAX for the host */
	const char *path;
};

/* A feature as it is in the file; DATA NULL: it is not there. Borrowed. */
struct perfdata_raw {
	const void *data;
	size_t size;
};
#define PERFDATA_RAW_FEATURES 32

struct perfdata_features {
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid, *cmdline;
	uint32_t cpus_online, cpus_available;
	uint64_t total_memory_kb;
	uint64_t first_sample_ns, last_sample_ns; /* 0: not in the file */
	bool has_clock;			 /* CLOCK_DATA is there: at the same moment, */
	uint32_t clock;			 /* CLOCK_*, which the recording uses, */
	uint64_t clock_ns, clock_day_ns; /* had this time, and this was the time of day */
	const struct perfdata_build_id *build_ids;
	size_t build_id_count;
	const void *tracing_data; /* HEADER_TRACING_DATA as it is in the file, or NULL */
	size_t tracing_data_bytes;
	struct perfdata_raw raw[PERFDATA_RAW_FEATURES]; /* by perf's number (format.h) */
	/* Of the file form: 0 in the others. */
	uint64_t data_offset, data_bytes;
};
const struct perfdata_features *perfdata_reader_features(const struct perfdata_reader *reader);

/* The VM inventory; NULL if the recording has none (made by perf). */
const struct perfdata_inventory *
perfdata_reader_inventory(const struct perfdata_reader *reader);

/*
 * Guest symbol tables, as they were passed to the writer (writer.h): opaque here (src/symbol reads
 * them). Returns entry INDEX, 0 <= INDEX < count; its pointers are borrowed. Tables of unknown
 * kinds are left out. All are known once all was read.
 */
struct perfdata_symbols {
	uint32_t machine_pid; /* the guest that they apply to; 0: all guests */
	enum perfdata_symbols_kind kind;
	uint64_t from_ns, until_ns; /* until is exclusive, UINT64_MAX if there is no end */
	const char *path;	    /* "" for a kernel */
	const uint8_t *build_id;
	uint8_t build_id_bytes; /* 0: unknown; at most PERFDATA_BUILD_ID_BYTES */
};
size_t perfdata_reader_symbols_count(const struct perfdata_reader *reader);
struct perfdata_symbols perfdata_reader_symbols(const struct perfdata_reader *reader,
						size_t index);
/* Whether it has, or may have, its bytes in common with others. *RET: which stands for all. */
bool perfdata_reader_symbols_common(const struct perfdata_reader *reader, size_t index,
				    size_t *ret);
/*
 * Its bytes, borrowed until the reader is closed, or until they are dropped by who needs them no
 * more. Tables may be compressed: the first call decompresses. Not for several threads at once.
 */
struct error *perfdata_reader_load_symbols(struct perfdata_reader *reader, size_t index,
					   const void **ret_data, size_t *ret_size) MUST_CHECK;
void perfdata_reader_drop_symbols(struct perfdata_reader *reader, size_t index);

/* How often what is said of VMs, and the list of symbol tables, has changed so far. */
struct perfdata_news {
	uint64_t vms, symbols;
};
struct perfdata_news perfdata_reader_news(const struct perfdata_reader *reader);

/* The path of the folder for a directory recording, otherwise NULL. */
const char *perfdata_reader_directory(const struct perfdata_reader *reader);

DEFINE_CLEANUP(cleanup_perfdata_reader, struct perfdata_reader *, perfdata_reader_close)
#define _cleanup_perfdata_reader_ _cleanup_(cleanup_perfdata_reader)

#endif
