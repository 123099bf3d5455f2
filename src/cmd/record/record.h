/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of `perfvisor record`. */
#ifndef CMD_RECORD_RECORD_H
#define CMD_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/options.h"
#include "base/progress.h"
#include "base/ranges.h"
#include "base/vector.h"
#include "cmd/record/record_delay.h"
#include "host/event/event.h"
#include "host/record/recorder.h"
#include "perfdata/inventory.h"
#include "perfdata/writer/writer.h"
#include "symbol/kernel_source.h"

struct record_options {
	struct string_list vms, pids, events;
	struct placed_strings filters; /* of the events before them */
	const char *clock;	       /* NULL: not given */
	int clock_id;		       /* of the recording's times */
	bool all, guest, host, no_memory, kernel_only, directory, callchains, verbose, quiet;
	const char *frequency_text; /* NULL: not given */
	uint64_t frequency, count;  /* 0: not given */
#define RECORD_FREQUENCY_MAX UINT64_MAX /* "max" */
	struct unsigned_list tids;
	struct ranges threads;		/* the same */
	VECTOR(char *) thread_pids;	/* of their VMMs; owned, and in VMS */
	const char *vcpu_text;		/* NULL: not given */
	struct ranges vcpus;		/* none: all */
	const char *cpu_text;		/* NULL: not given */
	struct ranges cpus;		/* of the host; none: all */
	const char *mmap_pages, *max_size; /* NULL: not given */
	uint64_t ring_bytes, max_bytes;	   /* 0: not given */
	const char *delay_text; /* NULL: not given */
	struct record_delay delay; /* the same */
	const char *control; /* NULL: not given */
	bool stop_only;	     /* who controls it may do nothing but end it */
	uint64_t stack_bytes;
	const char *call_graph; /* perf's argument; NULL: not given */
	const char *unwind;	/* NULL: not given */
	bool scan;		/* it is "scan" */
	const char *engine;	/* NULL: not given */
	bool qmp;		/* it is "qmp" */
	const char *output; /* as shown to the user; for a pipe: "standard output" */
	bool pipe, compress;
	bool overwrite, force;
	const char *switch_output; /* NULL: not given */
	uint64_t switch_max_files; /* 0: not given */
	/*
	 * Of a pipe, for top: after this time another recording follows in it, which stands alone,
	 * so that neither side must remember all that ever was. 0: none does.
	 */
	uint64_t stream_ns;
	double duration_s; /* 0: not given */
	double max_overhead; /* percent; 0: not given */
	const char *guestkallsyms, *guestmodules, *guestvmlinux, *guestmount;
};

#define RECORD_OPTIONS_DEFAULT { .clock_id = CLOCK_MONOTONIC, .stack_bytes = 8192 }
void record_options_deinit(struct record_options *options);

/*
 * Records as OPTIONS say. ARGC and ARGV are for the recording's header; REST is the index of the
 * command to be recorded, ARGC: none. *RET_STATUS is what that command ended with.
 */
struct error *record_run(struct record_options *options, int argc, char **argv, int rest,
			 int *ret_status) MUST_CHECK;

/* Reads the arguments that are kept as text (record_values.c). */
struct error *record_take_values(struct record_options *options) MUST_CHECK;
/* -k (record_clock.c): sets the clock. */
struct error *record_take_clock(struct record_options *options) MUST_CHECK;
/* What a reader needs to know of the clock, as of now. */
struct perfdata_writer_clock record_read_clock(int clock_id);
/* --call-graph, --stack-size, --unwind; may print a note. */
struct error *record_take_chains(struct record_options *options) MUST_CHECK;
#define RECORD_MAX_STACK_BYTES 32768
void record_free_values(struct record_options *options);
/*
 * TEXT is a number and B, K, M or G (parse_tag_value() in tools/perf/util/parse-tags.c); without a
 * letter it stands for UNIT_BYTES, 0: there must be a letter. False: it is none, or 0.
 */
bool record_parse_size(const char *text, uint64_t unit_bytes, uint64_t *ret);

/* The events to sample, ready to be opened (record_events.c). */
struct record_events {
	struct host_events list;
	VECTOR(host_modes) modes; /* per event */
	char *choice;             /* why this is the default event; "" if the user named one */
	uint64_t frequency; /* for events without a rate of their own; 0: use OPTIONS' count */
};
struct error *record_events_prepare(const struct record_options *options,
				    struct record_events *ret) MUST_CHECK;
void record_events_deinit(struct record_events *events);
/* Builds HEADER_TRACING_DATA for the tracepoints. OUT stays empty if there are none. */
struct error *record_events_tracing_data(const struct record_events *events,
					 struct buffer *out) MUST_CHECK;

/* With --engine qmp (record_qmp.c). These open nothing. */
struct error *record_qmp_check(const struct record_options *options) MUST_CHECK;
struct error *record_qmp_prepare_event(const struct record_options *options,
				       struct record_events *ret) MUST_CHECK;
void record_qmp_note_pauses(const struct recorder *recorder,
			    const struct record_options *options,
			    const struct sampler_cost *pauses);

/* Progress and summary messages (record_notes.c). Times are those of clock_monotonic_ns(). */
void record_note_beginning(const struct recorder *recorder, const struct record_events *events);
void record_show_progress(struct progress *progress, const struct recorder *recorder,
			  uint64_t begin_ns);
/* Of all files: losses, and what sampling cost. */
void record_note_end(const struct recorder *recorder, const struct record_options *options);
/* What is in the file that was just completed. */
void record_note_file(const struct recorder *recorder, const struct record_options *options,
		      const char *path);
void record_note_files(const struct recorder *recorder, size_t files);

/* The command to record (record_command.c): forked at once, but runs only when started. */
struct record_command {
	pid_t pid; /* 0: none */
	const char *name; /* of the program */
	int go_fd, failure_fd;
	bool ended;
	int wait_status;
};
/*
 * An error if execvp() would not find the program, or may not run it; to be called before anything
 * is replaced. The rest shows when it starts.
 */
struct error *record_command_check(const char *program) MUST_CHECK;
/* QUIET: its standard output is not perfvisor's, but where its errors go. */
struct error *record_command_prepare(char **argv, bool quiet,
				     struct record_command *ret) MUST_CHECK;
struct error *record_command_start(struct record_command *command) MUST_CHECK;
bool record_command_ended(struct record_command *command);
/* Ends the command if it is still running and waits for it. Returns a shell's exit status. */
int record_command_finish(struct record_command *command);

/* A kernel that was read from guest memory, by its number: what was written of it. */
struct record_kernel {
	uint32_t number; /* of its table in the recording; 0: there is none */
	uint64_t until_ns;
};

/* Guest symbols to be stored in the recording (record_symbols.c). */
struct record_symbols {
	struct kernel_source_options options;
	VECTOR(struct perfdata_writer_symbols) tables; /* from the options; data owned */
	VECTOR(struct perfdata_writer_symbols) kept;   /* kernels from memory; data owned */
	VECTOR(uint32_t) loaded;                       /* pids that were looked up */
	bool everyone;                                 /* one of the tables is for every guest */
	bool keep;                                     /* kernels are needed again */
	size_t given_written;                          /* of tables */
	VECTOR(struct record_kernel) kernels;
	VECTOR(bool) files_written;                    /* by number */
	size_t codes_written;                          /* of the recorder's */
	uint64_t from_ns;     /* kernels that ended before are not needed */
	size_t written_bytes; /* of guests' tables, since the last call began */
	bool sampling;        /* set by the caller; otherwise all of them are written */
	bool again;           /* tables may be needed for another file */
};
void record_symbols_init(const struct record_options *options, struct record_symbols *ret);
void record_symbols_deinit(struct record_symbols *symbols);
/*
 * Loads what the options offer for every guest and for the VMs of INVENTORY (NULL: none), each
 * once.
 */
struct error *record_symbols_load(struct record_symbols *symbols,
				  const struct perfdata_inventory *inventory) MUST_CHECK;
/*
 * Writes what was loaded, and symbols found in guest memory for VMs for which the options had none,
 * since the last call; while sampling only so many that samples do not wait for long.
 */
struct error *record_symbols_write(struct record_symbols *symbols,
				   struct recorder *recorder) MUST_CHECK;
/* The next file (recorder_switch()) has no symbols yet. */
void record_symbols_restart(struct record_symbols *symbols, const struct recorder *recorder);

/* What the recording says of how it was made (record_facts.c). */
struct record_facts {
	char **command_line; /* owned, the words are not */
	struct perfdata_writer_clock clock; /* as of the beginning, with -k */
	struct buffer tracing_data;
	struct perfdata_writer_features features; /* which point there */
};
/* A part that cannot be had is left out, with a warning. */
void record_facts_collect(const struct record_options *options,
			  const struct record_events *events, int argc, char **argv,
			  struct record_facts *ret);
void record_facts_deinit(struct record_facts *facts); /* takes what is zeroed */

/* All that belongs to a recording in progress; borrowed. */
struct record_control;
struct record_switch;
struct record_run {
	struct record_options *options;
	const struct record_events *events;
	struct record_symbols *symbols;
	struct record_command *command;
	struct record_control *control;
	struct record_switch *switches;
	struct recorder *recorder;
	const struct record_facts *facts;
};
/* Samples until something ends it (record_sampling.c). */
struct error *record_sample(const struct record_run *run) MUST_CHECK;
/* Also the symbols of VMs that came since the last time. */
struct error *record_write_symbols(const struct record_run *run) MUST_CHECK;

/* For a recording that is a folder: adds the guest kernels' symbols for stock perf. */
struct error *record_directory_finish(const char *path, const struct record_symbols *symbols,
				      const struct perfdata_inventory *inventory) MUST_CHECK;

#endif
