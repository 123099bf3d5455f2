/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of an event as they were taken, by thread: what formats with times are written from.
 * A vCPU is one thread, whatever runs in its guest; the guest's process is then the outermost
 * element of a stack.
 */
#ifndef EXPORT_TRACKS_H
#define EXPORT_TRACKS_H

#include <stdint.h>

#include "export/stack_walk.h"

#define TRACKS_NONE UINT32_MAX

struct track {
	const struct profile_row *owner; /* VM, vCPU, and of the host the rest */
	uint32_t pid;                    /* on the host: of a vCPU the VMM's */
	/* on the host, and unique in the process; the vCPU's number if its thread is not known */
	uint32_t tid;
	size_t first, count; /* of its samples; at least one */
};

/* An element of a stack. */
struct track_stack {
	uint32_t above; /* its caller, lower than itself; TRACKS_NONE: it is the outermost */
	uint32_t frame; /* of the profile's tree; TRACKS_NONE: a guest's process … */
	const struct profile_row *process; /* … which is this one's */
};

struct tracks {
	const struct export_input *input;
	/* The host's, by pid and tid, then each VM's, by vCPU. */
	VECTOR(struct track) list;
	struct profile_sample *samples; /* by thread, and then by time */
	/* Of the current one: */
	VECTOR(struct track_stack) stacks;
	uint32_t *places;      /* for each node of the tree, its stack; TRACKS_NONE: none yet */
	VECTOR(uint32_t) path; /* of nodes that are to be placed */
};

/* INPUT's profile must have listed its samples. */
void tracks_init(struct tracks *tracks, const struct export_input *input);
void tracks_deinit(struct tracks *tracks);

/* Lists the stacks of TRACK's samples, instead of those of another one. */
void tracks_take(struct tracks *tracks, const struct track *track);
/* The stack of a sample of that one; TRACKS_NONE: it has none. */
uint32_t tracks_stack_of(const struct tracks *tracks, const struct profile_sample *sample);

/* Appends "vCPU 1", or the thread's name, or ":TID". */
void track_append_thread(struct buffer *out, const struct export_input *input,
			 const struct track *track);
/* Appends the VM's name, or the host's thread's. */
void track_append_process(struct buffer *out, const struct export_input *input,
			  const struct track *track);
/* Appends the name of STACK's function, or of the process with its pid. */
void track_append_stack(struct buffer *out, const struct export_input *input,
			const struct track_stack *stack);

#endif
