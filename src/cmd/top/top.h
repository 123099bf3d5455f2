/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of `perfvisor top`. */
#ifndef CMD_TOP_TOP_H
#define CMD_TOP_TOP_H

#include "cmd/filter_options.h"
#include "cmd/record/record.h"
#include "output/report_columns.h"
#include "output/sample_texts.h"
#include "profile/live_profile.h"
#include "session/ordered.h"

struct top_config {
	struct record_options record; /* first: its rows of the option table are record's */
	const char *input;	      /* NULL: a recorder of its own */
	const char *sort, *percent_limit;
	double delay_s;	  /* 0: not given */
	uint64_t entries; /* 0: not given */
	bool stdio, zero, sample_counts, children, no_children;
	bool browses; /* on a terminal, unless an option wants text */
	int ended_by; /* the signal that ended the browser; 0: none, or it is no news */
	struct filter_options filters;
	struct kernel_source_options symbols;
};

/* What came since the last refresh. */
struct top_interval {
	double seconds;
	struct profile_totals totals;
};

/*
 * The engine: records come in, are counted, and can be looked at. It draws nothing.
 *
 * A recording that is a file is read in its own time: an interval is over when its samples say so.
 */
struct top_engine {
	const struct top_config *config;
	struct session *session; /* with the reader */
	struct ordered *ordered;
	struct live_profile *live; /* NULL: no sample has come yet */
	struct profile_options options;
	struct sample_texts *texts; /* NULL before the first sample */
	struct filter filter;
	struct perfdata_news vms_known; /* as of which the filter has its VMs */
	size_t machines_known;
	double min_percent;
	bool own_time;
	bool stop; /* set by the caller: read no more */
	uint64_t first_ns, last_ns; /* of this interval: samples' times */
	uint64_t begin_ns;	    /* likewise, on CLOCK_MONOTONIC */
	uint64_t now;		    /* of the last sample, as the session counts time */
	struct profile_totals ended; /* what was counted before it began anew */
	struct profile_totals unwritten; /* and what the recording then said was not written */
	struct profile_totals before; /* the totals when the interval began */
	uint64_t interval_ns;
	unsigned intervals, decay_intervals; /* so far, and after how many of them counts decay */
	/* Called when the interval is over, if it is read in its own time. */
	struct error *(*refresh)(struct top_engine *engine, void *context);
	/* Called before what was counted goes, and with it the profile that can be looked at. */
	void (*dropping)(struct top_engine *engine, void *context);
	void *context;
};

/* READER is taken. CONFIG is borrowed. */
void top_engine_init(struct top_engine *engine, const struct top_config *config,
		     struct perfdata_reader *reader);
void top_engine_deinit(struct top_engine *engine); /* takes what is zeroed */
/*
 * Counts all that has come. *RET is PERFDATA_WAIT, or what reading ended with; PERFDATA_RECORD if
 * the user, or the caller, stopped it.
 */
struct error *top_engine_run(struct top_engine *engine, enum perfdata_status *ret) MUST_CHECK;
/* NULL: no sample has come yet. Borrowed, until the engine runs again. */
const struct profile *top_engine_look(struct top_engine *engine, struct top_interval *ret);
/* Another interval begins: what was counted decays. */
void top_engine_next(struct top_engine *engine);
/* After the end: what the user asked for, and was not there. */
struct error *top_engine_check_end(struct top_engine *engine) MUST_CHECK;

/* Lines that another process prints, kept until the terminal can have them (top_messages.c). */
struct top_messages {
	bool kept; /* false: it prints them itself */
	int fd;	   /* they come from there; -1: no more come */
	struct buffer text, line; /* whole lines, escaped, and one that is not yet whole */
};

/* FD is taken, and does not block. */
void top_messages_init(struct top_messages *messages, int fd);
/* Takes what has come. True: there is another line. */
bool top_messages_read(struct top_messages *messages);
/* Appends the last line, without its end. */
void top_messages_append_last(const struct top_messages *messages, struct buffer *out);
/* Prints all of them on stderr, and frees them. */
void top_messages_print(struct top_messages *messages);

/* A recorder in a process of its own (top_recorder.c). */
struct top_recorder {
	pid_t pid; /* 0: there is none */
	int records;  /* its standard output */
	int control; /* what ends it */
	struct top_messages messages;
	bool is_child; /* this process is the recorder, and has recorded */
};

/* To be called before the walls are raised. Returns in both processes: see is_child. */
struct error *top_recorder_start(struct top_config *config, int argc, char **argv,
				 struct top_recorder *ret, int *ret_status) MUST_CHECK;
/* Asks it to end; what it still writes is to be read. */
void top_recorder_stop(struct top_recorder *recorder);
/*
 * Waits for its end. *RET_STATUS is its exit status: if that is not 0, the recorder has reported
 * why. The error is for one that was killed.
 */
struct error *top_recorder_finish(struct top_recorder *recorder, int *ret_status) MUST_CHECK;

/* top_text.c */
/* Appends "1996 samples in 2.0 s (998/s)". */
void top_append_rate(struct buffer *out, const struct top_interval *interval);
/* Appends "71.2% guest kernel, 20.1% guest user, 8.7% host, 0.0% lost". */
void top_append_parts(struct buffer *out, const struct top_interval *interval);
/* The columns of shares and keys, once the keys are known. */
void top_choose_columns(const struct top_engine *engine, struct report_columns *ret);

#endif
