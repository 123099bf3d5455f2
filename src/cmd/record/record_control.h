/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `perfvisor record --control`: another process enables and disables events, and ends the
 * recording, through a FIFO or a descriptor. Nothing here waits for it.
 */
#ifndef CMD_RECORD_RECORD_CONTROL_H
#define CMD_RECORD_RECORD_CONTROL_H

#include "cmd/record/control_text.h"
#include "cmd/record/record.h"

struct record_control {
	int fd, ack_fd; /* -1: none */
	bool owned;	/* they are FIFOs, which were opened here */
	bool stop_only; /* other commands are ignored */
	bool stop;	/* it was asked for */
	bool ack_failed;
	unsigned complaints;
	struct control_text text;
};

/* TEXT is fd:CTL[,ACK] or fifo:CTL[,ACK]; NULL: there is none. */
struct error *record_control_open(const char *text, struct record_control *ret) MUST_CHECK;
void record_control_close(struct record_control *control);
/* From now on recorder_step() returns when a command comes. */
void record_control_watch(const struct record_control *control, struct recorder *recorder);
/* Does what was asked for since the last call. */
void record_control_obey(struct record_control *control, struct recorder *recorder,
			 const struct record_events *events);

#endif
