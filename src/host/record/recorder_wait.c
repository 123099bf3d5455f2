/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rings deliver waits here until the code of the processes that were sampled is known: a
 * sampler copies a process's mappings at its first sample, and what comes after them waits until
 * the reader has named these mappings and read the unwind data of their files. So the chains of a
 * process are complete from its first sample on, even if it has ended long since.
 *
 * All of it stays in order, and the marks of perf's rounds wait with it. Within a round, events are
 * sorted by their times: the mappings of a process may be in another CPU's ring than some of its
 * samples. What has waited for too long, or takes too much memory, goes on without an answer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "bpf/guest_sampler.h"
#include "host/record/recorder_state.h"

#define MAX_BYTES ((size_t)64 << 20)
#define MAX_NS 4000000000ull
#define MAX_LIVE_NS 1000000000ull /* for a reader that shows what it gets */

enum kind { WAITING_SAMPLE, WAITING_LOST, WAITING_MAPPINGS, WAITING_ROUND };

struct recorder_waiting {
	struct recorder_waiting *next;
	enum kind kind;
	size_t bytes;
	uint64_t since_ns, time_ns; /* when it arrived; of what it is */
	size_t event, thread;
	uint64_t lost;
	struct perfdata_sample sample;
	bool has_guest;
	struct capture_guest guest;
	struct capture_stacks stacks;
	const uint64_t *counts;
	/* of mappings: the question's number, 0: it was not asked */
	uint64_t question;
	bool answered;
	struct guest_reader_process answer;
	uint64_t data[]; /* what the above points to */
};

static struct recorder_waiting *append(struct recorder *recorder, enum kind kind, uint64_t time_ns,
				       size_t data_bytes)
{
	struct recorder_wait *wait = &recorder->wait;
	struct recorder_waiting *added;
	size_t bytes = sizeof(*added) + data_bytes;

	added = memory_alloc(bytes);
	memset(added, 0, sizeof(*added));
	added->kind = kind;
	added->bytes = bytes;
	added->since_ns = clock_monotonic_ns();
	added->time_ns = time_ns;
	vector_append(&wait->round, added);
	wait->bytes += bytes;
	if (wait->bytes > wait->most_bytes)
		wait->most_bytes = wait->bytes;
	return added;
}

/* Moves what *FROM points to to AT, which is moved on; all of it has whole words. */
static void move(const void **from, size_t bytes, uint8_t **at)
{
	if (!*from)
		return;
	if (bytes)
		memcpy(*at, *from, bytes);
	*from = *at;
	*at += (bytes + 7) & ~(size_t)7;
}

#define MOVE(pointer, bytes, at)                                                                   \
	do {                                                                                       \
		const void *from_ = (pointer);                                                     \
                                                                                                   \
		move(&from_, bytes, at);                                                           \
		(pointer) = from_;                                                                 \
	} while (0)

static size_t links_bytes(const struct capture_links *links)
{
	return (size_t)links->count * SAMPLER_LINK_BYTES + links->above_bytes;
}

static size_t stacks_bytes(const struct capture_stacks *stacks)
{
	return SAMPLER_REGISTERS * sizeof(uint64_t) + stacks->kernel[0].bytes +
	       stacks->kernel[1].bytes + stacks->user.bytes + links_bytes(&stacks->links) + 5 * 8;
}

static void keep_stacks(struct capture_stacks *stacks, uint8_t **at)
{
	MOVE(stacks->registers, SAMPLER_REGISTERS * sizeof(uint64_t), at);
	for (size_t i = 0; i < CAPTURE_KERNEL_STACKS; i++)
		MOVE(stacks->kernel[i].data, stacks->kernel[i].bytes, at);
	MOVE(stacks->user.data, stacks->user.bytes, at);
	MOVE(stacks->links.data, links_bytes(&stacks->links), at);
}

bool recorder_wait_sample(struct recorder *recorder, size_t event, size_t thread,
			  const struct perfdata_sample *sample, const struct capture_guest *guest,
			  const uint64_t *counts)
{
	size_t count_bytes = counts ? recorder->config.event_count * sizeof(*counts) : 0;
	const struct capture_stacks *stacks = guest ? guest->stacks : NULL;
	struct recorder_waiting *added;
	uint8_t *at;

	if (!recorder->wait.enabled)
		return false;
	added = append(recorder, WAITING_SAMPLE, sample->time_ns,
		       count_bytes + 8 * sample->callchain_count + sample->raw_bytes +
			       sample->read_bytes + 2 * 8 + (stacks ? stacks_bytes(stacks) : 0));
	at = (uint8_t *)added->data;
	added->event = event;
	added->thread = thread;
	added->sample = *sample;
	added->counts = counts;
	MOVE(added->counts, count_bytes, &at);
	MOVE(added->sample.callchain, 8 * sample->callchain_count, &at);
	MOVE(added->sample.raw, sample->raw_bytes, &at);
	MOVE(added->sample.read, sample->read_bytes, &at);
	added->has_guest = guest;
	if (guest)
		added->guest = *guest;
	if (stacks) {
		added->stacks = *stacks;
		keep_stacks(&added->stacks, &at);
		added->guest.stacks = &added->stacks;
	}
	return true;
}

bool recorder_wait_lost(struct recorder *recorder, size_t event, size_t thread, uint64_t count,
			uint64_t time_ns)
{
	struct recorder_wait *wait = &recorder->wait;
	struct recorder_waiting *added;

	if (!wait->enabled)
		return false;
	if (!time_ns && wait->round.count) /* it stays where it is */
		added = append(recorder, WAITING_LOST,
			       wait->round.items[wait->round.count - 1]->time_ns, 0);
	else
		added = append(recorder, WAITING_LOST, time_ns, 0);
	added->event = event;
	added->thread = thread;
	added->lost = count;
	added->sample.time_ns = time_ns;
	return true;
}

void recorder_on_mappings(void *context, size_t thread, uint64_t time_ns,
			  const struct capture_guest *guest, const struct sampler_areas *areas)
{
	struct recorder *recorder = context;
	struct recorder_wait *wait = &recorder->wait;
	struct recorder_waiting *added;

	if (!wait->enabled || !guest->has_task || guest->nested)
		return;
	added = append(recorder, WAITING_MAPPINGS, time_ns, 0);
	added->thread = thread;
	added->guest = *guest;
	if (!guest_reader_ask_copied(recorder->reader, recorder->threads.items[thread].vm, guest,
				     time_ns, areas, wait->asked + 1))
		return;
	added->question = ++wait->asked;
	vector_append(&wait->open, added);
}

bool recorder_wait_answer(struct recorder *recorder, const struct guest_reader_process *answer)
{
	struct recorder_wait *wait = &recorder->wait;

	for (size_t i = 0; i < wait->open.count; i++) {
		struct recorder_waiting *waiting = wait->open.items[i];

		if (waiting->question != answer->question)
			continue;
		waiting->answer = *answer;
		waiting->answered = true;
		wait->open.items[i] = wait->open.items[--wait->open.count];
		return true;
	}
	return false;
}

/* Whether no better answer can be expected. */
static bool is_settled(const struct recorder *recorder, const struct recorder_waiting *waiting)
{
	const struct recorder_vm *vm =
		&recorder->vms.items[recorder->threads.items[waiting->thread].vm];
	const struct guest_reader_process *answer = &waiting->answer;

	if (!waiting->question || !vm->alive)
		return true;
	if (!waiting->answered)
		return false;
	for (size_t i = 0; recorder->chain && i < answer->mappings.items.count; i++)
		if (answer->files[i] && !recorder_knows_file(vm, answer->files[i]))
			return false;
	return true;
}

static bool may_go(const struct recorder *recorder, const struct recorder_waiting *waiting)
{
	uint64_t most_ns = recorder->config.pipe ? MAX_LIVE_NS : MAX_NS;

	return waiting->kind != WAITING_MAPPINGS || recorder->wait.bytes > MAX_BYTES ||
	       is_settled(recorder, waiting) || clock_monotonic_ns() - waiting->since_ns > most_ns;
}

/* It is not waited for any more; an answer that comes later is taken as one to any question. */
static void forget_question(struct recorder_wait *wait, const struct recorder_waiting *waiting)
{
	for (size_t i = 0; i < wait->open.count; i++)
		if (wait->open.items[i] == waiting) {
			wait->open.items[i] = wait->open.items[--wait->open.count];
			return;
		}
}

static void pass_on_mappings(struct recorder *recorder, struct recorder_waiting *waiting)
{
	size_t vm = recorder->threads.items[waiting->thread].vm;
	const struct perfdata_sample sample = { .time_ns = waiting->time_ns };
	struct recorder_process *process =
		recorder_note_task(recorder, vm, &waiting->guest, &sample);

	recorder->wait.late += !is_settled(recorder, waiting);
	if (process && waiting->question)
		process->asked_ns = waiting->time_ns;
	if (!waiting->answered) {
		forget_question(&recorder->wait, waiting);
		return;
	}
	if (process) {
		recorder_write_records(recorder); /* keeps the order */
		recorder_take_answer(recorder, &waiting->answer);
	}
	guest_reader_process_deinit(&waiting->answer);
}

static void pass_on(struct recorder *recorder, struct recorder_waiting *waiting)
{
	switch (waiting->kind) {
	case WAITING_SAMPLE:
		recorder_take_sample(recorder, waiting->event, waiting->thread, &waiting->sample,
				     waiting->has_guest ? &waiting->guest : NULL, waiting->counts);
		break;
	case WAITING_LOST:
		recorder_take_lost(recorder, waiting->event, waiting->thread, waiting->lost,
				   waiting->sample.time_ns);
		break;
	case WAITING_MAPPINGS:
		pass_on_mappings(recorder, waiting);
		break;
	case WAITING_ROUND:
		recorder_complete_round(recorder);
	}
}

static int compare_times(const void *left, const void *right)
{
	const struct recorder_waiting *a = *(struct recorder_waiting *const *)left;
	const struct recorder_waiting *b = *(struct recorder_waiting *const *)right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	/* mappings have the time of the sample that they come before */
	return (a->kind != WAITING_MAPPINGS) - (b->kind != WAITING_MAPPINGS);
}

/* What came in this round, at the end of the queue. */
static void close_round(struct recorder_wait *wait)
{
	if (wait->round.count)
		qsort(wait->round.items, wait->round.count, sizeof(*wait->round.items),
		      compare_times);
	for (size_t i = 0; i < wait->round.count; i++) {
		struct recorder_waiting *added = wait->round.items[i];

		if (wait->last)
			wait->last->next = added;
		else
			wait->first = added;
		wait->last = added;
	}
	wait->round.count = 0;
}

static void take_first(struct recorder_wait *wait)
{
	struct recorder_waiting *taken = wait->first;

	wait->first = taken->next;
	if (!wait->first)
		wait->last = NULL;
	wait->bytes -= taken->bytes;
	free(taken);
}

bool recorder_wait_round(struct recorder *recorder)
{
	struct recorder_wait *wait = &recorder->wait;

	if (!wait->enabled)
		return false;
	close_round(wait);
	append(recorder, WAITING_ROUND, 0, 0);
	close_round(wait);
	while (wait->first && may_go(recorder, wait->first)) {
		pass_on(recorder, wait->first);
		take_first(wait);
	}
	return true;
}

void recorder_wait_end(struct recorder *recorder)
{
	struct recorder_wait *wait = &recorder->wait;

	close_round(wait);
	while (wait->first) {
		pass_on(recorder, wait->first);
		take_first(wait);
	}
}

struct recorder_wait_counts recorder_wait_counts(const struct recorder *recorder)
{
	return (struct recorder_wait_counts){ .asked = recorder->wait.asked,
					      .late = recorder->wait.late,
					      .most_bytes = recorder->wait.most_bytes };
}

void recorder_wait_deinit(struct recorder *recorder)
{
	struct recorder_wait *wait = &recorder->wait;

	close_round(wait);
	while (wait->first) {
		if (wait->first->answered)
			guest_reader_process_deinit(&wait->first->answer);
		take_first(wait);
	}
	vector_deinit(&wait->round);
	vector_deinit(&wait->open);
}
