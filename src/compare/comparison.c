/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/comparison.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "compare/function_name.h"

#define KEY_MAX_BYTES ((size_t)1 << 20)

struct builder {
	struct comparison *comparison;
	bool levels; /* host and guest are told apart, because some side has both */
	struct intern *texts; /* what rows are matched by; the number is the row's, from 1 on */
	struct buffer text;
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

static uint64_t first_time(const struct comparison_side *side)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; side->event && i < side->event->slices.count; i++)
		if (side->event->slices.items[i].time_ns < first)
			first = side->event->slices.items[i].time_ns;
	return first;
}

/* Without times: the rows as a whole. */
static void add_rows(struct judgement *judgement, const struct profile_event *event,
		     const uint32_t *numbers)
{
	for (size_t i = 0; i < event->rows.count; i++) {
		const struct profile_row *row = &event->rows.items[i];

		if (!row->count)
			continue;
		judgement_add_samples(judgement, 0, row->period);
		judgement_add(judgement, numbers[row->number], 0, row->period, row->count);
	}
}

static void add_slices(struct judgement *judgement, const struct profile_event *event,
		       const uint32_t *numbers)
{
	for (size_t i = 0; i < event->slices.count; i++) {
		const struct profile_slice *slice = &event->slices.items[i];

		judgement_add_samples(judgement, slice->time_ns, slice->period);
		judgement_add(judgement, numbers[slice->row], slice->time_ns, slice->period,
			      slice->count);
	}
}

static void add_event(struct builder *builder, size_t side, const struct profile_event *event)
{
	struct comparison *comparison = builder->comparison;
	_cleanup_free_ uint32_t *numbers = memory_calloc(
		comparison->sides[side].profile->row_count + 1, sizeof(*numbers));

	for (size_t i = 0; i < event->rows.count; i++)
		if (event->rows.items[i].count)
			numbers[event->rows.items[i].number] =
				find_row(builder, side, &event->rows.items[i]);
	if (comparison->sides[side].quantum_ns)
		add_slices(&comparison->judgement, event, numbers);
	else
		add_rows(&comparison->judgement, event, numbers);
}

static void add_side(struct builder *builder, size_t number)
{
	const struct comparison_side *side = &builder->comparison->sides[number];
	struct judgement *judgement = &builder->comparison->judgement;
	const struct profile_event *event = side->event;

	if (side->time)
		judgement_begin_time(judgement, number, side->time, side->quantum_ns);
	else
		judgement_begin_side(judgement, number, first_time(side), side->quantum_ns);
	if (event)
		add_event(builder, number, event);
	judgement_end_side(judgement, event ? event->total_samples : 0,
			   event ? event->total_period : 0);
}

void comparison_init(struct comparison *comparison, const struct comparison_side *sides,
		     size_t side_count, const struct profile_keys *keys)
{
	struct builder builder = { .comparison = comparison };

	*comparison = (struct comparison){ .sides = sides,
					   .side_count = side_count,
					   .keys = *keys };
	judgement_init(&comparison->judgement, side_count);
	builder.texts = intern_create();
	buffer_init(&builder.text, KEY_MAX_BYTES);
	for (size_t i = 0; i < side_count; i++)
		builder.levels |= has_both_levels(&sides[i]);
	for (size_t i = 0; i < side_count; i++)
		add_side(&builder, i);
	judgement_decide(&comparison->judgement, comparison->rows.count);
	for (size_t i = 0; i < comparison->rows.count; i++)
		comparison->rows.items[i].cells = judgement_row(&comparison->judgement, i);
	buffer_deinit(&builder.text);
	intern_destroy(builder.texts);
}

void comparison_deinit(struct comparison *comparison)
{
	vector_deinit(&comparison->rows);
	judgement_deinit(&comparison->judgement);
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
		if (both && first->evidence.of_time)
			*ret = cell->evidence.share / first->evidence.share;
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
