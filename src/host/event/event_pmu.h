/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PMUs as /sys/bus/event_source/devices describes them. */
#ifndef HOST_EVENT_EVENT_PMU_H
#define HOST_EVENT_EVENT_PMU_H

#include "host/event/event.h"
#include "host/event/event_names.h"

/* Fills EVENT's attr from "PMU/TERMS/"; its name is set by a term name=. ROOT is the folder
 * (tests have their own), EVENT_PMU_ROOT in life. */
#define EVENT_PMU_ROOT "/sys/bus/event_source/devices"
struct error *event_pmu_parse(const char *root, const char *pmu, const char *terms,
			      struct host_event *event) MUST_CHECK;
/* The PMU that has an event file NAME ("mem-loads" -> "cpu"), NULL: none. malloc()ed. */
char *event_pmu_find_event(const char *root, const char *name);
/* Adds "PMU/EVENT/" of every PMU, malloc()ed. */
void event_pmu_list_events(const char *root, struct event_candidates *candidates);

/* The PMUs of CPU cores, where there are several kinds (hybrid, big.LITTLE); else none. */
struct event_core_pmu {
	char *name;
	uint32_t type;
};
struct event_core_pmus {
	VECTOR(struct event_core_pmu) items;
};
void event_pmu_find_cores(const char *root, struct event_core_pmus *ret);
void event_core_pmus_deinit(struct event_core_pmus *pmus);

#endif
