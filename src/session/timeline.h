/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads and processes of one machine over the time of a recording: the name of a thread, and
 * the address space of its process, at any time. Built from COMM, FORK and MMAP records in order of
 * time; samples are looked up in any order.
 *
 * As in perf, a pid or tid that is forked again is another thread from then on.
 */
#ifndef SESSION_TIMELINE_H
#define SESSION_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vector.h"
#include "session/space.h"

#define TIMELINE_NO_COMM UINT32_MAX

struct timeline_comm {
	uint64_t from;
	uint32_t comm;
	bool birth; /* another thread with the same tid starts here */
};

struct timeline_space {
	uint64_t from;
	struct space *space;
};

/* The names of a tid and the spaces of a pid, in order of time. */
struct timeline_thread {
	VECTOR(struct timeline_comm) comms;
	uint64_t seen; /* when it was last added to or found, in a timeline that marks that */
};

struct timeline_process {
	VECTOR(struct timeline_space) spaces;
	uint64_t seen;
};

struct timeline {
	struct arena *arena;	 /* borrowed; the spaces are allocated there */
	uint32_t *space_numbers; /* borrowed; the session's next unused number */
	VECTOR(struct timeline_thread) threads;
	VECTOR(struct timeline_process) processes;
	struct map by_tid, by_pid; /* -> index in threads or processes */
	bool marks; /* when each was seen; lookups are then for one thread only */
};

void timeline_init(struct timeline *timeline, struct arena *arena, uint32_t *space_numbers);
void timeline_deinit(struct timeline *timeline);

/*
 * Adds records; none may be earlier than the one before. COMM is a number in the session's strings.
 */
void timeline_add_comm(struct timeline *timeline, uint32_t tid, uint32_t comm, uint64_t time);

struct timeline_fork {
	uint32_t pid, tid, parent_pid, parent_tid;
	bool synthesized; /* made up for a thread that was already running: its mappings follow */
};
void timeline_add_fork(struct timeline *timeline, const struct timeline_fork *fork, uint64_t time);
void timeline_add_mapping(struct timeline *timeline, uint32_t pid,
			  const struct space_mapping *mapping);

struct timeline_span {
	uint32_t comm;	      /* the name at that time; TIMELINE_NO_COMM if it was unknown */
	uint32_t final_comm;  /* the same, but the first later name instead of none */
	struct space *space;  /* NULL: the process is unknown */
	uint64_t from, until; /* the result applies to [from, until) */
};

/* Finds PID/TID at TIME. */
struct timeline_span timeline_find(const struct timeline *timeline, uint32_t pid, uint32_t tid,
				   uint64_t time);

#endif
