/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `perfvisor record --delay`: when events are enabled and disabled. */
#ifndef CMD_RECORD_RECORD_DELAY_H
#define CMD_RECORD_RECORD_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ranges.h"
#include "host/record/recorder.h"

struct record_delay {
	bool given;	     /* events are disabled at first */
	struct ranges spans; /* when they are enabled, in ms; none: not by time. The last number of
			      * a plain delay is UINT64_MAX. Owned */
	size_t step;	     /* events were enabled or disabled that often */
	uint64_t due_ns;     /* of the next time, on CLOCK_MONOTONIC; 0: there is none */
	uint64_t enabled_ns; /* of the first time; 0: not yet */
	bool over;	     /* the last span has ended */
};

/* TEXT as in perf: MS, -1, or ranges; NULL: no delay. */
struct error *record_delay_parse(const char *text, struct record_delay *ret) MUST_CHECK;
void record_delay_deinit(struct record_delay *delay);

/* Enables events at once, or begins to wait. */
void record_delay_begin(struct record_delay *delay, struct recorder *recorder);
/* Does what is due. Spans are never shorter than asked for. */
void record_delay_look(struct record_delay *delay, struct recorder *recorder);
/* How long it is until something is due, in ms, at most MAX_MS. */
int record_delay_wait_ms(const struct record_delay *delay, int max_ms);

#endif
