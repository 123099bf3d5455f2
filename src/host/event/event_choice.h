/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event that is sampled if the user names none: the best one that works here. */
#ifndef HOST_EVENT_EVENT_CHOICE_H
#define HOST_EVENT_EVENT_CHOICE_H

#include <stdbool.h>

#include "base/error.h"

struct host_event_choice {
	char *event; /* in -e syntax: "cycles:G", "cpu-clock" */
	bool hardware;
	bool sees_host; /* false: host samples are "not sampled", not 0 */
	char *why;      /* one line: "the PMU can count cycles" */
};

/*
 * Tries events by opening them on the calling thread: a hardware cycles event that counts only in
 * guests (GUEST), only in the host (HOST) or in both; otherwise cpu-clock. If the mediated vPMU is
 * enabled, uses cpu-clock without trying.
 */
struct error *host_event_choose(bool guest, bool host, struct host_event_choice *ret) MUST_CHECK;
void host_event_choice_deinit(struct host_event_choice *choice);

#endif
