/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each event has rows of its own. Rows of a group's events that have the same keys get the same
 * sums: the periods of cycles and of instructions in those rows.
 *
 * The events are recognised by the kernel's numbers of generalised events; on hosts with several
 * kinds of cores these have the PMU's type in the upper half (PERF_PMU_TYPE_SHIFT).
 */
#include "profile/profile_ipc.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/intern.h"
#include "base/vector.h"

/* Compared as bytes: without padding. */
struct row_key {
	struct profile_group group; /* its event is the leader */
	uint64_t identity;
};

struct row_sums {
	uint64_t cycles, instructions;
};

struct sums {
	struct profile *profile;
	struct identities *functions;
	struct intern *keys; /* struct row_key as bytes */
	VECTOR(struct row_sums) items; /* by their number */
};

static const struct perfdata_event *event_at(const struct session *session, size_t index)
{
	return perfdata_reader_event(session->reader, index);
}

static bool is_hardware(const struct perfdata_event *event, uint32_t config)
{
	return event->attr.type == PERF_TYPE_HARDWARE && (uint32_t)event->attr.config == config;
}

static bool group_has(const struct session *session, size_t leader, uint32_t config)
{
	for (size_t i = 0; i < event_at(session, leader)->group_size; i++)
		if (is_hardware(event_at(session, leader + i), config))
			return true;
	return false;
}

static bool group_has_ipc(const struct session *session, size_t leader)
{
	return group_has(session, leader, PERF_COUNT_HW_CPU_CYCLES) &&
	       group_has(session, leader, PERF_COUNT_HW_INSTRUCTIONS);
}

bool profile_has_ipc(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (group_has_ipc(session, i))
			return true;
	return false;
}

static struct row_sums *sums_of(struct sums *sums, size_t leader, const struct profile_row *row)
{
	struct row_key key = {
		.group = { .vm = row->vm,
			   .event = leader,
			   .time_ns = row->time_ns,
			   .vcpu = row->vcpu,
			   .comm = row->comm,
			   .pid = row->pid,
			   .tid = row->tid,
			   .guest_comm = row->guest_comm,
			   .guest_pid = row->guest_pid,
			   .cpu = row->cpu,
			   .cpumode = row->cpumode },
		.identity = identities_find(sums->functions, row->location, row->cpumode),
	};
	uint32_t number;

	memcpy(key.group.texts, row->texts, sizeof(row->texts));
	number = intern_bytes(sums->keys, (const char *)&key, sizeof(key));
	while (sums->items.count <= number)
		vector_append(&sums->items, (struct row_sums){ 0 });
	return &sums->items.items[number];
}

static void add_event(struct sums *sums, size_t leader, size_t event)
{
	const struct perfdata_event *its = event_at(sums->profile->session, event);
	const struct profile_event *counted = &sums->profile->events[event];
	bool cycles = is_hardware(its, PERF_COUNT_HW_CPU_CYCLES);

	if (!cycles && !is_hardware(its, PERF_COUNT_HW_INSTRUCTIONS))
		return;
	for (size_t i = 0; i < counted->rows.count; i++) {
		const struct profile_row *row = &counted->rows.items[i];
		struct row_sums *sum = sums_of(sums, leader, row);

		*(cycles ? &sum->cycles : &sum->instructions) += row->period;
	}
}

static void set_rows(struct sums *sums, size_t leader, size_t event)
{
	struct profile_event *counted = &sums->profile->events[event];

	for (size_t i = 0; i < counted->rows.count; i++) {
		struct profile_row *row = &counted->rows.items[i];
		const struct row_sums *sum = sums_of(sums, leader, row);

		row->cycles = sum->cycles;
		row->instructions = sum->instructions;
	}
}

void profile_ipc_add(struct profile *profile, struct identities *functions)
{
	struct sums sums = { .profile = profile, .functions = functions, .keys = intern_create() };

	for (size_t leader = 0; leader < profile->event_count; leader++) {
		uint32_t size = event_at(profile->session, leader)->group_size;

		if (!group_has_ipc(profile->session, leader))
			continue;
		for (uint32_t i = 0; i < size; i++)
			add_event(&sums, leader, leader + i);
		for (uint32_t i = 0; i < size; i++)
			set_rows(&sums, leader, leader + i);
	}
	intern_destroy(sums.keys);
	vector_deinit(&sums.items);
}
