/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and processes over time. The rules are perf's (tools/perf/util/thread.c and machine.c): a
 * forked thread gets its parent's name and, if it is another process, a copy of its mappings; a
 * COMM record names it from then on; samples before a thread's first COMM record are reported under
 * that later name (comm__override()). An exec keeps the old mappings until the new ones cover them:
 * a sample in the middle of it still has the old program's user addresses.
 */
#include "session/timeline.h"

#include "base/search.h"

void timeline_init(struct timeline *timeline, struct arena *arena, uint32_t *space_numbers)
{
	*timeline = (struct timeline){ .arena = arena, .space_numbers = space_numbers };
	map_init(&timeline->by_tid);
	map_init(&timeline->by_pid);
}

void timeline_deinit(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->threads.count; i++)
		vector_deinit(&timeline->threads.items[i].comms);
	for (size_t i = 0; i < timeline->processes.count; i++) {
		struct timeline_process *process = &timeline->processes.items[i];

		for (size_t j = 0; j < process->spaces.count; j++)
			space_deinit(process->spaces.items[j].space);
		vector_deinit(&process->spaces);
	}
	vector_deinit(&timeline->threads);
	vector_deinit(&timeline->processes);
	map_deinit(&timeline->by_tid);
	map_deinit(&timeline->by_pid);
}

static struct timeline_thread *thread_of(struct timeline *timeline, uint32_t tid)
{
	bool added;
	uint64_t *place = map_insert(&timeline->by_tid, tid, &added);

	if (added) {
		*place = timeline->threads.count;
		vector_append(&timeline->threads, (struct timeline_thread){ 0 });
	}
	return &timeline->threads.items[*place];
}

static struct timeline_process *process_of(struct timeline *timeline, uint32_t pid)
{
	bool added;
	uint64_t *place = map_insert(&timeline->by_pid, pid, &added);

	if (added) {
		*place = timeline->processes.count;
		vector_append(&timeline->processes, (struct timeline_process){ 0 });
	}
	return &timeline->processes.items[*place];
}

/* The current space of PID, NULL if it has none. */
static struct space *current_space(const struct timeline *timeline, uint32_t pid)
{
	const uint64_t *place = map_find(&timeline->by_pid, pid);
	const struct timeline_process *process;

	if (!place)
		return NULL;
	process = &timeline->processes.items[*place];
	return process->spaces.count ? process->spaces.items[process->spaces.count - 1].space
				     : NULL;
}

static uint32_t current_comm(const struct timeline *timeline, uint32_t tid)
{
	const uint64_t *place = map_find(&timeline->by_tid, tid);
	const struct timeline_thread *thread;

	if (!place)
		return TIMELINE_NO_COMM;
	thread = &timeline->threads.items[*place];
	return thread->comms.count ? thread->comms.items[thread->comms.count - 1].comm
				   : TIMELINE_NO_COMM;
}

static struct space *start_space(struct timeline *timeline, uint32_t pid, uint64_t time)
{
	struct timeline_process *process = process_of(timeline, pid);
	struct space *space = arena_alloc(timeline->arena, sizeof(*space));

	space_init(space, (*timeline->space_numbers)++);
	vector_append(&process->spaces, (struct timeline_space){ .from = time, .space = space });
	process->seen = time;
	return space;
}

void timeline_add_comm(struct timeline *timeline, uint32_t tid, uint32_t comm, uint64_t time)
{
	struct timeline_thread *thread = thread_of(timeline, tid);

	vector_append(&thread->comms, (struct timeline_comm){ .from = time, .comm = comm });
	thread->seen = time;
}

void timeline_add_fork(struct timeline *timeline, const struct timeline_fork *fork, uint64_t time)
{
	uint32_t comm = current_comm(timeline, fork->parent_tid);
	struct timeline_thread *thread = thread_of(timeline, fork->tid);
	struct space *parent, *space;

	vector_append(&thread->comms,
		      (struct timeline_comm){ .from = time, .comm = comm, .birth = true });
	thread->seen = time;
	if (fork->pid == fork->parent_pid)
		return;
	parent = current_space(timeline, fork->parent_pid);
	space = start_space(timeline, fork->pid, time);
	if (parent && !fork->synthesized)
		space_fork(space, parent, time);
}

void timeline_add_mapping(struct timeline *timeline, uint32_t pid,
			  const struct space_mapping *mapping)
{
	struct space *space = current_space(timeline, pid);

	space_add(space ? space : start_space(timeline, pid, mapping->from), mapping);
}

static void narrow(struct timeline_span *span, uint64_t from, uint64_t until)
{
	span->from = from > span->from ? from : span->from;
	span->until = until < span->until ? until : span->until;
}

static void find_comm(const struct timeline_thread *thread, uint64_t time,
		      struct timeline_span *span)
{
	const struct timeline_comm *items = thread->comms.items;
	size_t place = SEARCH_COUNT(i, thread->comms.count, items[i].from <= time);

	if (place > 0)
		span->comm = items[place - 1].comm;
	span->final_comm = span->comm;
	if (span->comm == TIMELINE_NO_COMM && place < thread->comms.count && !items[place].birth)
		span->final_comm = items[place].comm;
	narrow(span, place > 0 ? items[place - 1].from : 0,
	       place < thread->comms.count ? items[place].from : SPACE_FOREVER);
}

static void find_space(const struct timeline_process *process, uint64_t time,
		       struct timeline_span *span)
{
	const struct timeline_space *items = process->spaces.items;
	size_t place = SEARCH_COUNT(i, process->spaces.count, items[i].from <= time);

	if (place > 0)
		span->space = items[place - 1].space;
	narrow(span, place > 0 ? items[place - 1].from : 0,
	       place < process->spaces.count ? items[place].from : SPACE_FOREVER);
}

struct timeline_span timeline_find(const struct timeline *timeline, uint32_t pid, uint32_t tid,
				   uint64_t time)
{
	struct timeline_span span = { .comm = TIMELINE_NO_COMM, .final_comm = TIMELINE_NO_COMM,
				      .until = SPACE_FOREVER };
	const uint64_t *place = map_find(&timeline->by_tid, tid);

	if (place) {
		find_comm(&timeline->threads.items[*place], time, &span);
		if (timeline->marks)
			timeline->threads.items[*place].seen = time;
	}
	place = map_find(&timeline->by_pid, pid);
	if (place) {
		find_space(&timeline->processes.items[*place], time, &span);
		if (timeline->marks)
			timeline->processes.items[*place].seen = time;
	}
	return span;
}
