/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads perf.data in every form that perf writes: the file form, the pipe form (also from a
 * pipe), directory recordings (data, data.0 …), zstd-compressed records, both byte orders,
 * attrs of every ABI size. Also perfvisor's own sections.
 *
 *	perfdata_reader_open(path, &reader);
 *	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD) …
 *
 * Everything in the file is checked. What is malformed inside the stream of records ends
 * the reading with PERFDATA_BAD (perfdata_reader_error() says where and what); what came
 * before stays valid. A file that ends in the middle of a record, or whose header was never
 * finished (the recorder was killed), is read as far as it goes and perfdata_reader_truncated()
 * is true.
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
/* Likewise the SIZE bytes at DATA, borrowed until the reader is closed; NAME is for messages. */
struct error *perfdata_reader_open_memory(const void *data, size_t size, const char *name,
					  struct perfdata_reader **ret) MUST_CHECK;
void perfdata_reader_close(struct perfdata_reader *reader); /* takes NULL */

/* One record, valid until the next call. Compressed and reordered data are already undone. */
struct perfdata_record {
	uint32_t type; /* PERF_RECORD_* of the kernel, or of perf's user space (format.h) */
	uint16_t misc;
	uint16_t size;	      /* of the whole record, header included */
	const uint8_t *body;  /* behind the 8-byte header; NOT swapped: use a cursor with
				 perfdata_reader_swap(), or the decoders below */
	size_t body_bytes;
	uint64_t file_offset; /* for messages; of the COMPRESSED record where it was in one */
};

enum perfdata_status { PERFDATA_RECORD, PERFDATA_END, PERFDATA_BAD };

/*
 * The next record in file order, of all files of a directory one after another. Attrs, ids,
 * features and event names that come inside the stream (pipe form, ID_INDEX, EVENT_UPDATE)
 * are taken in on the way and the record is handed out too.
 */
enum perfdata_status perfdata_reader_next(struct perfdata_reader *reader,
					  struct perfdata_record *ret);
/* Starts again at the first record (also for the pipe form, whose input is kept). */
void perfdata_reader_rewind(struct perfdata_reader *reader);

/*
 * To be called now and then. Gives back the memory of what was read of the file so far but for
 * its beginning; what is read again comes from the page cache. Records stay valid.
 */
void perfdata_reader_release(struct perfdata_reader *reader);
/* From now on the beginning, too: the file is being read for the last time. */
void perfdata_reader_keep_nothing(struct perfdata_reader *reader);

/*
 * Parts of a recording, to be read by several threads at once. perfdata_reader_cut(), called
 * between the records of the first time that all of them are read, cuts it into parts of a MB or
 * more; when that has come to the end, part NUMBER < COUNT is opened, read as any reader is, and
 * closed, all in one thread. Each record is in one part. READER is not to be read nor closed
 * meanwhile. COUNT is 0 where records are compressed.
 */
void perfdata_reader_cut(struct perfdata_reader *reader);
size_t perfdata_reader_part_count(const struct perfdata_reader *reader);
struct perfdata_reader *perfdata_reader_open_part(const struct perfdata_reader *reader,
						  size_t number);
/* Gives back the memory of the part's records, too. */
void perfdata_reader_close_part(struct perfdata_reader *reader, struct perfdata_reader *part,
				size_t number);

/* Why perfdata_reader_next() said PERFDATA_BAD; borrowed, NULL before. */
const struct error *perfdata_reader_error(const struct perfdata_reader *reader);
bool perfdata_reader_truncated(const struct perfdata_reader *reader);

bool perfdata_reader_swap(const struct perfdata_reader *reader);
uint64_t perfdata_reader_bytes(const struct perfdata_reader *reader); /* of all record data */
uint64_t perfdata_reader_offset(const struct perfdata_reader *reader); /* read so far: progress */

/*
 * Events, in the order of the file. Opening takes in all that stands before the first sample
 * (and its events, ids and features, in the pipe form): what comes later is seen when reading
 * comes to it. An event's ids may move then; its name and address stay.
 */
size_t perfdata_reader_event_count(const struct perfdata_reader *reader);
const struct perfdata_event *perfdata_reader_event(const struct perfdata_reader *reader,
						   size_t index);

struct perfdata_decoded {
	struct perfdata_sample sample;
	size_t event_index;
	const struct perfdata_id *id; /* NULL where the id is not listed */
};

/*
 * Decodes a PERF_RECORD_SAMPLE and finds its event. False: malformed, or of no known event;
 * the caller counts it. Fast path: no allocation.
 */
bool perfdata_reader_decode(struct perfdata_reader *reader, const struct perfdata_record *record,
			    struct perfdata_decoded *ret);
/*
 * The next sample, decoded, for who needs no more of it than pid, tid, ip, id, time, period, misc
 * and the call chain: no other field is set. False: not here; perfdata_reader_next() has what comes
 * next.
 */
bool perfdata_reader_next_plain(struct perfdata_reader *reader, struct perfdata_decoded *ret);
/*
 * Passes over samples, at most MAX, up to the next record that is none, or is of a cpumode
 * whose bit is not in CPUMODES, or needs a closer look. Gives how many.
 */
size_t perfdata_reader_skip_samples(struct perfdata_reader *reader, unsigned cpumodes, size_t max);
/* Likewise for the sample_id trailer of any other record; false where there is none. */
bool perfdata_reader_decode_id(struct perfdata_reader *reader,
			       const struct perfdata_record *record,
			       struct perfdata_decoded *ret);

/* What the header's features say; strings are "" where the file has none. */
struct perfdata_build_id {
	uint8_t bytes[PERFDATA_BUILD_ID_BYTES];
	uint8_t size; /* 0 to 20 */
	uint16_t misc; /* cpumode of the dso: host kernel, user, guest kernel, guest user */
	uint32_t pid;  /* machine pid, UINT32_MAX for the host */
	const char *path;
};

struct perfdata_features {
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid, *cmdline;
	uint32_t cpus_online, cpus_available;
	uint64_t total_memory_kb;
	uint64_t first_sample_ns, last_sample_ns; /* 0: not in the file */
	const struct perfdata_build_id *build_ids;
	size_t build_id_count;
	const void *tracing_data; /* HEADER_TRACING_DATA as it stands in the file, or NULL */
	size_t tracing_data_bytes;
};
const struct perfdata_features *perfdata_reader_features(const struct perfdata_reader *reader);

/* The VM inventory; NULL if the recording has none (made by perf, or killed hard). */
const struct perfdata_inventory *
perfdata_reader_inventory(const struct perfdata_reader *reader);

/*
 * Guest symbol tables, as the writer was given them (writer.h): opaque here (src/symbol reads
 * them). Entry INDEX for 0 <= INDEX < count; what it points to is borrowed. Tables of kinds that
 * are not known are left out.
 */
struct perfdata_symbols {
	uint32_t machine_pid; /* the guest they hold for; 0: every guest */
	enum perfdata_symbols_kind kind;
	uint64_t from_ns, until_ns; /* until is exclusive, UINT64_MAX where there is no end */
	const char *path;	    /* "" for a kernel */
	const uint8_t *build_id;
	uint8_t build_id_bytes; /* 0: not known; at most PERFDATA_BUILD_ID_BYTES */
	const void *data;
	size_t size;
};
size_t perfdata_reader_symbols_count(const struct perfdata_reader *reader);
struct perfdata_symbols perfdata_reader_symbols(const struct perfdata_reader *reader,
						size_t index);

/* For directory recordings: the folder's path, else NULL. */
const char *perfdata_reader_directory(const struct perfdata_reader *reader);

DEFINE_CLEANUP(cleanup_perfdata_reader, struct perfdata_reader *, perfdata_reader_close)
#define _cleanup_perfdata_reader_ _cleanup_(cleanup_perfdata_reader)

#endif
