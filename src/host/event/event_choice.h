/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event that is sampled when the user names none: the best that works here. */
#ifndef HOST_EVENT_EVENT_CHOICE_H
#define HOST_EVENT_EVENT_CHOICE_H

#include <stdbool.h>

#include "base/error.h"

struct host_event_choice {
	char *event; /* in -e syntax: "cycles:G", "cpu-clock" */
	bool hardware;
	bool sees_host; /* false: host samples are "not sampled", not 0 */
	char *why;      /* one line: "no hardware cycles event here (ENOENT): …" */
};

/*
 * Tries events by opening them on the calling thread: a hardware cycles event counted in
 * guests only (GUEST), in the host only (HOST) or both; else cpu-clock. cpu-clock at once
 * where the mediated vPMU is enabled.
 */
struct error *host_event_choose(bool guest, bool host, struct host_event_choice *ret) MUST_CHECK;
void host_event_choice_deinit(struct host_event_choice *choice);

#endif
