/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows in perf's order (hist_entry__sort() in tools/perf/ui/hist.c): by period (by
 * children, where chains were counted; callers above whom they call), the highest first, ties by
 * the keys in their order, as text. Most rows of a large profile are ties of a
 * single sample: what they are compared by is put side by side first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/profile_rows.h"

struct sortable {
	uint64_t period, address;
	const char *vm, *comm, *guest_comm, *dso, *symbol; /* NULL: no key, or no symbol */
	const struct profile_row *row;
};

static int compare_numbers(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

/* Ascending, what has no name last. Strings are interned: most that are equal are the same. */
static int compare_texts(const char *left, const char *right)
{
	if (left == right)
		return 0;
	if (!left || !right)
		return !left - !right;
	return strcmp(left, right);
}

static int compare_key(enum profile_key key, const struct sortable *left,
		       const struct sortable *right)
{
	int order;

	switch (key) {
	case PROFILE_VM:
		return compare_texts(left->vm, right->vm);
	case PROFILE_VCPU:
		return compare_numbers(left->row->vcpu, right->row->vcpu);
	case PROFILE_COMM:
		return compare_texts(left->comm, right->comm);
	case PROFILE_PID:
		return compare_numbers(left->row->pid, right->row->pid);
	case PROFILE_GUEST_COMM:
		return compare_texts(left->guest_comm, right->guest_comm);
	case PROFILE_GUEST_PID:
		return compare_numbers(left->row->guest_pid, right->row->guest_pid);
	case PROFILE_DSO:
		return compare_texts(left->dso, right->dso);
	case PROFILE_MODE:
		return compare_numbers(left->row->cpumode, right->row->cpumode);
	case PROFILE_SYMBOL:
		order = compare_texts(left->symbol, right->symbol);
		return order ? order : compare_numbers(left->address, right->address);
	default:
		return 0;
	}
}

static int compare(const void *left, const void *right, void *data)
{
	const struct sortable *a = left, *b = right;
	const struct profile_keys *keys = data;
	int order = compare_numbers(b->row->children, a->row->children);

	if (!order && a->row->children)
		order = compare_numbers(a->row->depth, b->row->depth);
	if (!order)
		order = compare_numbers(b->period, a->period);

	for (size_t i = 0; !order && i < keys->count; i++)
		order = compare_key(keys->items[i], a, b);
	return order ? order : compare_numbers(b->row->count, a->row->count);
}

static const char *comm_of(struct session *session, const struct profile_row *row)
{
	char text[16];

	if (row->comm != TIMELINE_NO_COMM)
		return intern_string(session->strings, row->comm);
	snprintf(text, sizeof(text), ":%d", (int)row->tid);
	return intern_string(session->strings, intern_text(session->strings, text));
}

static void prepare(struct profile *profile, const struct profile_keys *keys,
		    const struct profile_row *row, struct sortable *ret)
{
	*ret = (struct sortable){ .period = row->period, .row = row };
	for (size_t i = 0; i < keys->count; i++) {
		switch (keys->items[i]) {
		case PROFILE_VM:
			ret->vm = row->vm ? row->vm->name : MACHINE_HOST_NAME;
			break;
		case PROFILE_COMM:
			ret->comm = comm_of(profile->session, row);
			break;
		case PROFILE_GUEST_COMM:
			ret->guest_comm = profile_guest_comm(profile, row);
			break;
		case PROFILE_DSO:
			ret->dso = intern_string(profile->session->strings, row->dso);
			break;
		case PROFILE_SYMBOL:
			ret->symbol = resolver_symbol_name(profile->resolver, row->location);
			ret->address =
				resolver_location(profile->resolver, row->location)->address;
			break;
		default:
			break;
		}
	}
}

void profile_rows_sort(struct profile *profile, const struct profile_keys *keys,
		       struct profile_event *event)
{
	size_t count = event->rows.count;
	_cleanup_free_ struct sortable *sortables = memory_calloc(count + 1, sizeof(*sortables));
	struct profile_row *sorted = memory_calloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		prepare(profile, keys, &event->rows.items[i], &sortables[i]);
	qsort_r(sortables, count, sizeof(*sortables), compare, (void *)keys);
	for (size_t i = 0; i < count; i++)
		sorted[i] = *sortables[i].row;
	free(event->rows.items);
	event->rows.items = sorted;
	event->rows.capacity = count + 1;
}
