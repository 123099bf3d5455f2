/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What calls the same functions in both profiles is the same, as in compare/comparison.h: whatever
 * the kernel and the build; and host and guest, if one profile has samples of the host alone and
 * the other of guests alone.
 */
#include "output/stacks_diff.h"

#include <stdlib.h>

#include "base/map.h"
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

struct function_numbers {
	struct stacks_diff *diff;
	struct map numbers; /* hash of name, dso and kind -> number + 1 */
	uint32_t *known; /* of each node, + 1; 0: not known yet */
};

/* The number of the function of NODE, added if it is new. */
static uint32_t number_function(struct function_numbers *functions, uint32_t node)
{
	const struct stack_node *nodes = functions->diff->stacks->nodes.items, *at = &nodes[node];
	const uint32_t key[] = { at->name, at->dso, at->kind };
	uint64_t hash = hash_bytes_seeded(functions->numbers.seed, key, sizeof(key));

	while (!functions->known[node]) {
		uint64_t *number = map_insert(&functions->numbers, hash, NULL);

		if (!*number) {
			vector_append(&functions->diff->functions, node);
			*number = functions->diff->functions.count;
		}
		if (stacks_is_same_function(&nodes[functions->diff->functions.items[*number - 1]],
					    at))
			functions->known[node] = *number;
		hash = hash_u64(hash + 1);
	}
	return functions->known[node] - 1;
}

static void begin_side(struct judgement *judgement, size_t number,
		       const struct stacks_diff_side *side)
{
	judgement_begin_side(judgement, number, first_time(&side->source), side->quantum_ns);
}

/* Counts the samples of SIDE, whose nodes are at PLACES. */
static void add_side(struct function_numbers *functions, size_t number,
		     const struct stacks_diff_side *side, const uint32_t *places)
{
	struct judgement *judgement = &functions->diff->judgement;
	struct judgement *by_function = &functions->diff->functions_judgement;
	const struct calltree *tree = side->source.profile->tree;
	const struct profile_event *event = &side->source.profile->events[side->source.event];
	uint64_t time_ns = 0;

	begin_side(judgement, number, side);
	begin_side(by_function, number, side);
	for (size_t i = 0; i < tree->nodes.count; i++) {
		const struct calltree_node *node = &tree->nodes.items[i];

		if (places[i] == STACK_NONE)
			continue;
		if (node->parent == CALLTREE_NONE) {
			time_ns = tree->roots.items[node->frame].row.time_ns;
			judgement_add_samples(judgement, time_ns, node->period);
			judgement_add_samples(by_function, time_ns, node->period);
		}
		judgement_add(judgement, places[i], time_ns, node->period, node->count);
		if (node->self_count)
			judgement_add(by_function, number_function(functions, places[i]), time_ns,
				      node->self_period, node->self_count);
	}
	judgement_end_side(judgement, event->total_samples, event->total_period);
	judgement_end_side(by_function, event->total_samples, event->total_period);
}

static void judge(struct stacks_diff *diff, const struct stacks_diff_side sides[2],
		  uint32_t *const places[2])
{
	struct function_numbers functions = { .diff = diff };

	map_init(&functions.numbers);
	functions.known = memory_calloc(diff->stacks->nodes.count, sizeof(*functions.known));
	judgement_init(&diff->judgement, 2);
	judgement_init(&diff->functions_judgement, 2);
	for (size_t i = 0; i < 2; i++)
		add_side(&functions, i, &sides[i], places[i]);
	judgement_decide(&diff->judgement, diff->stacks->nodes.count);
	judgement_decide(&diff->functions_judgement, diff->functions.count);
	map_deinit(&functions.numbers);
	free(functions.known);
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
	judge(diff, sides, places);
	free(places[0]);
	free(places[1]);
}

void stacks_diff_deinit(struct stacks_diff *diff)
{
	judgement_deinit(&diff->judgement);
	judgement_deinit(&diff->functions_judgement);
	vector_deinit(&diff->functions);
	stacks_destroy(diff->stacks);
	free(diff->base);
}
