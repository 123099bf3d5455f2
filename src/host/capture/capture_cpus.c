/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine for many threads: one slot per CPU samples whatever runs there, and samples of other
 * threads are dropped: by a BPF program before perf writes them, or, without BPF (and for
 * tracepoints), by their tid after they were read. Descriptors and locked memory do not grow with
 * the threads; the price is an interrupt per CPU and period even while something else runs. This is
 * also the engine for threads that are sampled on some CPUs only.
 *
 * Losses: many threads share a ring, so the kernel cannot report whose samples were lost. The BPF
 * program counts what it lets pass for each thread; without it, losses are reported without a
 * thread.
 */
#include <errno.h>
#include <stdio.h>

#include "host/capture/capture_engine.h"

/*
 * Cost compared with an event on a thread: everything that runs gets interrupts, filtered or not.
 */
#define CPU_COST_FILTERED 4
#define CPU_COST_UNFILTERED 16
#define CPUS_MAX 8192
/* What a group counts on a CPU is in part other threads': only where there are too many. */
#define COST_OF_VALUES (SIZE_MAX - 1)

struct cpus_state {
	VECTOR(struct capture_slot *) slots;
};

/* CPUs of /sys/devices/system/cpu/online: "0-3,8,10-11". */
static size_t online_cpus(int *cpus, size_t max)
{
	_cleanup_fclose_ FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	size_t count = 0;
	int low, high;

	while (file && fscanf(file, "%d", &low) == 1) {
		int separator = fgetc(file);

		high = low;
		if (separator == '-') {
			if (fscanf(file, "%d", &high) != 1)
				break;
			separator = fgetc(file);
		}
		for (int cpu = low; cpu <= high && count < max; cpu++)
			cpus[count++] = cpu;
		if (separator != ',')
			break;
	}
	return count;
}

/* Those of the chosen CPUs that are online; all of them if none was chosen. */
static size_t chosen_cpus(const struct capture *capture, int *cpus)
{
	size_t count = online_cpus(cpus, CPUS_MAX), kept = 0;

	for (size_t i = 0; i < count; i++)
		if (ranges_admit(&capture->config.cpus, cpus[i]))
			cpus[kept++] = cpus[i];
	return kept;
}

struct error *capture_check_cpus(const struct ranges *chosen)
{
	_cleanup_free_ int *cpus = memory_calloc(CPUS_MAX, sizeof(*cpus));
	size_t count = online_cpus(cpus, CPUS_MAX);
	_cleanup_map_ struct map online;

	map_init(&online);
	for (size_t i = 0; i < count; i++)
		map_insert(&online, cpus[i], NULL);
	for (size_t i = 0; count && i < chosen->count; i++)
		for (uint64_t cpu = chosen->items[i].first; cpu <= chosen->items[i].last; cpu++)
			if (!map_find(&online, cpu)) /* after CPUS_MAX at the latest */
				return error_create(ERROR_NOT_FOUND,
						    "CPU %llu is not online",
						    (unsigned long long)cpu);
	return NULL;
}

static size_t cpus_cost(const struct capture *capture, size_t threads)
{
	_cleanup_free_ int *cpus = memory_calloc(CPUS_MAX, sizeof(*cpus));
	size_t files = chosen_cpus(capture, cpus) * capture->config.event_count;

	(void)threads;
	if (!files || files > capture->open_files_max)
		return SIZE_MAX;
	for (size_t i = 0; i < capture->config.event_count; i++)
		if (capture->config.events[i].values_read)
			return COST_OF_VALUES;
	return files * (capture->config.no_bpf ? CPU_COST_UNFILTERED : CPU_COST_FILTERED);
}

static void cpus_destroy(struct capture *capture)
{
	struct cpus_state *state = capture->state;

	for (size_t i = 0; i < state->slots.count; i++)
		capture_slot_destroy(capture, state->slots.items[i]);
	vector_deinit(&state->slots);
	free(state);
}

static struct error *cpus_create(struct capture *capture)
{
	struct cpus_state *state = memory_calloc(1, sizeof(*state));
	_cleanup_free_ int *cpus = memory_calloc(CPUS_MAX, sizeof(*cpus));
	size_t count = chosen_cpus(capture, cpus);
	struct error *error = NULL;

	capture->state = state;
	capture_size_rings(capture, count);
	for (size_t i = 0; i < count && !error; i++) {
		struct capture_slot *slot = NULL;

		error = capture_slot_open(capture, -1, cpus[i], CAPTURE_NO_THREAD, &slot);
		if (!slot)
			continue;
		vector_append(&state->slots, slot);
		capture_samplers_attach(capture, slot);
	}
	for (size_t i = 0; i < state->slots.count; i++)
		state->slots.items[i]->losses_elsewhere = capture_samplers_count_all(capture);
	if (error)
		cpus_destroy(capture);
	return error;
}

static struct error *cpus_add(struct capture *capture, size_t thread, bool *ret_gone)
{
	*ret_gone = false;
	return capture_samplers_add(capture, thread);
}

static void cpus_set_rate(struct capture *capture)
{
	struct cpus_state *state = capture->state;

	for (size_t i = 0; i < state->slots.count; i++)
		capture_slot_set_rate(capture, state->slots.items[i]);
}

static void cpus_drain(struct capture *capture)
{
	struct cpus_state *state = capture->state;

	for (size_t i = 0; i < state->slots.count; i++)
		capture_slot_drain(capture, state->slots.items[i]);
}

static void cpus_remove(struct capture *capture, size_t thread)
{
	capture_drain(capture); /* it has ended: its last samples are in the rings */
	capture_samplers_tell_lost(capture, thread);
	capture_samplers_remove(capture, thread);
}

static void enable_all(struct capture *capture, bool enable)
{
	struct cpus_state *state = capture->state;

	for (size_t i = 0; i < state->slots.count; i++)
		capture_slot_enable(capture, state->slots.items[i], enable);
}

static void cpus_enable(struct capture *capture)
{
	enable_all(capture, true);
}

static void cpus_disable(struct capture *capture)
{
	enable_all(capture, false);
}

static void cpus_finish(struct capture *capture)
{
	struct cpus_state *state = capture->state;

	for (size_t i = 0; i < capture->threads.count; i++) {
		const uint64_t *entry = map_find(&capture->by_tid, capture->threads.items[i].tid);

		if (entry && *entry == i + 1) /* the others' were reported when they were removed */
			capture_samplers_tell_lost(capture, i);
	}
	for (size_t i = 0; i < state->slots.count; i++)
		capture_slot_tell_lost(capture, state->slots.items[i], 0);
}

static const char *cpus_description(const struct capture *capture)
{
	bool filtered = false;

	for (size_t i = 0; i < capture->config.event_count; i++)
		filtered |= capture->samplers[i] != NULL;
	return filtered ? "an event per CPU, filtered by BPF"
			       : "an event per CPU, filtered by thread";
}

const struct capture_engine capture_cpus_engine = {
	.cost = cpus_cost,
	.create = cpus_create,
	.destroy = cpus_destroy,
	.add_thread = cpus_add,
	.remove_thread = cpus_remove,
	.enable = cpus_enable,
	.disable = cpus_disable,
	.set_rate = cpus_set_rate,
	.drain = cpus_drain,
	.finish = cpus_finish,
	.description = cpus_description,
};
