/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the event to sample if the user names none. A hardware cycles event sees what the CPU
 * does even with interrupts off, and can count in guests only. cpu-clock is a timer that works
 * without any PMU (tried on AMD: KVM reports that the timer's interrupt came while the guest ran).
 * Opening a cycles event on the calling thread shows whether it works.
 *
 * perf's own default, cycles:P, is not used: on Intel its PEBS would then belong to the guest, and
 * nothing would be recorded.
 */
#include "host/event/event_choice.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "host/event/event.h"
#include "host/event/event_pmu.h"
#include "host/system/kvm.h"

#define PROBE_HZ 100

/* 0: TEXT can be opened to sample GUEST and HOST; otherwise the errno. */
static int probe(const char *text, bool guest, bool host)
{
	struct host_events events = { 0 };
	struct error *error = host_events_parse(text, &events);
	int result = ENOENT;

	if (!error) {
		struct host_event *event = &events.items.items[0];
		host_modes modes;
		int fd;

		host_event_set_modes(event, guest, host, &modes);
		event->attr.disabled = 1;
		event->attr.freq = 1;
		event->attr.sample_freq = PROBE_HZ;
		fd = host_event_open(&event->attr, false, 0, -1, -1);
		result = fd < 0 ? errno : 0;
		if (fd >= 0)
			close(fd);
	}
	error_destroy(error);
	host_events_deinit(&events);
	return result;
}

static bool several_kinds_of_cores(void)
{
	struct event_core_pmus cores;
	bool several;

	event_pmu_find_cores(EVENT_PMU_ROOT, &cores);
	several = cores.items.count > 0;
	event_core_pmus_deinit(&cores);
	return several;
}

static struct error *choose_clock(bool guest, bool host, char *why, struct host_event_choice *ret)
{
	int errno_value = probe("cpu-clock", guest, host);

	if (errno_value) {
		struct host_event event = { .name = (char *)"cpu-clock", .software = true };

		free(why);
		return host_event_open_error(&event, errno_value);
	}
	*ret = (struct host_event_choice){ .event = memory_strdup("cpu-clock"),
					   .sees_host = true,
					   .why = why };
	return NULL;
}

static const char *cycles_for(bool guest, bool host)
{
	if (guest && host)
		return "cycles";
	return guest ? "cycles:G" : "cycles:H";
}

struct error *host_event_choose(bool guest, bool host, struct host_event_choice *ret)
{
	const char *cycles = cycles_for(guest, host);
	int errno_value;

	if (host_kvm_mediated_pmu())
		return choose_clock(
			guest, host,
			memory_strdup("kvm's mediated vPMU is enabled: a hardware event "
				      "could keep VMs from starting"),
			ret);
	if (several_kinds_of_cores())
		return choose_clock(
			guest, host,
			memory_strdup("this host has several kinds of cores, whose cycles are "
				      "not comparable"),
			ret);
	errno_value = probe(cycles, guest, host);
	if (errno_value)
		return choose_clock(
			guest, host,
			memory_printf("used instead of hardware cycles, which cannot be counted "
				      "here (%s)", strerror(errno_value)),
			ret);
	*ret = (struct host_event_choice){
		.event = memory_strdup(cycles),
		.hardware = true,
		.sees_host = host,
		.why = memory_strdup(guest && !host ? "the PMU can count cycles only in guests"
						    : "the PMU can count cycles"),
	};
	return NULL;
}

void host_event_choice_deinit(struct host_event_choice *choice)
{
	free(choice->event);
	free(choice->why);
}
