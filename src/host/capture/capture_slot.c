/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All events on one thread or CPU. A sample identifies its event with PERF_SAMPLE_IDENTIFIER, the
 * first word of the record, so events can share a ring (PERF_EVENT_IOC_SET_OUTPUT). Before Linux
 * 6.2 the kernel does not let software and hardware events of a thread share a ring (they are in
 * different contexts), so these get a ring of their own.
 *
 * Losses: with PERF_FORMAT_LOST (Linux 6.0) read() returns exact losses per event. Otherwise
 * PERF_RECORD_LOST gives the number of records that the ring lost, which is the same for a single
 * event. PERF_RECORD_LOST_SAMPLES (lost by the PMU itself) is included in neither.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "base/cursor.h"
#include "host/capture/capture_engine.h"

static struct error *map_error(int errno_value, size_t bytes)
{
	struct error *error = error_system(
		errno_value, "could not map a ring of %zu KiB for samples", bytes >> 10);

	if (errno_value != EPERM)
		return error_hint(error, "record -m chooses a smaller ring");
	return error_hint(error, "locked memory is limited: raise kernel.perf_event_mlock_kb or "
				 "ulimit -l, or give the program cap_ipc_lock");
}

/* Maps the ring of COUNTER, as large as the mlock limit allows. */
static struct error *map_ring(struct capture *capture, struct capture_counter *counter)
{
	size_t bytes = capture->stats.ring_bytes, page = sysconf(_SC_PAGESIZE);

	while (ring_map(&counter->ring, counter->fd, bytes)) {
		if (errno != EPERM || bytes <= page)
			return map_error(errno, bytes);
		bytes /= 2;
		/* The next slot can start with this size. */
		capture->stats.ring_bytes = bytes;
		capture->stats.ring_reduced = true;
	}
	return NULL;
}

static struct error *watch_ring(struct capture *capture, struct capture_slot *slot,
				struct capture_counter *counter)
{
	struct epoll_event interest = { .events = EPOLLIN, .data.ptr = slot };
	struct error *error = map_ring(capture, counter);

	if (!error && epoll_ctl(capture->epoll_fd, EPOLL_CTL_ADD, counter->fd, &interest))
		error = error_system(errno, "could not poll a ring");
	return error;
}

/* Lets COUNTER write to one of the slot's rings; false: it needs its own. */
static bool share_ring(struct capture_slot *slot, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (slot->counters[i].ring.page &&
		    !ioctl(slot->counters[index].fd, PERF_EVENT_IOC_SET_OUTPUT,
			   slot->counters[i].fd))
			return true;
	return false;
}

static void slot_attr(const struct capture *capture, size_t event, struct perf_event_attr *ret)
{
	*ret = capture->config.events[event].attr;
	if (ret->freq)
		ret->sample_freq = capture_rate(capture, event);
	ret->disabled = !capture->config.events[event].group_rank; /* its leader enables all */
	ret->sample_id_all = 1;
	ret->watermark = 1;
	ret->wakeup_watermark = capture->stats.ring_bytes / 2;
}

/* Adds COUNTER's count, converted to samples, to the number of samples that were due. */
static void add_due(struct capture *capture, const struct host_event *event, uint64_t count)
{
	if (!event->attr.freq && event->attr.sample_period)
		capture->stats.due += count / event->attr.sample_period;
}

/* Opens event INDEX. *RET_GONE: the thread or CPU does not exist. */
static struct error *open_counter(struct capture *capture, pid_t tid, int cpu,
				  struct capture_slot *slot, size_t index, bool *ret_gone)
{
	const struct host_event *event = &capture->config.events[index];
	struct capture_counter *counter = &slot->counters[index];
	int group_fd = event->group_rank ? slot->counters[index - event->group_rank].fd : -1;
	struct perf_event_attr attr;
	struct error *error;

	slot_attr(capture, index, &attr);
	counter->fd = host_event_open(&attr, false, tid, cpu, group_fd);
	if (counter->fd < 0) {
		/* ESRCH: the thread ended. ENODEV for a CPU that has just gone offline. */
		*ret_gone = errno == ESRCH || (errno == ENODEV && tid < 0);
		return *ret_gone ? NULL : host_event_open_error(event, errno);
	}
	if (ioctl(counter->fd, PERF_EVENT_IOC_ID, &counter->id))
		return error_system(errno, "could not get the id of event '%s'", event->name);
	error = host_event_set_filter(event, counter->fd);
	if (error)
		return error;
	if (!host_event_samples(event) || share_ring(slot, index))
		return NULL;
	return watch_ring(capture, slot, counter);
}

struct error *capture_slot_open(struct capture *capture, pid_t tid, int cpu, size_t thread,
				struct capture_slot **ret)
{
	size_t count = capture->config.event_count;
	struct capture_slot *slot = memory_calloc(1, sizeof(*slot));
	struct error *error = NULL;
	bool gone = false;

	slot->thread = thread;
	slot->counters = memory_calloc(count, sizeof(*slot->counters));
	for (size_t i = 0; i < count; i++)
		slot->counters[i].fd = -1;
	for (size_t i = 0; i < count && !error && !gone; i++)
		error = open_counter(capture, tid, cpu, slot, i, &gone);
	if (error || gone) {
		capture_slot_destroy(capture, slot);
		slot = NULL;
	}
	if (!error)
		*ret = slot;
	return error;
}

void capture_slot_destroy(const struct capture *capture, struct capture_slot *slot)
{
	for (size_t i = 0; i < capture->config.event_count; i++) {
		ring_unmap(&slot->counters[i].ring);
		cleanup_close(&slot->counters[i].fd);
	}
	free(slot->counters);
	free(slot);
}

/* The leader of a group enables the others, unless one of them is not to be enabled. */
static void enable_counter(const struct capture *capture, const struct capture_slot *slot,
			   size_t event, bool enable)
{
	bool wanted = enable || capture->config.events[event].group_rank;

	ioctl(slot->counters[event].fd,
	      wanted && capture->event_enabled[event] ? PERF_EVENT_IOC_ENABLE
						      : PERF_EVENT_IOC_DISABLE,
	      0);
}

void capture_slot_enable(const struct capture *capture, struct capture_slot *slot, bool enable)
{
	for (size_t i = 0; i < capture->config.event_count; i++)
		enable_counter(capture, slot, i, enable);
}

void capture_slot_set_rate(const struct capture *capture, struct capture_slot *slot)
{
	for (size_t i = 0; i < capture->config.event_count; i++) {
		const struct host_event *event = &capture->config.events[i];
		/* The kernel converts a clock's rate to a period when it opens the event. */
		uint64_t value = host_event_is_clock(event) ? capture_clock_period_ns(capture, i)
							    : capture_rate(capture, i);

		if (event->attr.freq)
			ioctl(slot->counters[i].fd, PERF_EVENT_IOC_PERIOD, &value);
	}
}

static bool counts_losses(const struct capture *capture)
{
	return capture->config.events[0].attr.read_format & PERF_FORMAT_LOST;
}

void capture_slot_finish(struct capture *capture, struct capture_slot *slot)
{
	capture_slot_tell_lost(capture, slot, 0);
	for (size_t i = 0; i < capture->config.event_count; i++) {
		uint64_t value, lost;

		if (capture_slot_read(capture, slot, i, &value, &lost))
			add_due(capture, &capture->config.events[i], value);
	}
}

void capture_slot_tell_lost(struct capture *capture, struct capture_slot *slot, uint64_t time_ns)
{
	if (!counts_losses(capture) || slot->losses_elsewhere)
		return;
	for (size_t i = 0; i < capture->config.event_count; i++) {
		struct capture_counter *counter = &slot->counters[i];
		uint64_t value, lost;

		if (!capture_slot_read(capture, slot, i, &value, &lost) || lost <= counter->lost)
			continue;
		capture_report_lost(capture, i, slot->thread, lost - counter->lost, time_ns);
		counter->lost = lost;
	}
}

static size_t find_event(const struct capture *capture, const struct capture_slot *slot,
			 uint64_t id)
{
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (slot->counters[i].id == id)
			return i;
	return SIZE_MAX;
}

/* The thread of a sample taken on a CPU. Tids are reused, so the process must match, too. */
static size_t find_thread(const struct capture *capture, const struct perfdata_sample *sample)
{
	const uint64_t *entry = map_find(&capture->by_tid, sample->tid);

	if (!entry || !*entry || capture->threads.items[*entry - 1].pid != sample->pid)
		return CAPTURE_NO_THREAD;
	return *entry - 1;
}

static void take_sample(struct capture *capture, struct capture_slot *slot,
			const struct perf_event_header *header, uint64_t *time_ns)
{
	struct cursor body = cursor_make(header + 1, header->size - sizeof(*header), false);
	uint64_t id = cursor_u64(&body);
	size_t event = body.failed ? SIZE_MAX : find_event(capture, slot, id);
	size_t thread = slot->thread;
	struct perfdata_sample sample;
	const uint64_t *counts;

	if (event == SIZE_MAX ||
	    !perfdata_sample_decode(&capture->config.events[event].attr, body.data, body.size,
				    header->misc, false, &capture->callchain, &sample)) {
		capture->stats.undecodable++;
		return;
	}
	*time_ns = sample.time_ns;
	sample.period = capture_period(capture, event, sample.period);
	counts = capture_slot_take_counts(capture, slot, event, &sample);
	if (thread == CAPTURE_NO_THREAD)
		thread = find_thread(capture, &sample);
	if (thread != CAPTURE_NO_THREAD)
		capture_deliver(capture, event, thread, &sample, NULL, counts);
}

/* PERF_RECORD_LOST (id, count) or, without an id, PERF_RECORD_LOST_SAMPLES (count). */
static void take_lost(struct capture *capture, struct capture_slot *slot,
		      const struct perf_event_header *header, uint64_t time_ns)
{
	struct cursor body = cursor_make(header + 1, header->size - sizeof(*header), false);
	bool by_pmu = header->type == PERF_RECORD_LOST_SAMPLES;
	uint64_t id = by_pmu ? 0 : cursor_u64(&body);
	uint64_t count = cursor_u64(&body);
	size_t event = find_event(capture, slot, id);

	if (body.failed)
		return;
	capture->stats.lost_seen += count;
	if (!by_pmu && counts_losses(capture))
		capture_slot_tell_lost(capture, slot, time_ns);
	else if (by_pmu || !slot->losses_elsewhere)
		capture_report_lost(capture, event == SIZE_MAX ? 0 : event, slot->thread, count,
				    time_ns);
}

static void drain_ring(struct capture *capture, struct capture_slot *slot, struct ring *ring)
{
	const struct perf_event_header *header;
	uint64_t time_ns = 0;

	ring_begin(ring);
	while ((header = ring_next(ring, capture->record))) {
		switch (header->type) {
		case PERF_RECORD_SAMPLE:
			take_sample(capture, slot, header, &time_ns);
			break;
		case PERF_RECORD_LOST:
		case PERF_RECORD_LOST_SAMPLES:
			take_lost(capture, slot, header, time_ns);
			break;
		case PERF_RECORD_THROTTLE:
			capture->stats.throttled++;
			break;
		}
	}
	ring_end(ring);
}

void capture_slot_drain(struct capture *capture, struct capture_slot *slot)
{
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (slot->counters[i].ring.page)
			drain_ring(capture, slot, &slot->counters[i].ring);
}
