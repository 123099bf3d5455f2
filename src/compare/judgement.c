/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/judgement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void judgement_init(struct judgement *judgement, size_t side_count)
{
	*judgement = (struct judgement){ .side_count = side_count };
}

void judgement_deinit(struct judgement *judgement)
{
	vector_deinit(&judgement->cells);
	vector_deinit(&judgement->pieces);
}

struct comparison_cell *judgement_row(const struct judgement *judgement, size_t row)
{
	return &judgement->cells.items[row * judgement->side_count];
}

void judgement_begin_side(struct judgement *judgement, size_t number, uint64_t first_ns,
			  uint64_t quantum_ns)
{
	judgement->side = number;
	judgement->first_ns = first_ns;
	judgement->quantum_ns = quantum_ns;
	judgement->pieces.count = 0;
	judgement->time = NULL;
	memset(judgement->whole, 0, sizeof(judgement->whole));
}

void judgement_begin_time(struct judgement *judgement, size_t number,
			  const struct judgement_time *time, uint64_t quantum_ns)
{
	judgement_begin_side(judgement, number, time->first_ns, quantum_ns);
	judgement->time = time;
	memcpy(judgement->whole, time->blocks_ns, sizeof(judgement->whole));
}

static uint32_t block_of(const struct judgement *judgement, uint64_t time_ns)
{
	if (!judgement->quantum_ns)
		return 0;
	return (time_ns - judgement->first_ns) / judgement->quantum_ns % COMPARISON_MAX_BLOCKS;
}

void judgement_add_samples(struct judgement *judgement, uint64_t time_ns, uint64_t period)
{
	if (!judgement->time)
		judgement->whole[block_of(judgement, time_ns)] += period;
}

/* Cells of rows up to COUNT, exclusive, exist. */
static void make_rows(struct judgement *judgement, size_t count)
{
	while (judgement->cells.count < count * judgement->side_count)
		vector_append(&judgement->cells, (struct comparison_cell){ .period = 0 });
}

void judgement_add(struct judgement *judgement, uint32_t row, uint64_t time_ns, uint64_t period,
		   uint64_t count)
{
	struct comparison_cell *cell;

	make_rows(judgement, row + 1ULL);
	cell = judgement_row(judgement, row) + judgement->side;
	cell->period += period;
	cell->count += count;
	if (judgement->quantum_ns)
		vector_append(&judgement->pieces,
			      (struct comparison_piece){ .row = row,
							 .block = block_of(judgement, time_ns),
							 .period = period });
}

/* The side's pieces by row; the caller frees the array. *RET_STARTS: where each row's begin. */
static const struct comparison_piece **order_pieces(const struct judgement *judgement, size_t rows,
						    size_t **ret_starts)
{
	size_t *ends = memory_calloc(rows + 1, sizeof(*ends));
	const struct comparison_piece **ordered =
		memory_alloc((judgement->pieces.count + 1) * sizeof(*ordered));

	for (size_t i = 0; i < judgement->pieces.count; i++)
		ends[judgement->pieces.items[i].row]++;
	for (size_t i = 1; i <= rows; i++)
		ends[i] += ends[i - 1];
	for (size_t i = judgement->pieces.count; i-- > 0;)
		ordered[--ends[judgement->pieces.items[i].row]] = &judgement->pieces.items[i];
	*ret_starts = ends;
	return ordered;
}

/* Sums COUNT pieces of one row by block; returns how many blocks there are. */
static size_t sum_blocks(const struct comparison_piece *const *pieces, size_t count,
			 struct share_block *ret)
{
	double sums[COMPARISON_MAX_BLOCKS] = { 0 };
	bool met[COMPARISON_MAX_BLOCKS] = { false };
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		sums[pieces[i]->block] += pieces[i]->period;
		met[pieces[i]->block] = true;
	}
	for (uint32_t i = 0; i < COMPARISON_MAX_BLOCKS; i++)
		if (met[i])
			ret[used++] = (struct share_block){ .block = i, .period = sums[i] };
	return used;
}

/* Finds how far the side's rows scatter; its pieces are complete. */
static void measure_scatter(struct judgement *judgement)
{
	size_t rows = judgement->cells.count / judgement->side_count;
	_cleanup_free_ size_t *starts = NULL;
	_cleanup_free_ const struct comparison_piece **ordered =
		order_pieces(judgement, rows, &starts);

	for (uint32_t row = 0; row < rows; row++) {
		struct share_evidence *evidence =
			&judgement_row(judgement, row)[judgement->side].evidence;
		struct share_block blocks[COMPARISON_MAX_BLOCKS];
		size_t used;

		if (starts[row] == starts[row + 1])
			continue;
		used = sum_blocks(&ordered[starts[row]], starts[row + 1] - starts[row], blocks);
		evidence->scatter = share_scatter(blocks, used, judgement->whole,
						  COMPARISON_MAX_BLOCKS, &evidence->blocks);
	}
}

void judgement_end_side(struct judgement *judgement, uint64_t total_samples,
			uint64_t total_period)
{
	struct judgement_total *total = &judgement->totals[judgement->side];

	*total = (struct judgement_total){ .samples = total_samples, .period = total_period };
	if (judgement->time) {
		double per_sample = total_samples ? (double)total_period / total_samples : 0;

		total->of_time = true;
		total->period = judgement->time->span_ns;
		total->samples = per_sample > 0 ? total->period / per_sample : 0;
	}
	measure_scatter(judgement);
}

/* Rows that only other sides have share the side's number of blocks. */
static void set_shares(struct judgement *judgement, size_t number)
{
	const struct judgement_total *total = &judgement->totals[number];
	struct comparison_cell *cells = judgement->cells.items;
	size_t blocks = 0;

	for (size_t i = number; i < judgement->cells.count; i += judgement->side_count)
		if (cells[i].evidence.blocks > blocks)
			blocks = cells[i].evidence.blocks;
	for (size_t i = number; i < judgement->cells.count; i += judgement->side_count) {
		cells[i].evidence.blocks = blocks;
		cells[i].evidence.count = cells[i].count;
		cells[i].evidence.all = total->samples;
		cells[i].evidence.of_time = total->of_time;
		cells[i].evidence.share =
			total->period ? (double)cells[i].period / total->period : 0;
	}
}

/* Judges the differences of side NUMBER from the first. */
static void judge_side(struct judgement *judgement, size_t count, size_t number)
{
	_cleanup_free_ double *p = memory_calloc(count + 1, sizeof(*p));
	_cleanup_free_ bool *certain = memory_calloc(count + 1, sizeof(*certain));

	for (size_t i = 0; i < count; i++) {
		struct comparison_cell *cells = judgement_row(judgement, i);

		cells[number].judged = cells->count + cells[number].count >= SHARE_MIN_SAMPLES;
		p[i] = INFINITY;
		if (cells[number].judged) {
			cells[number].difference =
				share_compare(&cells->evidence, &cells[number].evidence);
			p[i] = cells[number].difference.p;
		} else {
			cells[number].difference.delta =
				cells[number].evidence.share - cells->evidence.share;
		}
	}
	share_judge(p, count, COMPARISON_ALPHA, certain);
	for (size_t i = 0; i < count; i++)
		judgement_row(judgement, i)[number].certain = certain[i];
}

void judgement_decide(struct judgement *judgement, size_t row_count)
{
	make_rows(judgement, row_count);
	for (size_t i = 0; i < judgement->side_count; i++)
		set_shares(judgement, i);
	for (size_t i = 1; i < judgement->side_count; i++)
		judge_side(judgement, row_count, i);
}
