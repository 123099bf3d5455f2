/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open recording: its machines (the host and each guest) with their threads, mappings and
 * kernels over time. Opening reads all records except the samples; samples are then read in any
 * order, and looked up as of their time:
 *
 * 	session_open(path, &options, &session)
 * 	while (session_next_sample(session, &sample) == PERFDATA_RECORD) …
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
#include "base/sort.h"
#include "perfdata/reader.h"
#include "session/dsos.h"
#include "session/group_reads.h"
#include "session/guest_files.h"
#include "session/kernel_loader.h"
#include "session/machine.h"
#include "session/source_lines.h"
#include "symbol/kernel_source.h"

/* The function and dso name for everything in a nested guest. */
#define SESSION_NESTED_NAME "[nested guest]"

/* What records have reported as lost, to count each loss once; zero at first. */
struct session_losses {
	uint64_t counted;
	uint64_t sums[2]; /* of LOST and of LOST_SAMPLES, if both count the same */
};

struct session {
	struct perfdata_reader *reader;
	const struct perf_event_attr **attrs; /* of each event; owned */
	size_t event_count;
	struct arena *arena;
	/* Held by a thread that counts samples while it looks up shared data. */
	pthread_mutex_t lock;
	struct intern *strings;
	struct dsos dsos;
	VECTOR(struct machine *) machines; /* the host is the first */
	struct map machine_by_pid;	   /* -> index in machines */
	uint32_t space_numbers;
	bool unaligned;		/* some mappings do not start and end at a page boundary */
	bool all_read;		/* the pass over all records when opening is done */
	bool guest_samples;	/* there are guest samples */
	bool modes_doubtful;	/* the modes of guest samples may be wrong: the address decides */
	uint64_t modes_noted, modes_corrected; /* guest samples then, and those that were wrong */
	bool guest_processes;	/* guest samples belong to threads of the guest */
	bool damaged;		/* the stream of records ended early */
	uint64_t aux_bytes;	/* of AUX data, such as Intel PT's: they are not decoded */
	uint32_t aux_kind;	/* enum auxtrace_type of tools/perf/util/auxtrace.h */
	bool counts;		/* it has counts of perf stat record */
	bool timed;		/* false: the file has no times, records are in order */
	uint64_t lost;		/* records that the kernel could not write */
	struct session_losses losses; /* what lost was told from */
	struct map lost_by_vm;	/* machine pid -> its share of lost */
	uint64_t malformed;	/* records other than samples that could not be decoded */
	struct kernel_source_options guest_symbols;
	struct machine_kernels shared_kernels; /* in the recording, for all guests */
	VECTOR(struct sort_key) kernels_by_pid; /* places in the reader's list */
	VECTOR(struct symbol_table *) same_kernels; /* of which several guests have a share */
	struct map same_kernel_at; /* place in the reader's list -> index there + 1 */
	bool kernels_listed;
	struct symbol_table *shared_guest_table; /* from options that apply to all guests */
	bool shared_guest_loaded;
	struct error *symbols_error; /* the first error in the user's symbol files */
	uint64_t sequence;	     /* number of the last record read */
	uint32_t kernel_path; /* from the host kernel's MMAP record: "[kernel.kallsyms]_text" */
	uint64_t kernel_reference;   /* address of that symbol; 0: unknown */
	uint64_t kernel_bytes;	     /* the record's length */
	uint8_t kernel_build_id[PERFDATA_BUILD_ID_BYTES]; /* of that record */
	uint8_t kernel_build_id_bytes;			  /* 0: it has none */
	struct kernel_loader kernel_loader;
	struct map build_ids;	     /* machine pid and path -> index in the header's list */
	bool build_ids_listed;
	struct guest_files guest_files;
	struct group_reads group_reads;
	struct source_lines *source_lines; /* NULL: none was looked up yet */
	uint64_t demangle_budget;	   /* for all names, as for dso_demangle_within() */
	/* While it is read (live/live_session.h); otherwise all of these are 0: */
	bool live;
	uint64_t live_time;    /* of the last record that was applied: none is applied earlier */
	uint64_t live_records; /* applied since something was forgotten */
	uint64_t stamp;	       /* of threads and mappings: what was found before is void */
	uint64_t names_stamp;  /* likewise, of symbols and kernels */
	struct perfdata_news news; /* the reader's, as of the last look */
	VECTOR(struct symbol_table *) retired; /* which locations may point to */
	struct space nested;	     /* for nested guests: nothing is known about them */
	uint32_t nested_dso;
};

/* PATH as for perfdata_reader_open(). OPTIONS are copied; their strings are borrowed. */
struct error *session_open(const char *path, const struct kernel_source_options *options,
			   struct session **ret) MUST_CHECK;
/* The same for an open reader, which it takes, even if it fails. */
struct error *session_open_reader(struct perfdata_reader *reader,
				  const struct kernel_source_options *options,
				  struct session **ret) MUST_CHECK;
void session_close(struct session *session); /* takes NULL */

/* The machine of the guest whose VMM is PID (the host for 0), which is added if it is new. */
struct machine *session_machine(struct session *session, uint32_t pid);
/* The same, but NULL if there is none. */
struct machine *session_find_machine(const struct session *session, uint32_t pid);
/*
 * How many samples RECORD, of PERF_RECORD_LOST or LOST_SAMPLES, reports as lost that no record
 * before it has reported. False: it is malformed.
 */
bool session_count_lost(const struct session *session, const struct perfdata_record *record,
			struct session_losses *losses, uint64_t *ret);
/*
 * For session_events.c: adds what RECORD, of PERF_RECORD_LOST or LOST_SAMPLES and VM_PID, says to
 * what was lost. False: it is malformed.
 */
bool session_take_lost(struct session *session, const struct perfdata_record *record,
		       uint32_t vm_pid);

/*
 * The pid of the VMM whose guest DECODED was taken in, if it is a guest sample: that of its id,
 * else that of the thread. 0: unknown.
 */
uint32_t session_guest_pid(const struct perfdata_decoded *decoded);
/*
 * The machine that RECORD, which is no sample, is about. TRAILER: of its sample_id; PID: the pid in
 * the record itself.
 */
struct machine *session_record_machine(struct session *session,
				       const struct perfdata_record *record,
				       const struct perfdata_decoded *trailer, uint32_t pid);

struct session_sample {
	struct perfdata_decoded decoded;
	uint64_t time; /* for lookups: ns, or the record's number in a file without times */
	bool valid;    /* false: malformed, or its event is unknown */
};

/*
 * The next sample, in file order; session_rewind() starts again. After opening, it starts at the
 * first record, too. One sample in the file may be several:
 * group_reads.h.
 */
enum perfdata_status session_next_sample(struct session *session, struct session_sample *ret);
/* The same for callers that only need the fields set by perfdata_reader_next_plain(); faster. */
enum perfdata_status session_next_plain(struct session *session, struct session_sample *ret);
void session_rewind(struct session *session);
/*
 * Samples may be read by several threads if their order does not matter: each thread reads parts of
 * the recording (perfdata_reader_open_part()). Returns the number of parts; 0: use the functions
 * above.
 */
size_t session_part_count(const struct session *session);
/* Like session_next_plain(), for a part. */
enum perfdata_status session_next_in_part(const struct session *session,
					  struct perfdata_reader *part,
					  struct session_sample *ret);
/* The same in two steps, for callers that need other records, or samples as the file has them. */
enum perfdata_status session_next_record(struct session *session, struct perfdata_record *ret);
void session_decode(struct session *session, const struct perfdata_record *record,
		    struct session_sample *ret);

/* Starts loading the symbols of the host's kernel in the background. */
void session_start_kernel(struct session *session);
/*
 * What the recording says so far of the host's kernel, into RET; borrowed from the session. Its
 * build-id is that of any entry of the header's list in kernel mode (the kernel is listed under
 * the path of its vmlinux if perf had one), else that of its MMAP2 record.
 */
void session_identify_kernel(struct session *session, struct dso_request *ret);
/*
 * Lists the kernels that MACHINE had over time, from the recording, after all of it has been read.
 */
void session_list_kernels(struct session *session, struct machine *machine);
/* Which of MACHINE's kernels ran at TIME; MACHINE_NO_KERNEL if the recording has none. */
uint32_t session_kernel_at(struct machine *machine, uint64_t time);
/*
 * The symbols of that kernel, loaded on first use; the user's symbols apply to any kernel. NULL if
 * there are none.
 */
const struct symbol_table *session_kernel_table(struct session *session, struct machine *machine,
						uint32_t kernel);

/* Decodes symbol table INDEX of the recording. */
struct error *session_decode_symbols(struct session *session, size_t index,
				     struct symbol_table **ret) MUST_CHECK;

/* Sets the build-id of ENTRY, which has none, from the header's list, by its path. */
void session_set_build_id(struct session *session, struct dso_entry *entry);

DEFINE_CLEANUP(cleanup_session, struct session *, session_close)
#define _cleanup_session_ _cleanup_(cleanup_session)

#endif
