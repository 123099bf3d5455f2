/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What calls the same functions in both profiles is the same, as in compare/comparison.h: whatever
 * the kernel and the build; and host and guest, if one profile has samples of the host alone and
 * the other of guests alone.
 */
#include "output/stacks_diff.h"

#include <stdlib.h>

#include "base/memory.h"
#include "profile/calltree.h"
#include "session/machine.h"

/* Which of host and guests SOURCE has samples of; STACK_LEVEL_OWN: both, or neither. */
static enum stack_level level_of(const struct stacks_source *source)
{
	const struct calltree *tree = source->profile->tree;
	bool host = false, guest = false;

	for (size_t i = 0; i < tree->frames.count; i++) {
		bool here = cpumode_is_guest(tree->frames.items[i].cpumode & ~CPUMODE_GUESSED);

		host |= !here;
		guest |= here;
	}
	if (host == guest)
		return STACK_LEVEL_OWN;
	return guest ? STACK_LEVEL_GUEST : STACK_LEVEL_HOST;
}

static uint64_t first_time(const struct stacks_source *source)
{
	const struct calltree *tree = source->profile->tree;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < tree->roots.count; i++)
		if (tree->roots.items[i].event == source->event &&
		    tree->roots.items[i].row.time_ns < first)
			first = tree->roots.items[i].row.time_ns;
	return first;
}

/* Counts the samples of SIDE, whose nodes are at PLACES. */
static void add_side(struct judgement *judgement, size_t number,
		     const struct stacks_diff_side *side, const uint32_t *places)
{
	const struct calltree *tree = side->source.profile->tree;
	const struct profile_event *event = &side->source.profile->events[side->source.event];
	uint64_t time_ns = 0;

	judgement_begin_side(judgement, number, first_time(&side->source), side->quantum_ns);
	for (size_t i = 0; i < tree->nodes.count; i++) {
		const struct calltree_node *node = &tree->nodes.items[i];

		if (places[i] == STACK_NONE)
			continue;
		if (node->parent == CALLTREE_NONE) {
			time_ns = tree->roots.items[node->frame].row.time_ns;
			judgement_add_samples(judgement, time_ns, node->period);
		}
		judgement_add(judgement, places[i], time_ns, node->period, node->count);
	}
	judgement_end_side(judgement, event->total_samples, event->total_period);
}

void stacks_diff_init(struct stacks_diff *diff, const struct stacks_diff_side sides[2])
{
	const struct stacks_source sources[] = { sides[0].source, sides[1].source };
	enum stack_level first = level_of(&sources[0]), second = level_of(&sources[1]);
	struct stacks_options options = { .any_build = true };
	const struct calltree *tree = sources[0].profile->tree;
	uint32_t *places[2];

	if (first != STACK_LEVEL_OWN && second != STACK_LEVEL_OWN)
		options.level = second;
	*diff = (struct stacks_diff){ .stacks = stacks_create_common(sources, 2, &options,
								     places) };
	diff->base = memory_calloc(diff->stacks->nodes.count, sizeof(*diff->base));
	for (size_t i = 0; i < tree->nodes.count; i++) {
		if (places[0][i] == STACK_NONE)
			continue;
		diff->base[places[0][i]].period += tree->nodes.items[i].self_period;
		diff->base[places[0][i]].count += tree->nodes.items[i].self_count;
	}
	judgement_init(&diff->judgement, 2);
	for (size_t i = 0; i < 2; i++)
		add_side(&diff->judgement, i, &sides[i], places[i]);
	judgement_decide(&diff->judgement, diff->stacks->nodes.count);
	free(places[0]);
	free(places[1]);
}

void stacks_diff_deinit(struct stacks_diff *diff)
{
	judgement_deinit(&diff->judgement);
	stacks_destroy(diff->stacks);
	free(diff->base);
}
