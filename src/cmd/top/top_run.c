/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records as they come, through a pipe: they are counted, and shown when it is time. What a
 * recorder wrote may end, and begin anew, in the same pipe.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cmd/top/top_run.h"

#define READ_BYTES ((size_t)256 << 10)
#define LAST_RECORDS_NS 5000000000ull /* how long a recorder may take to end */

struct error *top_run_show(struct top_run *run)
{
	struct error *error = run->show(run);

	run->engine.stop |= run->gone;
	top_engine_next(&run->engine);
	return error;
}

static struct error *refresh(struct top_engine *engine, void *context)
{
	(void)engine;
	return top_run_show(context);
}

static void dropping(struct top_engine *engine, void *context)
{
	struct top_run *run = context;

	(void)engine;
	if (run->view)
		top_view_drop(run->view);
}

void top_run_begin(struct top_run *run, struct perfdata_reader *reader)
{
	run->engine = (struct top_engine){ .refresh = refresh, .dropping = dropping,
					   .context = run, .min_percent = run->min_percent,
					   .own_time = run->source->fd < 0 };
	top_engine_init(&run->engine, run->config, reader);
}

/*
 * What the recorder wrote ends here, and it has begun anew, in the same pipe: after a screen, all
 * that is known is forgotten.
 */
static struct error *next_stream(struct top_run *run, const void *bytes, size_t size)
{
	struct perfdata_reader *reader = perfdata_reader_open_fed(run->source->name);
	struct error *error = perfdata_reader_feed(reader, bytes, size);

	if (!error)
		error = top_run_show(run);
	top_engine_deinit(&run->engine);
	top_run_begin(run, reader);
	return error;
}

/* Counts what has come. *RET_END: there is no more to come. */
static struct error *take(struct top_run *run, bool *ret_end)
{
	enum perfdata_status status;
	struct error *error;
	const void *bytes;
	size_t size;

	for (;;) {
		error = top_engine_run(&run->engine, &status);
		*ret_end |= status == PERFDATA_BAD || status == PERFDATA_RECORD;
		if (error || status != PERFDATA_END)
			return error;
		bytes = perfdata_reader_unread(run->engine.session->reader, &size);
		if (!size || perfdata_reader_truncated(run->engine.session->reader))
			return NULL;
		error = next_stream(run, bytes, size);
		if (error)
			return error;
	}
}

/* *RET_END: there are no more bytes. */
static struct error *feed(struct top_run *run, bool *ret_end)
{
	_cleanup_free_ uint8_t *bytes = memory_alloc(READ_BYTES);
	struct perfdata_reader *reader = run->engine.session->reader;
	ssize_t got = read(run->source->fd, bytes, READ_BYTES);

	if (got < 0)
		return errno == EINTR ? NULL
				      : error_system(errno, "could not read '%s'",
						     run->source->name);
	if (got > 0)
		return run->stop_ns ? NULL : perfdata_reader_feed(reader, bytes, got);
	*ret_end = true;
	return run->stop_ns ? NULL : perfdata_reader_feed_end(reader);
}

struct error *top_run_read(struct top_run *run, bool *ret_end)
{
	struct error *error = feed(run, ret_end);

	return error || run->stop_ns ? error : take(run, ret_end);
}

static int wait_ms(uint64_t due_ns)
{
	uint64_t now = clock_monotonic_ns();

	return now < due_ns ? (due_ns - now) / 1000000 + 1 : 0;
}

/* Ctrl-C: the recorder is to end, and what it still has is read, but not for long. */
static bool is_given_up(struct top_run *run)
{
	if (!interrupt_requested() && !run->gone)
		return false;
	if (!run->source->recorder.pid)
		return true;
	if (!run->stop_ns) {
		top_recorder_stop(&run->source->recorder);
		run->stop_ns = clock_monotonic_ns() + LAST_RECORDS_NS;
	}
	return clock_monotonic_ns() >= run->stop_ns;
}

/* Until the next screen is due. True: there are bytes, or there is an end of them. */
static struct error *wait_for_bytes(struct top_run *run, bool *ret_ready)
{
	struct pollfd input = { .fd = run->source->fd, .events = POLLIN };
	int ready = poll(&input, 1, wait_ms(run->stop_ns ? run->stop_ns : run->due_ns));

	*ret_ready = ready > 0;
	return ready >= 0 || errno == EINTR
		       ? NULL
		       : error_system(errno, "could not wait for '%s'", run->source->name);
}

struct error *top_run_follow(struct top_run *run, bool *ret_ended)
{
	struct error *error = NULL;
	bool end = false, ready;

	run->due_ns = clock_monotonic_ns() + run->engine.interval_ns;
	while (!error && !end && !is_given_up(run)) {
		error = wait_for_bytes(run, &ready);
		if (!error && ready)
			error = top_run_read(run, &end);
		if (error || run->stop_ns || end || clock_monotonic_ns() < run->due_ns)
			continue;
		error = top_run_show(run);
		run->due_ns += run->engine.interval_ns;
	}
	*ret_ended = !run->stop_ns && !interrupt_requested() && !run->gone;
	return error;
}
