/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `perfvisor record --switch-output`: the recording goes on in another file, and the one that is
 * complete gets the time of day as a suffix, as from perf.
 */
#ifndef CMD_RECORD_RECORD_SWITCH_H
#define CMD_RECORD_RECORD_SWITCH_H

#include "base/queue.h"
#include "cmd/record/record.h"

struct record_switch {
	bool given;
	uint64_t bytes, period_ns; /* 0, 0: by SIGUSR2 */
	uint64_t max_files;	   /* 0: keep all */
	int signal_fd;		   /* -1: none */
	uint64_t begin_bytes;	   /* what of the file does not count for BYTES */
	uint64_t due_ns;	   /* on CLOCK_MONOTONIC; 0: not by time */
	QUEUE(char *) names;	   /* of the files that are kept; owned */
	size_t files;		   /* all that were completed */
};

/*
 * Takes --switch-output, --switch-max-files and --overwrite. SIGUSR2 does not end the process any
 * more. To be called before there are threads.
 */
struct error *record_switch_prepare(const struct record_options *options,
				    const struct record_events *events,
				    struct record_switch *ret) MUST_CHECK;
void record_switch_deinit(struct record_switch *switches);
/* In the child, before it executes another program. */
void record_switch_restore_signal(void);

void record_switch_begin(const struct record_run *run);
/* Writes symbols as record_write_symbols() does; these do not count for a file's size. */
struct error *record_switch_write_symbols(const struct record_run *run) MUST_CHECK;
/* Goes on in another file if it is time. */
struct error *record_switch_look(const struct record_run *run) MUST_CHECK;
/* Completes the last file. */
struct error *record_switch_finish(const struct record_run *run) MUST_CHECK;

#endif
