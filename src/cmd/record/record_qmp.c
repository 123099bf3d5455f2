/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `perfvisor record --engine qmp`: what it takes, what it samples, and what it did to the guest. */
#include "base/log.h"
#include "cmd/record/record.h"

#define MAX_HZ 1000 /* each sample pauses the guest for a millisecond or more */
#define DEFAULT_HZ 49

static uint64_t frequency_of(const struct record_options *options)
{
	return options->frequency ? options->frequency : DEFAULT_HZ;
}

/* What each of the others asks for is not what QEMU can be asked. */
struct error *record_qmp_check(const struct record_options *options)
{
	const char *unfit = NULL;

	if (options->host)
		unfit = "--host: QEMU knows nothing of the host";
	else if (options->events.count)
		unfit = "-e: it samples the time";
	else if (options->count)
		unfit = "-c: it samples the time, at the rate of -F";
	else if (options->frequency > MAX_HZ)
		unfit = "so high a rate: -F takes at most 1000 with it";
	if (unfit)
		return error_create(ERROR_USAGE, "--engine qmp excludes %s", unfit);
	if (options->vms.count != 1)
		return error_hint(error_create(ERROR_USAGE, "--engine qmp records one VM"),
				  "name it: --vm NAME, or -p PID, also of a QEMU without KVM");
	return NULL;
}

/* A clock's samples, as those of QEMU's monitor are. Nothing is to be opened. */
struct error *record_qmp_prepare_event(const struct record_options *options,
				       struct record_events *ret)
{
	struct record_events events = { .frequency = frequency_of(options) };
	struct error *error = host_events_parse("cpu-clock", &events.list);
	struct host_event *event;
	host_modes modes;

	if (error)
		return error;
	event = &events.list.items.items[0];
	host_event_set_modes(event, true, false, &modes);
	event->attr.exclude_host = 1;
	event->attr.freq = 1;
	event->attr.sample_freq = events.frequency;
	host_event_set_sampling(event);
	event->attr.sample_type &= ~PERF_SAMPLE_CPU; /* QEMU does not say on which it ran */
	if (options->callchains)
		event->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	vector_append(&events.modes, modes);
	events.choice =
		memory_strdup("QEMU is asked at this rate, which pauses the guest each time");
	*ret = events;
	return NULL;
}

void record_qmp_note_pauses(const struct recorder *recorder,
			    const struct record_options *options,
			    const struct sampler_cost *pauses)
{
	struct capture_stats stats = recorder_capture_stats(recorder);
	uint64_t looks = sampler_cost_samples(pauses);
	double seconds = (double)stats.looks.elapsed_ns / 1e9;

	if (!looks || !stats.looks.elapsed_ns)
		return;
	log_note("asked for %llu Hz, QEMU answered %.1f times a second (%llu of %llu); the guest "
		 "stood still for %.2f ms each time (p50), %.2f ms (p99), %.1f %% of all the time; "
		 "%llu looks met a halted vCPU",
		 (unsigned long long)frequency_of(options), (double)looks / seconds,
		 (unsigned long long)looks, (unsigned long long)stats.looks.due,
		 (double)sampler_cost_quantile(pauses, 0.5) / 1e6,
		 (double)sampler_cost_quantile(pauses, 0.99) / 1e6,
		 100.0 * (double)pauses->total_ns / (double)stats.looks.elapsed_ns,
		 (unsigned long long)stats.looks.halted);
	if (stats.looks.failed)
		log_warning("QEMU could not be asked %llu time%s",
			    (unsigned long long)stats.looks.failed,
			    stats.looks.failed == 1 ? "" : "s");
}
