/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF samplers of a capture, one per event. They filter threads for events on CPUs, and take
 * guest samples together with what else is known of the guest.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "host/capture/capture_engine.h"

#define MIN_VMS 1024 /* room for at least this many; a power of two */

/* A VM has at least one thread, and more VMs may come later. */
static uint32_t room_for_vms(const struct capture *capture)
{
	size_t vms = MIN_VMS;

	while (vms < 2 * capture->config.expected_threads && vms < SAMPLER_MAX_VMS)
		vms *= 2;
	return vms;
}

/*
 * Not events whose samples have values, which only perf reads, nor those without samples. A program
 * at a tracepoint would filter for others, too.
 */
static bool has_sampler(const struct host_event *event)
{
	return !event->tracepoint && !event->values_read;
}

void capture_samplers_create(struct capture *capture, size_t ring_bytes)
{
	struct guest_sampler_options options = { .vms = room_for_vms(capture),
						 .ring_bytes = ring_bytes,
						 .stacks = capture->config.stacks,
						 .mappings = capture->config.sink.mappings,
						 .user_stack_bytes =
							 capture->config.user_stack_bytes };

	capture->samplers = memory_calloc(capture->config.event_count, sizeof(*capture->samplers));
	for (size_t i = 0; i < capture->config.event_count && !capture->config.no_bpf; i++) {
		struct epoll_event interest = { .events = EPOLLIN };
		struct guest_sampler **sampler = &capture->samplers[i];

		if (!has_sampler(&capture->config.events[i]))
			continue;
		/* Without the rights for BPF, perf has to do alone. */
		error_destroy(guest_sampler_create(&options, sampler));
		if (*sampler && guest_sampler_epoll_fd(*sampler) >= 0)
			epoll_ctl(capture->epoll_fd, EPOLL_CTL_ADD,
				  guest_sampler_epoll_fd(*sampler), &interest);
	}
}

void capture_samplers_destroy(struct capture *capture)
{
	for (size_t i = 0; capture->samplers && i < capture->config.event_count; i++)
		guest_sampler_destroy(capture->samplers[i]);
	free(capture->samplers);
}

void capture_samplers_attach(struct capture *capture, struct capture_slot *slot)
{
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (capture->samplers[i] &&
		    !guest_sampler_attach(capture->samplers[i], slot->counters[i].fd))
			capture->sampler_missing = true;
}

struct error *capture_samplers_add(struct capture *capture, size_t thread)
{
	const struct capture_thread *added = &capture->threads.items[thread];

	for (size_t i = 0; i < capture->config.event_count; i++)
		if (capture->samplers[i] && !guest_sampler_add(capture->samplers[i], added, thread))
			return error_system(errno, "could not add thread %u to the BPF sampler",
					    added->tid);
	return NULL;
}

void capture_samplers_remove(struct capture *capture, size_t thread)
{
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (capture->samplers[i])
			guest_sampler_remove(capture->samplers[i], &capture->threads.items[thread]);
}

static void fill_guest(const struct sampler_record *record, struct capture_guest *ret)
{
	*ret = (struct capture_guest){
		.at_exit = record->flags & SAMPLER_AT_EXIT,
		.nested = record->flags & SAMPLER_NESTED,
		.has_task = record->flags & SAMPLER_TASK,
		.loading = record->flags & SAMPLER_LOADING,
		.task = GVA(record->task),
		.mm = GVA(record->mm),
		.pid = record->pid,
		.tgid = record->tgid,
		.version = record->version,
	};
	memcpy(ret->comm, record->comm, sizeof(ret->comm));
}

struct draining {
	struct capture *capture;
	size_t event;
};

static void fill_stacks(const struct sampler_stacks *stacks, struct capture_stacks *ret)
{
	struct capture_stack *const places[SAMPLER_STACKS] = { &ret->kernel[0], &ret->kernel[1],
							       &ret->user };
	const uint8_t *data = (const uint8_t *)(stacks + 1);

	ret->registers = (const uint64_t *)stacks->registers;
	for (size_t i = 0; i < SAMPLER_STACKS; i++) {
		const struct sampler_stack *stack = &stacks->stacks[i];

		*places[i] = (struct capture_stack){ GVA(stack->gva), GVA(stack->end), stack->bytes,
						     data };
		data += stack->bytes;
	}
	ret->links = (struct capture_links){ GVA(stacks->first_link), stacks->links,
					     stacks->above_links_bytes, data };
}

void capture_deliver_record(struct capture *capture, size_t event,
			    const struct sampler_record *record,
			    const struct sampler_stacks *stacks)
{
	struct perfdata_sample sample = {
		.ip = record->ip,
		.time_ns = record->time_ns,
		.period = record->period,
		.cpu = record->cpu,
		.misc = record->flags & SAMPLER_USER ? PERF_RECORD_MISC_GUEST_USER
						     : PERF_RECORD_MISC_GUEST_KERNEL,
	};
	struct capture_guest guest;
	struct capture_stacks copies;

	if (record->number >= capture->threads.count) {
		capture->stats.undecodable++;
		return;
	}
	sample.pid = capture->threads.items[record->number].pid;
	sample.tid = capture->threads.items[record->number].tid;
	fill_guest(record, &guest);
	if (stacks) {
		fill_stacks(stacks, &copies);
		copies.sp_unknown = record->flags & SAMPLER_NO_SP;
		copies.whole = record->flags & SAMPLER_WHOLE_STACKS;
		guest.stacks = &copies;
	}
	capture_deliver(capture, event, record->number, &sample, &guest, NULL);
}

static void deliver_areas(struct capture *capture, const struct sampler_record *record,
			  const struct sampler_areas *areas)
{
	const struct capture_sink *sink = &capture->config.sink;
	struct capture_guest guest;

	if (record->number >= capture->threads.count || !sink->mappings)
		return;
	fill_guest(record, &guest);
	sink->mappings(sink->context, record->number, record->time_ns, &guest, areas);
}

static void take_record(void *context, const struct sampler_record *taken,
			const struct sampler_stacks *stacks, const struct sampler_areas *areas)
{
	const struct draining *draining = context;
	struct sampler_record record = *taken;

	if (areas) {
		deliver_areas(draining->capture, taken, areas);
		return;
	}
	record.period = capture_period(draining->capture, draining->event, taken->period);
	capture_deliver_record(draining->capture, draining->event, &record, stacks);
}

void capture_samplers_drain(struct capture *capture)
{
	for (size_t i = 0; i < capture->config.event_count; i++) {
		struct draining draining = { capture, i };

		if (capture->samplers[i])
			guest_sampler_drain(capture->samplers[i], take_record, &draining);
	}
}

bool capture_samplers_count_all(const struct capture *capture)
{
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (!capture->samplers[i] && host_event_samples(&capture->config.events[i]))
			return false;
	return !capture->sampler_missing;
}

void capture_samplers_tell_lost(struct capture *capture, size_t thread)
{
	size_t count = capture->config.event_count;

	if (!capture_samplers_count_all(capture))
		return;
	for (size_t i = 0; i < count; i++) {
		const struct guest_sampler *sampler = capture->samplers[i];
		const struct capture_thread *its = &capture->threads.items[thread];
		uint64_t passed = sampler ? guest_sampler_passed(sampler, its) : 0;
		uint64_t received = capture->received.items[thread * count + i];

		if (passed > received)
			capture_report_lost(capture, i, thread, passed - received, 0);
	}
}

bool capture_sees_guests(const struct capture *capture)
{
	if (capture->engine->set_guest)
		return true;
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (!capture->samplers[i] || !guest_sampler_sees_guests(capture->samplers[i]))
			return false;
	return !capture->sampler_missing;
}

struct sampler_cost capture_cost(const struct capture *capture)
{
	struct sampler_cost sum = capture->pauses;

	for (size_t i = 0; i < capture->config.event_count; i++)
		if (capture->samplers[i])
			guest_sampler_add_cost(capture->samplers[i], &sum);
	return sum;
}

bool capture_sees_registers(const struct capture *capture)
{
	if (!capture_sees_guests(capture))
		return false;
	if (capture->engine->set_guest)
		return true;
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (!guest_sampler_sees_registers(capture->samplers[i]))
			return false;
	return true;
}

bool capture_set_guest(struct capture *capture, uint32_t vm, const struct sampler_vm *guest,
		       const struct guest_cpus *cpus)
{
	bool all = true;

	if (capture->engine->set_guest)
		return capture->engine->set_guest(capture, guest, cpus);
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (capture->samplers[i])
			all &= guest_sampler_set_vm(capture->samplers[i], vm, guest, cpus);
	return all;
}
