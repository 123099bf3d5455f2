/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of several sides (recordings, or VMs of one), counted by blocks of time, and which of them
 * differ from those of the first side by more than chance.
 */
#ifndef COMPARE_JUDGEMENT_H
#define COMPARE_JUDGEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "compare/significance.h"

/*
 * The time of a recording is cut into about this many blocks, to see how much shares scatter. More
 * would be shorter than bursts; fewer say less.
 */
#define COMPARISON_BLOCKS 40
#define COMPARISON_MAX_BLOCKS (2 * COMPARISON_BLOCKS) /* times may be out of a recording's span */
/* The probability that any difference is called more than chance if there is none. */
#define COMPARISON_ALPHA 0.05
#define COMPARISON_MAX_SIDES 16

/* What one side says of a row. */
struct comparison_cell {
	uint64_t period, count;
	struct share_evidence evidence;
	struct share_difference difference; /* from the first side; not of the first */
	bool judged, certain; /* the difference was judged, and is more than chance */
};

/* Part of a row's samples of one side, in one block of time. */
struct comparison_piece {
	uint32_t row, block;
	uint64_t period;
};

/* The time of a side, if costs per time are compared instead of shares of samples. */
struct judgement_time {
	uint64_t first_ns; /* when the first block began */
	uint64_t span_ns; /* without what filters leave out */
	double blocks_ns[COMPARISON_MAX_BLOCKS]; /* of each block; their sum is the span */
};

struct judgement_total {
	uint64_t samples, period; /* of a side: what shares are of */
	bool of_time;
};

struct judgement {
	size_t side_count, side; /* side: the current one */
	VECTOR(struct comparison_cell) cells; /* of each row one for each side */
	VECTOR(struct comparison_piece) pieces; /* of the current side */
	uint64_t first_ns, quantum_ns;
	const struct judgement_time *time; /* of the current side; NULL: shares are compared */
	struct judgement_total totals[COMPARISON_MAX_SIDES];
	double whole[COMPARISON_MAX_BLOCKS]; /* what shares are of, in each block */
};

void judgement_init(struct judgement *judgement, size_t side_count);
void judgement_deinit(struct judgement *judgement);

/*
 * What follows is of side NUMBER, from FIRST_NS on in blocks of QUANTUM_NS; 0: its samples have no
 * times.
 */
void judgement_begin_side(struct judgement *judgement, size_t number, uint64_t first_ns,
			  uint64_t quantum_ns);
/*
 * The same for a side whose periods are ns: shares are then of TIME, borrowed until the side ends:
 * 1 is a CPU that was busy all the time. All sides must be of one kind.
 */
void judgement_begin_time(struct judgement *judgement, size_t number,
			  const struct judgement_time *time, uint64_t quantum_ns);
/* Samples that were taken in the quantum from TIME_NS on, of whatever row. */
void judgement_add_samples(struct judgement *judgement, uint64_t time_ns, uint64_t period);
/* COUNT of them count for ROW. Rows may overlap, as those of a function and its callers. */
void judgement_add(struct judgement *judgement, uint32_t row, uint64_t time_ns, uint64_t period,
		   uint64_t count);
/* The side is complete; shares are of TOTAL_PERIOD. */
void judgement_end_side(struct judgement *judgement, uint64_t total_samples,
			uint64_t total_period);
/* All sides are complete: ROW_COUNT rows are compared with the first side's. */
void judgement_decide(struct judgement *judgement, size_t row_count);

/* The cells of ROW, one for each side. */
struct comparison_cell *judgement_row(const struct judgement *judgement, size_t row);

#endif
