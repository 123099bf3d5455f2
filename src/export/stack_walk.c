/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/stack_walk.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static const struct calltree_root *root_of(const struct stack_walk *walk, size_t index)
{
	return &walk->input->profile->tree->roots.items[walk->roots.items[index]];
}

/* The host's roots first, then by the VM's pid and the vCPU, otherwise as they were met. */
static int compare_roots(const void *left, const void *right, void *data)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct calltree_root *roots = data;
	uint64_t first = roots[a].row.vm ? roots[a].row.vm->pid : 0;
	uint64_t second = roots[b].row.vm ? roots[b].row.vm->pid : 0;

	if (first == second) {
		first = roots[a].row.vcpu;
		second = roots[b].row.vcpu;
	}
	if (first == second) {
		first = a;
		second = b;
	}
	return (first > second) - (first < second);
}

void stack_walk_init(struct stack_walk *walk, const struct export_input *input)
{
	const struct calltree *tree = input->profile->tree;

	*walk = (struct stack_walk){ .input = input };
	for (uint32_t i = 0; i < tree->roots.count; i++)
		if (tree->roots.items[i].event == input->event)
			vector_append(&walk->roots, i);
	if (!walk->roots.count)
		return;
	qsort_r(walk->roots.items, walk->roots.count, sizeof(*walk->roots.items), compare_roots,
		tree->roots.items);
	walk->next = root_of(walk, 0)->node;
}

void stack_walk_deinit(struct stack_walk *walk)
{
	vector_deinit(&walk->frames);
	vector_deinit(&walk->roots);
}

/* Sets the frames from the root, exclusive, to NODE. */
static void find_frames(struct stack_walk *walk, uint32_t node)
{
	const struct calltree_node *nodes = walk->input->profile->tree->nodes.items;
	size_t depth = 0;

	for (uint32_t i = node; nodes[i].parent != CALLTREE_NONE; i = nodes[i].parent)
		depth++;
	vector_reserve(&walk->frames, depth + 1);
	walk->frames.count = depth;
	for (uint32_t i = node; nodes[i].parent != CALLTREE_NONE; i = nodes[i].parent)
		walk->frames.items[--depth] = nodes[i].frame;
}

static void take_node(struct stack_walk *walk, uint32_t number, struct export_stack *ret)
{
	const struct calltree *tree = walk->input->profile->tree;
	const struct calltree_node *node = &tree->nodes.items[number];
	const struct profile_row *owner = &root_of(walk, walk->root)->row;

	find_frames(walk, number);
	*ret = (struct export_stack){
		.owner = owner,
		.cpumode = tree->frames.items[node->frame].cpumode & ~CPUMODE_GUESSED,
		.period = node->self_period,
		.count = node->self_count,
		.frames = walk->frames.items,
		.depth = walk->frames.count,
		.first = !walk->begun || walk->vm != owner->vm,
	};
	walk->begun = true;
	walk->vm = owner->vm;
}

bool stack_walk_next(struct stack_walk *walk, struct export_stack *ret)
{
	const struct calltree *tree = walk->input->profile->tree;

	while (walk->root < walk->roots.count) {
		uint32_t number = walk->next++;

		if (number >= tree->nodes.items[root_of(walk, walk->root)->node].end) {
			walk->root++;
			if (walk->root < walk->roots.count)
				walk->next = root_of(walk, walk->root)->node;
			continue;
		}
		if (!tree->nodes.items[number].self_count ||
		    tree->nodes.items[number].parent == CALLTREE_NONE)
			continue;
		take_node(walk, number, ret);
		return true;
	}
	return false;
}

const char *stack_module(const struct export_input *input, uint32_t frame)
{
	const struct profile *profile = input->profile;
	uint32_t location = profile->tree->frames.items[frame].location;

	return intern_string(profile->session->strings,
			     resolver_dso_name(profile->resolver, location));
}

void stack_append_function(struct buffer *out, const struct export_input *input, uint32_t frame)
{
	const struct profile *profile = input->profile;
	const struct chains_frame *function = &profile->tree->frames.items[frame];
	const char *name = resolver_symbol_name(profile->resolver, function->location);
	const char *module = stack_module(input, frame);

	if (function->cpumode & CPUMODE_GUESSED)
		buffer_append_string(out, "? ");
	if (name)
		buffer_append_string(out, name);
	else if (*module == '[')
		buffer_append_string(out, module);
	else
		buffer_printf(out, "[%s]", module);
}

void stack_append_build_id(struct buffer *out, const struct export_input *input,
			   uint32_t location)
{
	const struct profile *profile = input->profile;
	uint32_t dso = resolver_location(profile->resolver, location)->dso;
	const struct dso_entry *entry;

	if (dso == LOCATION_NO_DSO)
		return;
	entry = profile->session->dsos.items.items[dso];
	for (size_t i = 0; i < entry->build_id_bytes; i++)
		buffer_printf(out, "%02x", entry->build_id[i]);
}

const char *stack_unit(const struct export_input *input)
{
	const char *name = input->profile->events[input->event].name;
	size_t length = strcspn(name, ":");
	static const char *const clocks[] = { "cpu-clock", "task-clock" };

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (length == strlen(clocks[i]) && !strncmp(name, clocks[i], length))
			return "nanoseconds";
	return "count";
}

static bool is_guest(const struct export_stack *stack)
{
	return stack->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
	       stack->cpumode == PERF_RECORD_MISC_GUEST_USER;
}

const char *stack_vm(const struct export_stack *stack)
{
	return stack->owner->vm ? stack->owner->vm->name : NULL;
}

const char *stack_process(const struct export_input *input, const struct export_stack *stack)
{
	uint32_t comm = is_guest(stack) ? stack->owner->guest_comm : stack->owner->comm;

	if (comm == TIMELINE_NO_COMM || comm == PROFILE_HOST_COMM)
		return "";
	return intern_string(input->profile->session->strings, comm);
}

uint32_t stack_pid(const struct export_stack *stack)
{
	return is_guest(stack) ? stack->owner->guest_pid : stack->owner->pid;
}
