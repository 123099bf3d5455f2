/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine for few threads: each thread has its own slot (an event per thread), which follows the
 * thread from CPU to CPU and costs nothing while other threads run. Descriptors, locked memory and
 * the work per pass grow with the number of threads.
 *
 * When a thread ends, its descriptors report a hangup; its last samples and losses can still be
 * read.
 */
#include "host/capture/capture_engine.h"

struct threads_state {
	VECTOR(struct capture_slot *) slots; /* by thread; NULL: gone */
};

static size_t threads_cost(const struct capture *capture, size_t threads)
{
	size_t files = threads * capture->config.event_count;

	if (capture->config.cpus.count)
		return SIZE_MAX; /* an event follows its thread to every CPU */
	return files > capture->open_files_max ? SIZE_MAX : files;
}

static struct error *threads_create(struct capture *capture)
{
	capture->state = memory_calloc(1, sizeof(struct threads_state));
	capture_size_rings(capture, capture->config.expected_threads);
	return NULL;
}

static void threads_destroy(struct capture *capture)
{
	struct threads_state *state = capture->state;

	for (size_t i = 0; i < state->slots.count; i++)
		if (state->slots.items[i])
			capture_slot_destroy(capture, state->slots.items[i]);
	vector_deinit(&state->slots);
	free(state);
}

static struct error *threads_add(struct capture *capture, size_t thread, bool *ret_gone)
{
	struct threads_state *state = capture->state;
	struct capture_slot *slot = NULL;
	struct error *error = capture_samplers_add(capture, thread);

	if (!error)
		error = capture_slot_open(capture, capture->threads.items[thread].tid, -1, thread,
					  &slot);
	if (slot) {
		capture_samplers_attach(capture, slot);
		slot->losses_elsewhere = capture_samplers_count_all(capture);
	}
	vector_append(&state->slots, slot);
	*ret_gone = !slot;
	if (slot && capture->enabled)
		capture_slot_enable(capture, slot, true);
	return error;
}

static void finish_slot(struct capture *capture, size_t thread, struct capture_slot *slot)
{
	capture_samplers_tell_lost(capture, thread);
	capture_slot_finish(capture, slot);
}

static void threads_remove(struct capture *capture, size_t thread)
{
	struct threads_state *state = capture->state;
	struct capture_slot *slot = state->slots.items[thread];

	if (!slot)
		return;
	capture_slot_drain(capture, slot); /* it has ended: its last samples are in the rings */
	capture_samplers_drain(capture);
	finish_slot(capture, thread, slot);
	capture_samplers_remove(capture, thread);
	capture_slot_destroy(capture, slot);
	state->slots.items[thread] = NULL;
}

static void enable_all(struct capture *capture, bool enable)
{
	struct threads_state *state = capture->state;

	for (size_t i = 0; i < state->slots.count; i++)
		if (state->slots.items[i])
			capture_slot_enable(capture, state->slots.items[i], enable);
}

static void threads_enable(struct capture *capture)
{
	enable_all(capture, true);
}

static void threads_disable(struct capture *capture)
{
	enable_all(capture, false);
}

static void threads_set_rate(struct capture *capture)
{
	struct threads_state *state = capture->state;

	for (size_t i = 0; i < state->slots.count; i++)
		if (state->slots.items[i])
			capture_slot_set_rate(capture, state->slots.items[i]);
}

static void threads_drain(struct capture *capture)
{
	struct threads_state *state = capture->state;

	for (size_t i = 0; i < state->slots.count; i++) {
		struct capture_slot *slot = state->slots.items[i];

		if (slot && slot->hung_up)
			threads_remove(capture, i);
		else if (slot)
			capture_slot_drain(capture, slot);
	}
}

static void threads_finish(struct capture *capture)
{
	struct threads_state *state = capture->state;

	for (size_t i = 0; i < state->slots.count; i++)
		if (state->slots.items[i])
			finish_slot(capture, i, state->slots.items[i]);
}

static const char *threads_description(const struct capture *capture)
{
	(void)capture;
	return "an event per thread";
}

const struct capture_engine capture_threads_engine = {
	.cost = threads_cost,
	.create = threads_create,
	.destroy = threads_destroy,
	.add_thread = threads_add,
	.remove_thread = threads_remove,
	.enable = threads_enable,
	.disable = threads_disable,
	.set_rate = threads_set_rate,
	.drain = threads_drain,
	.finish = threads_finish,
	.description = threads_description,
};
