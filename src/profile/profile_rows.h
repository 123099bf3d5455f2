/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns counted cells into the rows of a profile. Part of profile.c. */
#ifndef PROFILE_PROFILE_ROWS_H
#define PROFILE_PROFILE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/chains.h"
#include "profile/groups.h"
#include "profile/identity.h"
#include "profile/profile.h"

struct profile_cell {
	uint64_t key; /* group << 32 | location; 0: empty, groups start at 1 */
	uint64_t period, count;
	uint32_t slice; /* if times are apart: its newest slice + 1 */
	uint32_t row;	/* scratch memory of profile_rows.c: the row that the cell is in */
};

/* The part of a cell that was taken in one quantum of time, or in a part of it. */
struct profile_cell_slice {
	uint64_t cell; /* its key; when counting is over, its index */
	uint64_t time_ns; /* when the quantum began */
	uint64_t period, count;
};

/*
 * A sample without a chain, or whose chain begins elsewhere: perf's precise events, or chains of
 * user code.
 */
struct profile_stray {
	uint32_t group, location; /* location: of its address */
	uint32_t cell;		  /* of its chain, in chains */
	uint64_t period;
};

/* A sample, where each of them is wanted. */
struct profile_moment {
	uint64_t time_ns, period;
	uint32_t cell; /* of the chains */
	uint16_t cpumode;
};

struct profile_counts {
	struct groups *groups;
	struct profile_cell *cells; /* of samples that are not counted in chains */
	size_t cell_count;
	const struct profile_cell_slice *slices; /* of the cells, if times are apart */
	size_t slice_count;
	const struct chains *chains; /* NULL: none were counted */
	struct identities *functions; /* of their frames: by the keys, and by symbol */
	bool rows, children;	     /* what is wanted */
	const struct profile_stray *strays;
	size_t stray_count;
	const struct profile_moment *samples; /* if each is wanted */
	size_t sample_count;
};

/* Fills the events of PROFILE, and its call tree, from COUNTS. */
void profile_rows_build(struct profile *profile, const struct profile_options *options,
			const struct profile_counts *counts);

/* Sorts the rows of EVENT (profile_sort.c). */
void profile_rows_sort(struct profile *profile, const struct profile_options *options,
		       struct profile_event *event);

#endif
