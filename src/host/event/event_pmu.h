/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PMUs, as described in /sys/bus/event_source/devices. */
#ifndef HOST_EVENT_EVENT_PMU_H
#define HOST_EVENT_EVENT_PMU_H

#include "host/event/event.h"
#include "host/event/event_names.h"

/*
 * Fills EVENT's attr from "PMU/TERMS/"; the term name= sets its name. ROOT is the folder of PMUs:
 * EVENT_PMU_ROOT, except in tests.
 */
#define EVENT_PMU_ROOT "/sys/bus/event_source/devices"
struct error *event_pmu_parse(const char *root, const char *pmu, const char *terms,
			      struct host_event *event) MUST_CHECK;
/* The PMU that has an event file NAME ("mem-loads" -> "cpu"); NULL: none. malloc()ed. */
char *event_pmu_find_event(const char *root, const char *name);
/* Adds "PMU/EVENT/" for all events of all PMUs, malloc()ed. */
void event_pmu_list_events(const char *root, struct event_candidates *candidates);

/* The PMUs of CPU cores if there are several kinds (hybrid, big.LITTLE); otherwise none. */
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
