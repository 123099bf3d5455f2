/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/tracks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

static bool is_vcpu(const struct profile_row *row)
{
	return row->vm && row->vcpu != PERFDATA_NO_VCPU;
}

static int compare_numbers(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

/* 0: rows of the same thread. */
static int compare_owners(const struct profile_row *left, const struct profile_row *right)
{
	int order = compare_numbers(left->vm ? left->vm->pid : 0, right->vm ? right->vm->pid : 0);

	if (!order)
		order = compare_numbers(is_vcpu(right), is_vcpu(left));
	if (!order && is_vcpu(left))
		return compare_numbers(left->vcpu, right->vcpu);
	if (!order)
		order = compare_numbers(left->pid, right->pid);
	return order ? order : compare_numbers(left->tid, right->tid);
}

static int compare_roots(const void *left, const void *right, void *data)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct calltree_root *roots = data;
	int order = compare_owners(&roots[a].row, &roots[b].row);

	return order ? order : compare_numbers(a, b);
}

/* The host's thread of a vCPU; its number if that is not known. */
static uint32_t tid_of_vcpu(const struct profile *profile, const struct profile_row *row)
{
	const struct perfdata_inventory *inventory =
		perfdata_reader_inventory(profile->session->reader);
	const struct perfdata_vm *vm =
		inventory ? perfdata_inventory_find(inventory, row->vm->pid) : NULL;

	for (size_t i = 0; vm && i < vm->vcpus.count; i++)
		if (vm->vcpus.items[i].number == row->vcpu && vm->vcpus.items[i].tid)
			return vm->vcpus.items[i].tid;
	return row->vcpu;
}

static void add_thread(struct tracks *tracks, const struct profile_row *owner)
{
	bool vcpu = is_vcpu(owner);

	vector_append(&tracks->list,
		      (struct track){
			      .owner = owner,
			      .pid = owner->vm ? owner->vm->pid : owner->pid,
			      .tid = vcpu ? tid_of_vcpu(tracks->input->profile, owner) : owner->tid,
		      });
}

/* Finds the threads. Returns for each node of the tree its thread, for the caller to free. */
static uint32_t *find_threads(struct tracks *tracks)
{
	const struct calltree *tree = tracks->input->profile->tree;
	uint32_t *threads = memory_alloc((tree->nodes.count + 1) * sizeof(*threads));
	_cleanup_free_ uint32_t *roots = memory_calloc(tree->roots.count + 1, sizeof(*roots));
	const struct profile_row *before = NULL;
	size_t count = 0;

	for (size_t i = 0; i < tree->nodes.count; i++)
		threads[i] = TRACKS_NONE;
	for (uint32_t i = 0; i < tree->roots.count; i++)
		if (tree->roots.items[i].event == tracks->input->event)
			roots[count++] = i;
	qsort_r(roots, count, sizeof(*roots), compare_roots, tree->roots.items);
	for (size_t i = 0; i < count; i++) {
		const struct calltree_root *root = &tree->roots.items[roots[i]];

		if (!before || compare_owners(before, &root->row))
			add_thread(tracks, &root->row);
		before = &root->row;
		for (uint32_t j = root->node; j < tree->nodes.items[root->node].end; j++)
			threads[j] = tracks->list.count - 1;
	}
	return threads;
}

void tracks_init(struct tracks *tracks, const struct export_input *input)
{
	const struct profile *profile = input->profile;
	size_t count = profile->samples.count, at = 0;
	_cleanup_free_ uint32_t *threads = NULL;

	*tracks = (struct tracks){ .input = input };
	threads = find_threads(tracks);
	tracks->samples = memory_calloc(count + 1, sizeof(*tracks->samples));
	tracks->places = memory_alloc((profile->tree->nodes.count + 1) * sizeof(*tracks->places));
	for (size_t i = 0; i < profile->tree->nodes.count; i++)
		tracks->places[i] = TRACKS_NONE;
	for (size_t i = 0; i < count; i++)
		if (threads[profile->samples.items[i].node] != TRACKS_NONE)
			tracks->list.items[threads[profile->samples.items[i].node]].count++;
	for (size_t i = 0; i < tracks->list.count; i++) {
		tracks->list.items[i].first = at;
		at += tracks->list.items[i].count;
		tracks->list.items[i].count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t number = threads[profile->samples.items[i].node];
		struct track *thread;

		if (number == TRACKS_NONE)
			continue;
		thread = &tracks->list.items[number];
		tracks->samples[thread->first + thread->count++] = profile->samples.items[i];
	}
}

void tracks_deinit(struct tracks *tracks)
{
	vector_deinit(&tracks->list);
	vector_deinit(&tracks->stacks);
	vector_deinit(&tracks->path);
	free(tracks->samples);
	free(tracks->places);
}

/* A root is an element if it stands for a guest's process. */
static bool is_element(const struct calltree *tree, uint32_t node)
{
	const struct profile_row *row;

	if (tree->nodes.items[node].parent != CALLTREE_NONE)
		return true;
	row = &tree->roots.items[tree->nodes.items[node].frame].row;
	return is_vcpu(row) && row->guest_pid != PROFILE_NO_PID;
}

static void place(struct tracks *tracks, uint32_t number)
{
	const struct calltree *tree = tracks->input->profile->tree;
	const struct calltree_node *node = &tree->nodes.items[number];
	bool root = node->parent == CALLTREE_NONE;

	tracks->places[number] = tracks->stacks.count;
	vector_append(&tracks->stacks,
		      (struct track_stack){
			      .above = root ? TRACKS_NONE : tracks->places[node->parent],
			      .frame = root ? TRACKS_NONE : node->frame,
			      .process = root ? &tree->roots.items[node->frame].row : NULL,
		      });
}

/* Places NODE after its callers, as far as they have no places yet. */
static void place_node(struct tracks *tracks, uint32_t node)
{
	const struct calltree *tree = tracks->input->profile->tree;

	tracks->path.count = 0;
	while (node != CALLTREE_NONE && tracks->places[node] == TRACKS_NONE &&
	       is_element(tree, node)) {
		vector_append(&tracks->path, node);
		node = tree->nodes.items[node].parent;
	}
	while (tracks->path.count)
		place(tracks, tracks->path.items[--tracks->path.count]);
}

void tracks_take(struct tracks *tracks, const struct track *thread)
{
	const struct profile_sample *samples = &tracks->samples[thread->first];

	tracks->stacks.count = 0;
	for (size_t i = 0; i < thread->count; i++)
		place_node(tracks, samples[i].node);
}

uint32_t tracks_stack_of(const struct tracks *tracks, const struct profile_sample *sample)
{
	return tracks->places[sample->node];
}

static void append_comm(struct buffer *out, const struct export_input *input,
			const struct profile_row *row)
{
	if (row->comm == TIMELINE_NO_COMM)
		buffer_printf(out, ":%" PRIu32, row->tid);
	else
		buffer_append_string(out,
				     intern_string(input->profile->session->strings, row->comm));
}

void track_append_thread(struct buffer *out, const struct export_input *input,
			 const struct track *thread)
{
	if (is_vcpu(thread->owner))
		buffer_printf(out, "vCPU %" PRIu32, thread->owner->vcpu);
	else
		append_comm(out, input, thread->owner);
}

void track_append_process(struct buffer *out, const struct export_input *input,
			  const struct track *thread)
{
	if (thread->owner->vm)
		buffer_append_string(out, thread->owner->vm->name);
	else
		append_comm(out, input, thread->owner);
}

void track_append_stack(struct buffer *out, const struct export_input *input,
			const struct track_stack *stack)
{
	if (!stack->process) {
		stack_append_function(out, input, stack->frame);
		return;
	}
	buffer_append_string(out, profile_guest_comm(input->profile, stack->process));
	buffer_printf(out, " (%" PRIu32 ")", stack->process->guest_pid);
}
