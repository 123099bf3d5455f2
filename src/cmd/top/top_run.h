/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of top: what reads records, and what shows them. */
#ifndef CMD_TOP_TOP_RUN_H
#define CMD_TOP_TOP_RUN_H

#include "cmd/top/top.h"

/* Where records come from. */
struct top_source {
	int fd; /* -1: a file, which is mapped */
	const char *name;
	struct top_recorder recorder;
};

struct top_run {
	struct top_config *config;
	struct top_engine engine;
	struct top_source *source;
	struct error *(*show)(struct top_run *run); /* what is counted, when it is time */
	struct top_view *view; /* NULL: none is open */
	double min_percent;
	bool gone; /* nobody looks at it any more */
	uint64_t due_ns, stop_ns;
};

/* With READER, which is taken. */
void top_run_begin(struct top_run *run, struct perfdata_reader *reader);
/* Shows what is counted; another interval begins. */
struct error *top_run_show(struct top_run *run) MUST_CHECK;
/* Reads and counts what has come, or waits for it. *RET_END: there is no more to come. */
struct error *top_run_read(struct top_run *run, bool *ret_end) MUST_CHECK;
/*
 * Until the end of the recording, or of the user's patience; at once, if it is gone: then the
 * recorder ends.
 */
struct error *top_run_follow(struct top_run *run, bool *ret_ended) MUST_CHECK;

/* Prints text (top_text.c). */
struct error *top_text_show(struct top_run *run) MUST_CHECK;

/*
 * Shows a stream, or a file that was read, in a browser (top_view.c), until the user quits or, with
 * a recorder, there is no more to come. *RET_ENDED: there is not.
 */
struct error *top_view_run(struct top_run *run, bool *ret_ended) MUST_CHECK;
/* What is counted so far is about to go. */
void top_view_drop(struct top_view *view);

#endif
