/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is open: its machines (the host and each guest) with their threads,
 * mappings and kernels as they were over time. Opening reads all records but the samples;
 * samples are then read in any order, looked up as of their time:
 *
 *	session_open(path, &options, &session)
 *	while (session_next_sample(session, &sample) == PERFDATA_RECORD) …
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/map.h"
#include "perfdata/reader.h"
#include "session/dsos.h"
#include "session/guest_files.h"
#include "session/kernel_loader.h"
#include "session/machine.h"
#include "symbol/kernel_source.h"

/* Names all that a guest of a guest did, function and dso. */
#define SESSION_NESTED_NAME "[nested guest]"

struct session {
	struct perfdata_reader *reader;
	const struct perf_event_attr **attrs; /* of each event; in the arena */
	struct arena *arena;
	/* Held by a thread that counts samples while it looks for what all of them share. */
	pthread_mutex_t lock;
	struct intern *strings;
	struct dsos dsos;
	VECTOR(struct machine *) machines; /* the host is the first */
	struct map machine_by_pid;	   /* -> place in machines */
	uint32_t space_numbers;
	bool unaligned;		/* there are mappings that do not begin and end with a page */
	bool all_read;		/* the pass over all records that opening is has ended */
	bool guest_samples;	/* there are samples of guests */
	bool guest_processes;	/* a guest's samples are of threads of the guest */
	bool damaged;		/* the stream of records ended before its time */
	bool timed;		/* false: no times in the file, the order of its records counts */
	uint64_t lost;		/* records that the kernel could not write */
	struct map lost_by_vm;	/* machine pid -> its part of lost */
	uint64_t malformed;	/* records other than samples that could not be understood */
	struct kernel_source_options guest_symbols;
	struct symbol_table *shared_guest_table; /* of options that hold for every guest */
	bool shared_guest_loaded;
	struct error *symbols_error; /* the first of the user's symbol files that failed */
	uint64_t sequence;	     /* of the record that was read last */
	uint32_t kernel_path; /* of the host's kernel's MMAP record: "[kernel.kallsyms]_text" */
	uint64_t kernel_reference;   /* where that symbol was; 0: not known */
	struct kernel_loader kernel_loader;
	struct map build_ids;	     /* machine pid and path -> place in the header's list */
	bool build_ids_listed;
	struct guest_files guest_files;
	struct space nested;	     /* where a guest of a guest runs: nothing is known of it */
	uint32_t nested_dso;
};

/* PATH as of perfdata_reader_open(). OPTIONS are copied; their strings are borrowed. */
struct error *session_open(const char *path, const struct kernel_source_options *options,
			   struct session **ret) MUST_CHECK;
/* The same of a reader that is open, which it takes, also when it fails. */
struct error *session_open_reader(struct perfdata_reader *reader,
				  const struct kernel_source_options *options,
				  struct session **ret) MUST_CHECK;
void session_close(struct session *session); /* takes NULL */

/* The machine of the guest whose VMM is PID (the host for 0), added if it is new. */
struct machine *session_machine(struct session *session, uint32_t pid);
/* The same, but NULL if there is none. */
struct machine *session_find_machine(const struct session *session, uint32_t pid);

struct session_sample {
	struct perfdata_decoded decoded;
	uint64_t time; /* for lookups: ns, or the record's number in a file without times */
	bool valid;    /* false: malformed, or of no known event */
};

/*
 * The next sample, in the order of the file; session_rewind() starts again. The first
 * round after opening starts at the first record, too.
 */
enum perfdata_status session_next_sample(struct session *session, struct session_sample *ret);
/* The same for who needs only those fields that perfdata_reader_next_plain() sets; faster. */
enum perfdata_status session_next_plain(struct session *session, struct session_sample *ret);
void session_rewind(struct session *session);
/*
 * Samples may be read in several threads, if they need no order: each reads parts of the recording
 * (perfdata_reader_open_part()), of which there are so many; 0: it is to be read as above.
 */
size_t session_part_count(const struct session *session);
/* As session_next_plain(), of a part. */
enum perfdata_status session_next_in_part(const struct session *session,
					  struct perfdata_reader *part,
					  struct session_sample *ret);
/* The same in two steps, for who wants other records, too. */
enum perfdata_status session_next_record(struct session *session, struct perfdata_record *ret);
void session_decode(struct session *session, const struct perfdata_record *record,
		    struct session_sample *ret);

/* Looks whether symbols of programs came with the recording: the folder "debug" in its own. */
void session_find_cache(struct session *session);
/* Begins to load the symbols of the host's kernel, which goes on meanwhile. Only once. */
void session_start_kernel(struct session *session);
/* Takes from the recording which kernels MACHINE had when; once all of it was read. */
void session_list_kernels(struct session *session, struct machine *machine);
/* Which of MACHINE's kernels ran at TIME; MACHINE_NO_KERNEL where the recording has none. */
uint32_t session_kernel_at(struct machine *machine, uint64_t time);
/*
 * The symbols of that kernel, loaded when first asked for: the user's own for whatever kernel;
 * NULL where there are none.
 */
const struct symbol_table *session_kernel_table(struct session *session, struct machine *machine,
						uint32_t kernel);

/* Gives ENTRY, which has no build-id, the one that the recording's header lists for its path. */
void session_set_build_id(struct session *session, struct dso_entry *entry);

DEFINE_CLEANUP(cleanup_session, struct session *, session_close)
#define _cleanup_session_ _cleanup_(cleanup_session)

#endif
