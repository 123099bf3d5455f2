/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of `perfvisor record`: takes samples, does what --delay and --control ask for, and finds
 * out when it is over.
 */
#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "cmd/record/record_control.h"
#include "cmd/record/record_switch.h"

#define STEP_MS 200

/* When --duration is over; 0: never, or not known yet. */
static uint64_t end_ns(const struct record_options *options)
{
	if (!options->duration_s || !options->delay.enabled_ns)
		return 0;
	return options->delay.enabled_ns + (uint64_t)(options->duration_s * 1e9);
}

/* How long to wait for samples, in ms, at most STEP_MS. */
static int next_wait(const struct record_options *options)
{
	uint64_t now = clock_monotonic_ns(), end = end_ns(options), left_ms;
	int wait_ms = record_delay_wait_ms(&options->delay, STEP_MS);

	if (!end)
		return wait_ms;
	left_ms = now < end ? (end - now) / 1000000 + 1 : 0;
	return left_ms < (uint64_t)wait_ms ? (int)left_ms : wait_ms;
}

/* Without --delay, samples are taken before the command's first instruction. */
static struct error *begin(const struct record_run *run)
{
	struct record_delay *delay = &run->options->delay;
	struct error *error;

	if (!delay->given)
		record_delay_begin(delay, run->recorder);
	error = record_command_start(run->command);
	if (!error && delay->given)
		record_delay_begin(delay, run->recorder);
	record_control_watch(run->control, run->recorder);
	record_switch_begin(run);
	return error;
}

static bool is_full(const struct record_run *run)
{
	const struct record_options *options = run->options;

	if (!options->max_bytes || recorder_totals(run->recorder).file_bytes < options->max_bytes)
		return false;
	log_note("the recording has reached --max-size %s", options->max_size);
	return true;
}

static bool is_over(const struct record_run *run)
{
	uint64_t end = end_ns(run->options);

	return interrupt_requested() || record_command_ended(run->command) ||
	       (end && clock_monotonic_ns() >= end) || run->options->delay.over ||
	       run->control->stop || recorder_vms_gone(run->recorder) || is_full(run);
}

struct error *record_write_symbols(const struct record_run *run)
{
	struct error *error =
		record_symbols_load(run->symbols, recorder_inventory(run->recorder));

	if (error) {
		/* The samples are worth more than their names. */
		log_warning("%s", error_message(error));
		error_destroy(error);
	}
	return record_symbols_write(run->symbols, run->recorder);
}

static void warn_of_small_size(const struct record_run *run)
{
	uint64_t bytes = recorder_totals(run->recorder).file_bytes;

	if (run->options->max_bytes && bytes >= run->options->max_bytes)
		log_warning("--max-size %s ends the recording at once: what names samples takes "
			    "%.3f MB", run->options->max_size, bytes / 1e6);
}

struct error *record_sample(const struct record_run *run)
{
	struct progress progress = { 0 };
	struct error *error = begin(run);
	uint64_t begin_ns = clock_monotonic_ns();

	if (!error)
		warn_of_small_size(run);
	while (!error && !is_over(run)) {
		error = record_switch_write_symbols(run);
		if (!error)
			error = recorder_step(run->recorder, next_wait(run->options));
		record_delay_look(&run->options->delay, run->recorder);
		record_control_obey(run->control, run->recorder, run->events);
		if (!error)
			error = record_switch_look(run);
		record_show_progress(&progress, run->recorder, begin_ns);
	}
	progress_end(&progress);
	return error ? error : recorder_stop(run->recorder);
}
