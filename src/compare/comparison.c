/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/comparison.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "compare/function_name.h"

#define KEY_MAX_BYTES ((size_t)1 << 20)
#define MAX_BLOCKS (2 * COMPARISON_BLOCKS) /* a recording's times may be out of its span */

/* Part of a row's samples of one side, in one block of time. */
struct piece {
	uint32_t row, block;
	uint64_t period;
};

struct builder {
	struct comparison *comparison;
	bool levels; /* host and guest are told apart, because some side has both */
	struct intern *texts; /* what rows are matched by; the number is the row's, from 1 on */
	struct buffer text;
	VECTOR(struct piece) pieces; /* of the current side */
};

static bool is_guest(const struct profile_row *row)
{
	uint16_t mode = row->cpumode & ~CPUMODE_GUESSED;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

static bool is_kernel(const struct profile_row *row)
{
	uint16_t mode = row->cpumode & ~CPUMODE_GUESSED;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_KERNEL;
}

/* Whether a side has both rows of guests and of the host. */
static bool has_both_levels(const struct comparison_side *side)
{
	bool host = false, guest = false;

	for (size_t i = 0; side->event && i < side->event->rows.count && !(host && guest); i++) {
		bool here = is_guest(&side->event->rows.items[i]);

		host |= !here;
		guest |= here;
	}
	return host && guest;
}


/* With its terminator, so that no two lists of texts are the same bytes. */
static void append_text(struct buffer *out, const char *text)
{
	buffer_append(out, text, strlen(text) + 1);
}

static void append_symbol(struct builder *builder, const struct profile *profile,
			  const struct profile_row *row)
{
	const char *name = resolver_symbol_name(profile->resolver, row->location);

	buffer_append_u64(&builder->text, is_kernel(row));
	buffer_append_u8(&builder->text, !!name);
	if (name)
		buffer_append(&builder->text, name, function_name_length(name));
	buffer_append_u8(&builder->text, 0);
}

/* What KEY shows of ROW, by which it is the same in another profile. */
static void append_key(struct builder *builder, const struct profile *profile,
		       const struct profile_row *row, enum profile_key key)
{
	struct buffer *out = &builder->text;
	const struct intern *strings = profile->session->strings;

	switch (key) {
	case PROFILE_VM:
		append_text(out, row->vm ? row->vm->name : "");
		break;
	case PROFILE_VCPU:
		buffer_append_u64(out, row->vcpu);
		break;
	case PROFILE_COMM:
		buffer_append_u64(out, row->comm == TIMELINE_NO_COMM ? row->tid : 0);
		append_text(out, row->comm == TIMELINE_NO_COMM ? ""
							       : intern_string(strings, row->comm));
		break;
	case PROFILE_PID:
		buffer_append_u64(out, row->pid);
		break;
	case PROFILE_TID:
		buffer_append_u64(out, row->tid);
		break;
	case PROFILE_GUEST_COMM:
		append_text(out, profile_guest_comm(profile, row));
		break;
	case PROFILE_GUEST_PID:
		buffer_append_u64(out, row->guest_pid);
		break;
	case PROFILE_DSO:
		append_text(out, module_name(intern_string(strings, row->dso)));
		break;
	case PROFILE_MODE:
		buffer_append_u64(out, is_kernel(row));
		break;
	case PROFILE_CPU:
		buffer_append_u64(out, row->cpu);
		break;
	case PROFILE_SYMBOL:
		append_symbol(builder, profile, row);
		break;
	case PROFILE_SOURCE:
		append_text(out, intern_string(strings, resolver_location(profile->resolver,
									  row->location)->source));
		break;
	default: /* times and texts of samples are not compared */
		break;
	}
}

/* The number of the row that stands for ROW of side SIDE, which is added if it is new. */
static uint32_t find_row(struct builder *builder, size_t side, const struct profile_row *row)
{
	struct comparison *comparison = builder->comparison;
	const struct profile *profile = comparison->sides[side].profile;
	uint32_t number;

	buffer_clear(&builder->text);
	buffer_append_u8(&builder->text, builder->levels && is_guest(row));
	for (size_t i = 0; i < comparison->keys.count; i++)
		append_key(builder, profile, row, comparison->keys.items[i]);
	number = intern_bytes(builder->texts, (const char *)builder->text.data,
			      builder->text.size) - 1; /* 0 is the empty text */
	if (number == comparison->rows.count)
		vector_append(&comparison->rows, (struct comparison_row){ .shown_side = side,
									  .shown = row });
	return number;
}

static uint32_t block_of(const struct comparison_side *side, uint64_t first,
			 const struct profile_row *row)
{
	return side->quantum_ns ? (row->time_ns - first) / side->quantum_ns % MAX_BLOCKS : 0;
}

static uint64_t first_time(const struct comparison_side *side)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; side->event && i < side->event->rows.count; i++)
		if (side->event->rows.items[i].time_ns < first)
			first = side->event->rows.items[i].time_ns;
	return first;
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

/* Finds how far the side's rows scatter; its pieces are complete. */
static void measure_scatter(struct builder *builder, size_t side, const double *whole)
{
	const struct comparison *comparison = builder->comparison;
	size_t count = builder->pieces.count, at = 0;

	qsort(builder->pieces.items, count, sizeof(*builder->pieces.items), compare_pieces);
	while (at < count) {
		uint32_t row = builder->pieces.items[at].row;
		struct share_block blocks[MAX_BLOCKS];
		struct share_evidence *evidence =
			&comparison->cells.items[row * comparison->side_count + side].evidence;
		size_t used = 0;

		for (; at < count && builder->pieces.items[at].row == row; at++) {
			const struct piece *piece = &builder->pieces.items[at];

			if (!used || blocks[used - 1].block != piece->block)
				blocks[used++] = (struct share_block){ .block = piece->block };
			blocks[used - 1].period += piece->period;
		}
		evidence->scatter =
			share_scatter(blocks, used, whole, MAX_BLOCKS, &evidence->blocks);
	}
}

static void add_side(struct builder *builder, size_t number)
{
	const struct comparison *comparison = builder->comparison;
	const struct comparison_side *side = &comparison->sides[number];
	uint64_t first = first_time(side);
	double whole[MAX_BLOCKS] = { 0 };

	builder->pieces.count = 0;
	for (size_t i = 0; side->event && i < side->event->rows.count; i++) {
		const struct profile_row *row = &side->event->rows.items[i];
		uint32_t place, block = block_of(side, first, row);
		struct comparison_cell *cell;

		if (!row->count)
			continue;
		place = find_row(builder, number, row);
		while (comparison->cells.count < comparison->rows.count * comparison->side_count)
			vector_append(&builder->comparison->cells,
				      (struct comparison_cell){ .period = 0 });
		cell = &comparison->cells.items[place * comparison->side_count + number];
		cell->period += row->period;
		cell->count += row->count;
		whole[block] += row->period;
		vector_append(&builder->pieces, (struct piece){ .row = place, .block = block,
								.period = row->period });
	}
	if (side->quantum_ns)
		measure_scatter(builder, number, whole);
}

/* Rows that only the other side has share its number of blocks. */
static void set_shares(struct comparison *comparison, size_t number)
{
	const struct profile_event *event = comparison->sides[number].event;
	size_t blocks = 0;

	for (size_t i = number; i < comparison->cells.count; i += comparison->side_count)
		if (comparison->cells.items[i].evidence.blocks > blocks)
			blocks = comparison->cells.items[i].evidence.blocks;
	for (size_t i = number; i < comparison->cells.count; i += comparison->side_count) {
		struct comparison_cell *cell = &comparison->cells.items[i];

		cell->evidence.blocks = blocks;
		cell->evidence.count = cell->count;
		cell->evidence.all = event ? event->total_samples : 0;
		cell->evidence.share = event && event->total_period
					       ? (double)cell->period / event->total_period
					       : 0;
	}
}

/* Judges the differences of side NUMBER from the first. */
static void judge_side(struct comparison *comparison, size_t number)
{
	size_t count = comparison->rows.count;
	_cleanup_free_ double *p = memory_calloc(count + 1, sizeof(*p));
	_cleanup_free_ bool *certain = memory_calloc(count + 1, sizeof(*certain));

	for (size_t i = 0; i < count; i++) {
		struct comparison_cell *cells = comparison->rows.items[i].cells;

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
		comparison->rows.items[i].cells[number].certain = certain[i];
}

void comparison_init(struct comparison *comparison, const struct comparison_side *sides,
		     size_t side_count, const struct profile_keys *keys)
{
	struct builder builder = { .comparison = comparison };

	*comparison = (struct comparison){ .sides = sides,
					   .side_count = side_count,
					   .keys = *keys };
	builder.texts = intern_create();
	buffer_init(&builder.text, KEY_MAX_BYTES);
	for (size_t i = 0; i < side_count; i++)
		builder.levels |= has_both_levels(&sides[i]);
	for (size_t i = 0; i < side_count; i++)
		add_side(&builder, i);
	for (size_t i = 0; i < comparison->rows.count; i++)
		comparison->rows.items[i].cells = &comparison->cells.items[i * side_count];
	for (size_t i = 0; i < side_count; i++)
		set_shares(comparison, i);
	for (size_t i = 1; i < side_count; i++)
		judge_side(comparison, i);
	vector_deinit(&builder.pieces);
	buffer_deinit(&builder.text);
	intern_destroy(builder.texts);
}

void comparison_deinit(struct comparison *comparison)
{
	vector_deinit(&comparison->rows);
	vector_deinit(&comparison->cells);
}

bool comparison_value(const struct comparison_row *row, size_t side,
		      const struct comparison_order *order, double *ret)
{
	const struct comparison_cell *first = row->cells, *cell = &row->cells[side];
	bool both = first->count && cell->count;

	switch (order->method) {
	case COMPARISON_DELTA:
	case COMPARISON_DELTA_ABS:
		*ret = cell->difference.delta;
		return first->count || cell->count;
	case COMPARISON_RATIO:
		*ret = both ? (double)cell->period / first->period : 0;
		return both && first->period;
	case COMPARISON_WDIFF:
		*ret = cell->period * order->second_weight - first->period * order->first_weight;
		return both;
	}
	return false;
}

/* What a row is sorted by: those without a value come last. */
static double rank(const struct comparison_row *row, const struct comparison_order *order)
{
	double value;

	if (!order->side)
		return row->cells->evidence.share;
	if (!comparison_value(row, order->side, order, &value))
		return -INFINITY;
	return order->method == COMPARISON_DELTA_ABS ? fabs(value) : value;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct comparison_row *a = left, *b = right;
	double first = rank(a, context), second = rank(b, context);

	if (first != second)
		return first > second ? -1 : 1;
	if (a->cells->period != b->cells->period)
		return a->cells->period > b->cells->period ? -1 : 1;
	return (a->cells > b->cells) - (a->cells < b->cells); /* as they were met */
}

void comparison_sort(struct comparison *comparison, const struct comparison_order *order)
{
	struct comparison_order copy = *order;

	qsort_r(comparison->rows.items, comparison->rows.count, sizeof(*comparison->rows.items),
		compare_rows, &copy);
}
