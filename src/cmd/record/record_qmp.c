/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `perfvisor record --engine qmp`: checks the options, sets up the event, reports the pauses. */
#include "base/log.h"
#include "cmd/record/record.h"

#define MAX_HZ 1000 /* each sample pauses the guest for a millisecond or more */
#define DEFAULT_HZ 49

static uint64_t frequency_of(const struct record_options *options)
{
	return options->frequency ? options->frequency : DEFAULT_HZ;
}

/* Rejects options that ask for something QEMU cannot provide. */
struct error *record_qmp_check(const struct record_options *options)
{
	const char *unfit = NULL;

	if (options->host)
		unfit = "--host: QEMU does not see the host";
	else if (options->events.count)
		unfit = "-e: it samples by time";
	else if (options->count)
		unfit = "-c: it samples by time, at the rate of -F";
	else if (options->vcpu_text || options->tids.count)
		unfit = "--vcpu and -t: it looks at all vCPUs at once";
	else if (options->cpu_text)
		unfit = "-C: QEMU does not report which CPU it ran on";
	else if (options->mmap_pages && !options->overwrite)
		unfit = "-m: it has no rings";
	else if (options->frequency > MAX_HZ)
		unfit = "such a high rate: -F is limited to 1000";
	if (unfit)
		return error_create(ERROR_USAGE, "--engine qmp excludes %s", unfit);
	if (options->vms.count != 1)
		return error_hint(error_create(ERROR_USAGE, "--engine qmp records one VM"),
				  "choose it with --vm NAME, or with -p PID");
	return NULL;
}

/*
 * The event is a clock, since QEMU's monitor is asked at regular times. Nothing needs to be opened.
 */
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
	event->attr.sample_type &= ~PERF_SAMPLE_CPU; /* QEMU does not report which CPU it ran on */
	if (options->callchains)
		event->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	vector_append(&events.modes, modes);
	events.choice =
		memory_strdup("QEMU is asked at this rate, and pauses the guest each time");
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
		 "was paused for %.2f ms each time (p50), %.2f ms (p99), %.1f %% of the time; "
		 "%llu samples hit a halted vCPU",
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
