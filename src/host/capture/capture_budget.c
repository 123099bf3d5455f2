/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lowers the sampling rate if sampling takes more of a vCPU's thread than it may. One factor
 * applies to all threads and all events with a rate, so that their samples stay comparable. The
 * rate is never raised again. Events with a fixed period are not changed: whoever asks for every
 * COUNT events gets them.
 *
 * The measured cost is that of the BPF sampler (src/bpf/sampler_cost.h), or the time for which an
 * engine pauses vCPUs. If perf takes the samples, nothing is measured.
 */
#include <stdbool.h>

#include "base/log.h"
#include "base/progress.h"
#include "host/capture/capture_engine.h"

#define LOOK_NS 500000000ull
#define NS_PER_SECOND 1000000000ull

uint64_t capture_rate(const struct capture *capture, size_t event)
{
	double hz = (double)capture->config.events[event].attr.sample_freq * capture->rate_share;

	return hz < 1 ? 1 : (uint64_t)hz;
}

uint64_t capture_clock_period_ns(const struct capture *capture, size_t event)
{
	return NS_PER_SECOND / capture_rate(capture, event);
}

/*
 * A timer keeps reporting the period it was opened with: hw.last_period is not updated when the
 * period is set later (perf_swevent_hrtimer(), kernel/events/core.c; seen on 6.18).
 */
uint64_t capture_period(const struct capture *capture, size_t event, uint64_t told)
{
	const struct host_event *its = &capture->config.events[event];

	return capture->rate_share < 1 && its->attr.freq && host_event_is_clock(its)
		       ? capture_clock_period_ns(capture, event)
		       : told;
}

void capture_lower_rate(struct capture *capture, double factor)
{
	/* The rings hold no samples taken at a rate other than the known one. */
	if (capture->enabled)
		capture->engine->disable(capture);
	capture_drain(capture);
	capture->rate_share *= factor;
	capture->engine->set_rate(capture);
	if (capture->enabled)
		capture->engine->enable(capture);
}

/* What EVENT cost THREAD since the last look, in ns. */
static uint64_t take_cost(struct capture *capture, size_t thread, size_t event)
{
	uint64_t *seen = &capture->cost_seen.items[thread * capture->config.event_count + event];
	uint64_t before = *seen;

	*seen = capture->samplers[event]
			? guest_sampler_cost_ns(capture->samplers[event],
						&capture->threads.items[thread])
			: capture->pauses.total_ns;
	return *seen > before ? *seen - before : 0; /* a thread that is gone has no count */
}

static void look_at_thread(struct capture *capture, size_t thread, uint64_t elapsed_ns)
{
	struct sampling_load load = { 0 };

	for (size_t i = 0; i < capture->config.event_count; i++) {
		double share = (double)take_cost(capture, thread, i) / (double)elapsed_ns;

		if (capture->config.events[i].attr.freq)
			load.adjustable += share;
		else
			load.fixed += share;
	}
	sampling_budget_add(&capture->budget, &load);
}

/* Rate of the first event that has one; 0: none has. */
static uint64_t first_rate(const struct capture *capture)
{
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (capture->config.events[i].attr.freq)
			return capture_rate(capture, i);
	return 0;
}

static void lower(struct capture *capture, const struct sampling_verdict *verdict)
{
	uint64_t before = first_rate(capture);

	capture_lower_rate(capture, verdict->factor);
	if (first_rate(capture) < before)
		log_note("sampling at %llu Hz: at %llu Hz it took %.1f %% of a core on a vCPU's "
			 "thread, --max-overhead is %g",
			 (unsigned long long)first_rate(capture), (unsigned long long)before,
			 verdict->worst * 100, capture->budget.share * 100);
}

void capture_keep_budget(struct capture *capture)
{
	uint64_t now = clock_monotonic_ns(), elapsed_ns = now - capture->budget_ns;
	struct sampling_verdict verdict;

	if (!capture->budget.share || elapsed_ns < LOOK_NS)
		return;
	capture->budget_ns = now;
	for (size_t i = 0; i < capture->threads.count; i++)
		look_at_thread(capture, i, elapsed_ns);
	sampling_budget_judge(&capture->budget, &verdict);
	if (verdict.factor < 1) {
		lower(capture, &verdict);
	} else if (verdict.worst > capture->budget.share && !capture->budget_exceeded) {
		capture->budget_exceeded = true;
		log_warning("sampling takes %.1f %% of a core on a vCPU's thread, --max-overhead "
			    "is %g: the period of -c is not changed; try a longer one",
			    verdict.worst * 100, capture->budget.share * 100);
	}
}
