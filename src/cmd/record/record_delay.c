/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As event_enable_timer__process() in tools/perf/util/evlist.c: each wait counts from the last
 * change, and the recording ends after the last range. Ranges ascend and do not touch.
 */
#include "cmd/record/record_delay.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"

#define NS_PER_MS 1000000u

static bool are_valid(const struct ranges *spans)
{
	for (size_t i = 0; i < spans->count; i++) {
		const struct range *span = &spans->items[i];

		if (span->last > INT32_MAX || span->first == span->last ||
		    (i && span->first <= span[-1].last))
			return false;
	}
	return spans->count > 0;
}

static bool is_plain_number(const struct ranges *spans)
{
	return spans->count == 1 && spans->items[0].first == spans->items[0].last &&
	       spans->items[0].last <= INT32_MAX;
}

struct error *record_delay_parse(const char *text, struct record_delay *ret)
{
	struct record_delay delay = { .given = text && strcmp(text, "0") };
	bool valid = !delay.given || !strcmp(text, "-1");

	if (!valid && ranges_parse(text, &delay.spans)) {
		valid = are_valid(&delay.spans);
		if (is_plain_number(&delay.spans) && !strchr(text, '-')) {
			delay.spans.items[0].last = UINT64_MAX;
			valid = true;
		}
	}
	*ret = delay;
	if (valid)
		return NULL;
	return error_hint(error_create(ERROR_USAGE, "--delay takes milliseconds, -1, or ranges "
						    "of them such as 10-20,30-40, not '%s'",
				       text),
			  "ranges ascend, and do not touch each other");
}

void record_delay_deinit(struct record_delay *delay)
{
	vector_deinit(&delay->spans);
}

/* The number of step STEP: 0 and even ones enable events. */
static uint64_t number_of(const struct record_delay *delay, size_t step)
{
	const struct range *span = &delay->spans.items[step / 2];

	return step % 2 ? span->last : span->first;
}

static void wait_for_next(struct record_delay *delay)
{
	uint64_t before = delay->step ? number_of(delay, delay->step - 1) : 0, next;

	delay->due_ns = 0;
	if (delay->step == 2 * delay->spans.count)
		return;
	next = number_of(delay, delay->step);
	if (next != UINT64_MAX)
		delay->due_ns = clock_monotonic_ns() + (next - before) * NS_PER_MS;
}

static void set_enabled(struct record_delay *delay, struct recorder *recorder, bool enabled)
{
	recorder_set_enabled(recorder, RECORDER_ALL_EVENTS, enabled);
	if (enabled && !delay->enabled_ns)
		delay->enabled_ns = clock_monotonic_ns();
}

void record_delay_begin(struct record_delay *delay, struct recorder *recorder)
{
	if (!delay->given) {
		set_enabled(delay, recorder, true);
		return;
	}
	log_note("events disabled");
	if (delay->spans.count)
		wait_for_next(delay);
	else
		delay->enabled_ns = clock_monotonic_ns();
}

void record_delay_look(struct record_delay *delay, struct recorder *recorder)
{
	bool enable = delay->step % 2 == 0;

	if (!delay->due_ns || clock_monotonic_ns() < delay->due_ns)
		return;
	set_enabled(delay, recorder, enable);
	log_note("events %s", enable ? "enabled" : "disabled");
	delay->step++;
	delay->over = delay->step == 2 * delay->spans.count;
	wait_for_next(delay);
}

int record_delay_wait_ms(const struct record_delay *delay, int max_ms)
{
	uint64_t now = clock_monotonic_ns(), left_ms;

	if (!delay->due_ns)
		return max_ms;
	left_ms = now < delay->due_ns ? (delay->due_ns - now) / NS_PER_MS + 1 : 0;
	return left_ms < (uint64_t)max_ms ? (int)left_ms : max_ms;
}
